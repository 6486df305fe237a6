"""Syntax trees as what they compute: without docstrings, annotations of functions and the messages of errors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TABLES = "files"
"""`importlib.resources.files("package")`: what lies in that package besides Python is read."""


def as_text(node: ast.AST) -> str:
    """A syntax tree as text. Python's own `ast.dump` differs between versions (3.13 leaves empty fields out)."""
    parts = [type(node).__name__]
    for name, value in fields_of(node):
        if isinstance(value, list):
            parts.append(f"{name}=[{','.join(as_text(v) if isinstance(v, ast.AST) else repr(v) for v in value)}]")
        else:
            parts.append(f"{name}={as_text(value) if isinstance(value, ast.AST) else repr(value)}")
    return f"({' '.join(parts)})"


def fields_of(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The fields of a node that can change a number, those that are empty left out."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody") and isinstance(value, list):
            value = [each for each in value if not is_text(each) and not isinstance(each, ast.Pass)]
        # `ctx` follows from where a node stands, `kind` is the u of u"…". Annotations in a class stay: of a
        # configuration they are its fields, and a type may convert what it is given.
        if name in ("type_comment", "kind", "ctx") or (name in ("annotation", "returns") and _of_function(node)):
            continue
        if isinstance(node, ast.Raise) and isinstance(value, ast.Call):
            value = value.func  # what an error says changes no number
        if value is not None and value != []:
            yield name, value


def _of_function(node: ast.AST) -> bool:
    return isinstance(node, ast.arg | ast.FunctionDef | ast.AsyncFunctionDef)


def is_text(statement: ast.AST) -> bool:
    """A docstring, of whatever it stands below."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def names_in(node: ast.AST) -> Iterator[tuple[str, ...]]:
    """Names in a tree with the attributes that follow them: `keys.stream` is ("keys", "stream")."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):  # a field that has a module's name does not mention the module
            yield (node.id,)
        return
    if isinstance(node, ast.Attribute):
        chain, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield (inner.id, *reversed(chain))
            return
    for _, value in fields_of(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from names_in(each)


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, or changes an item or attribute of."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
        targets = statement.targets if isinstance(statement, ast.Assign | ast.Delete) else [statement.target]
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id
    # By its name: Python 3.11, the oldest that is supported, has no `ast.TypeAlias`.
    elif type(statement).__name__ == "TypeAlias":
        yield statement.name.id  # type: ignore[attr-defined]


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for handler in getattr(statement, "handlers", []):
        yield handler.body


def only_for_types(statement: ast.stmt) -> bool:
    """`if TYPE_CHECKING:` and `if __name__ == "__main__":`."""
    if not isinstance(statement, ast.If):
        return False
    names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
    return bool(names & {"TYPE_CHECKING", "__name__"})


def tables_read_by(statement: ast.stmt) -> Iterator[str]:
    """Packages whose files a statement reads."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == TABLES and isinstance(node.args[0].value, str):
                yield node.args[0].value

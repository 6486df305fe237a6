"""What a definition computes, read from source: a digest that comments, docstrings and names of files do not change.

From the classes that a spec names, the definitions that their code mentions are followed, through imports, to the last
helper and constant. Each one is written as its syntax tree, without docstrings, annotations of functions, and the
messages of errors; where a tree mentions another definition, the digest of that one's own tree stands beside the name.
So two helpers that change places are seen, and a helper that moves to another file is not.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from lopsided.core.syntax import as_text, blocks_of, bound_by, is_text, names_in, only_for_types, tables_read_by

Read = Callable[[str], "str | None"]
"""The source of the module of that dotted name; None for a module that is not to be followed (a library's)."""


class Place(NamedTuple):
    """A name that a module binds at its top level."""

    module: str
    name: str


@dataclass(eq=False)
class Module:
    """One file's top level."""

    name: str
    package: bool
    tree: ast.Module
    bound: dict[str, list[ast.stmt]] = field(default_factory=dict)
    """The statements that bind or change each name."""
    imported: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """(module, name in it; None for the module itself) of each imported name."""
    starred: list[str] = field(default_factory=list)
    """Modules that everything is imported from."""
    effects: list[ast.stmt] = field(default_factory=list)
    """Statements that bind nothing: `jax.config.update(...)`."""

    def __post_init__(self) -> None:
        for statement in self.tree.body:
            self._take(statement, statement)

    def _take(self, statement: ast.stmt, whole: ast.stmt) -> None:
        """Sort a top-level statement; one inside `if` or `try` counts with all of it."""
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                first = alias.name.partition(".")[0]
                self.imported[alias.asname or first] = (alias.name if alias.asname else first, None)
        elif isinstance(statement, ast.ImportFrom):
            self._take_from(statement)
        elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
            if not only_for_types(statement):
                inner = [each for block in blocks_of(statement) for each in block]
                for each in inner:
                    self._take(each, whole)
                if not any(bound_by(each) or isinstance(each, ast.Import | ast.ImportFrom) for each in inner):
                    self.effects.append(whole)
        elif names := list(bound_by(statement)):
            for name in names:
                self.bound.setdefault(name, []).append(whole)
        elif isinstance(statement, ast.Expr) and not is_text(statement) and statement is whole:
            self.effects.append(statement)

    def _take_from(self, statement: ast.ImportFrom) -> None:
        base = statement.module or ""
        if statement.level:
            # One dot is the package that a module lies in, which of a package's own file is the package itself.
            parts = self.name.split(".")
            parts = parts[: len(parts) - statement.level + (1 if self.package else 0)]
            base = ".".join([*parts, *filter(None, [base])])
        for alias in statement.names:
            if alias.name == "*":
                self.starred.append(base)
            else:
                self.imported[alias.asname or alias.name] = (base, alias.name)


class Sources:
    """Modules by name, parsed once. `read` gives a module's source; `resolve` finds where a dotted name is defined that
    leads through modules which are not read; `tables` is the digest of a package's files that are no Python."""

    def __init__(
        self,
        read: Read,
        is_package: Callable[[str], bool] = lambda name: False,
        resolve: Callable[[str], Place | None] = lambda dotted: None,
        tables: Callable[[str], str] = lambda package: "",
    ):
        self._read, self._is_package, self._resolve, self._tables = read, is_package, resolve, tables
        self._modules: dict[str, Module | None] = {}
        # By identity, since equal statements of two modules mention different definitions. Trees live as long as this.
        self._shallow: dict[Place, str] = {}
        self._deeper: dict[int, str] = {}
        self._mentioned: dict[int, list[tuple[str, Place | str]]] = {}

    def with_own(self, read: Read) -> Sources:
        """Sources that hold these and others, which may have changed since they were last read."""
        both = Sources(lambda name: self._read(name) or read(name), self._is_package, self._resolve, self._tables)
        both._modules |= {name: module for name, module in self._modules.items() if module is not None}
        return both

    def digest(self, roots: Iterable[Place]) -> str:
        """64 hexadecimal digits of all that the definitions `roots` lead to."""
        # Sorted, without names of modules: where a definition stands, and in what order, computes nothing.
        found = {self._deep(module, statement) for module, statement in self.reached(roots)}
        return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()

    def reached(self, roots: Iterable[Place]) -> list[tuple[Module, ast.stmt]]:
        """The statements that `roots` lead to, and their modules."""
        todo, seen = [place for root in roots if (place := self._follow(root))], set()
        kept: dict[int, tuple[Module, ast.stmt]] = {}
        # Twice nested: an effect may reach definitions in modules that have effects of their own.
        while todo:
            while todo:
                place = todo.pop()
                if place in seen:
                    continue
                seen.add(place)
                module = self._module(place.module)
                assert module is not None
                for statement in module.bound[place.name]:
                    kept[id(statement)] = module, statement
                    todo += self._places(module, statement)
            for module in {each.name: each for each, _ in kept.values()}.values():
                for statement in module.effects:
                    if id(statement) not in kept and self._acts(module, statement, seen):
                        kept[id(statement)] = module, statement
                        todo += self._places(module, statement)
        return list(kept.values())

    def _acts(self, module: Module, statement: ast.stmt, seen: set[Place]) -> bool:
        """Whether a statement that binds nothing concerns what was reached: `register(recipe)` does not."""
        own = [place for _, place in self._mentions(module, statement) if isinstance(place, Place)]
        return not own or any(place in seen for place in own if place.module == module.name)

    def _places(self, module: Module, statement: ast.stmt) -> list[Place]:
        return [place for _, place in self._mentions(module, statement) if isinstance(place, Place)]

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            text = self._read(name)
            self._modules[name] = None if text is None else Module(name, self._is_package(name), ast.parse(text))
        return self._modules[name]

    def _follow(self, place: Place, passed: frozenset[Place] | set[Place] = frozenset()) -> Place | None:
        """Where a name is defined, through modules that hand it on; None outside what is read. Two packages may hand a
        name to each other by star imports: each place is looked at once (`passed`)."""
        module = self._module(place.module)
        if module is None or place in passed:
            return None
        passed = passed if isinstance(passed, set) else set()
        passed.add(place)
        if place.name in module.bound:
            return place
        if place.name in module.imported:
            base, name = module.imported[place.name]
            return self._follow(Place(base, name), passed) if name else None
        stars = (self._follow(Place(base, place.name), passed) for base in module.starred)
        return next(filter(None, stars), None)

    def _mentions(self, module: Module, statement: ast.stmt) -> list[tuple[str, Place | str]]:
        """What a statement mentions of its module's names: as written, and where that is defined. What is imported from
        elsewhere is named by its dotted path."""
        if id(statement) not in self._mentioned:
            found = dict(meant for written in names_in(statement) for meant in self._meant(module, written))
            self._mentioned[id(statement)] = sorted(found.items(), key=lambda item: item[0])
        return self._mentioned[id(statement)]

    def _meant(self, module: Module, written: tuple[str, ...]) -> Iterator[tuple[str, Place | str]]:
        first, said = written[0], ".".join(written)
        if first in module.bound:
            yield first, Place(module.name, first)
            return
        if first in module.imported:
            base, name = module.imported[first]
            if name and (found := self._follow(Place(base, name))):
                yield first, found
                return
            yield from self._of_module(f"{base}.{name}" if name else base, said, written[1:])
            return
        for star in module.starred:
            found = self._follow(Place(star, first)) or self._resolve(f"{star}.{first}")
            if found and (found := self._follow(found)):
                yield first, found
                return

    def _of_module(self, name: str, said: str, rest: tuple[str, ...]) -> Iterator[tuple[str, Place | str]]:
        """`rest` of the dotted name `said` inside the module `name`: a definition, a module below it, or all of it."""
        while rest and self._module(name) is not None:
            if found := self._follow(Place(name, rest[0])):
                yield said, found
                return
            name, rest = f"{name}.{rest[0]}", rest[1:]
        module = self._module(name)
        if module is None:
            dotted = ".".join([name, *rest])
            found = self._resolve(dotted)
            yield said, (found and self._follow(found)) or dotted
            return
        # The module is handed on as a value: any of its names may be used.
        for each in module.bound:
            yield f"{said}.{each}", Place(name, each)

    def _deep(self, module: Module, statement: ast.stmt) -> str:
        """Digest of a statement's tree, with the digests of what it mentions."""
        if id(statement) in self._deeper:
            return self._deeper[id(statement)]
        told = [
            f"{said} {place if isinstance(place, str) else self._shallow_of(place)}"
            for said, place in self._mentions(module, statement)
        ]
        told += [f"{package} {self._tables(package)}" for package in tables_read_by(statement)]
        text = "\n".join([as_text(statement), *told])
        self._deeper[id(statement)] = hashlib.sha256(text.encode()).hexdigest()
        return self._deeper[id(statement)]

    def _shallow_of(self, place: Place) -> str:
        if place not in self._shallow:
            module = self._module(place.module)
            assert module is not None
            text = "\n".join(as_text(statement) for statement in module.bound[place.name])
            self._shallow[place] = hashlib.sha256(text.encode()).hexdigest()
        return self._shallow[place]

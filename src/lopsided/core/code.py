"""Which version of the code computes: a digest of the source of everything that rows depend on."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType

from lopsided.core.config import Part
from lopsided.core.spec import Spec

COMPUTES = ("core", "engines", "models", "optim", "plans", "probes", "skills", "tasks", "text", "theory")
"""Packages whose source, and tables, decide what a spec computes."""


def code_digest(spec: Spec) -> str:
    """16 hexadecimal digits, of this package and of the files of parts that live outside it. Comments count too: equal
    digests are surely the same code, others perhaps not."""
    return parts_digest(*_parts(spec))


def parts_digest(*parts: Part) -> str:
    """The same of some parts."""
    outside = sorted({_digest(cls) for cls in _outside(parts)})
    return hashlib.sha256("\n".join([_package(), *outside]).encode()).hexdigest()[:16]


def outside(spec: Spec) -> list[str]:
    """Names of the files of parts that live outside this package; of a class without a file, its own."""
    return sorted({Path(file).name if (file := _file(cls)) else cls.__qualname__ for cls in _outside(_parts(spec))})


def _parts(spec: Spec) -> list[Part]:
    return [spec.task, spec.skills, spec.model, spec.plan, spec.optimizer, *spec.probes]


def _outside(parts: Sequence[Part]) -> list[type]:
    return [type(part) for part in parts if not type(part).__module__.startswith("lopsided.")]


@cache
def _package() -> str:
    total = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for name in COMPUTES:
        for file in sorted(f for kind in ("py", "json") for f in (package / name).glob(f"**/*.{kind}")):
            total.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return total.hexdigest()


def _digest(cls: type) -> str:
    """Of the file that a class was written in; where there is none (a notebook, a prompt), of its methods."""
    if file := _file(cls):
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    written = [f"{name} {_of_code(function.__code__)}" for name, function in sorted(_functions(cls).items())]
    return f"{cls.__qualname__} {hashlib.sha256(' '.join(written).encode()).hexdigest()}"


def _functions(cls: type) -> dict[str, FunctionType]:
    """A class's own methods, and the functions behind its properties, by name."""
    found = {}
    for name, member in vars(cls).items():
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if isinstance(member, FunctionType):
            found[name] = member
    return found


def _file(cls: type) -> str | None:
    try:
        file = inspect.getfile(cls)
    except (OSError, TypeError):
        return None
    return file if Path(file).is_file() else None


def _of_code(code: CodeType) -> str:
    """A function's bytecode, names and constants: no file name and no line numbers."""
    return f"{code.co_code.hex()} {code.co_names} {[_of_constant(each) for each in code.co_consts]}"


def _of_constant(constant: object) -> str:
    """Sets (`x in {"a", "b"}`) in a fixed order: their own changes from process to process."""
    if isinstance(constant, CodeType):
        return _of_code(constant)
    return str(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)

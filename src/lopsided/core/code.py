"""Which version of the code computes: a digest of the source of everything that rows depend on."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import CodeType

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
    methods = {name: getattr(found, "func", getattr(found, "fget", found)) for name, found in vars(cls).items()}
    codes = [f"{name} {_of_code(m.__code__)}" for name, m in sorted(methods.items()) if hasattr(m, "__code__")]
    return f"{cls.__qualname__} {hashlib.sha256(' '.join(codes).encode()).hexdigest()}"


def _file(cls: type) -> str | None:
    try:
        file = inspect.getfile(cls)
    except (OSError, TypeError):
        return None
    return file if Path(file).is_file() else None


def _of_code(code: CodeType) -> str:
    """What a function does, whatever its place in a file."""
    inner = [_of_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"

"""Which version of the code computes: a digest of the source of everything that rows depend on."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from pathlib import Path

from lopsided.core.config import Part
from lopsided.core.spec import Spec

COMPUTES = ("core", "engines", "models", "optim", "plans", "probes", "skills", "tasks", "text", "theory")
"""Packages whose source, and tables, decide what a spec computes."""


def code_digest(spec: Spec) -> str:
    """16 hexadecimal digits, of this package and of the files of parts that live outside it. Comments count too: equal
    digests are surely the same code, others perhaps not."""
    return parts_digest(spec.task, spec.skills, spec.model, spec.plan, spec.optimizer, *spec.probes)


def parts_digest(*parts: Part) -> str:
    """The same of some parts."""
    outside = sorted({_file(type(part)) for part in parts if not type(part).__module__.startswith("lopsided.")})
    return hashlib.sha256("\n".join([_package(), *outside]).encode()).hexdigest()[:16]


@cache
def _package() -> str:
    total = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for name in COMPUTES:
        for file in sorted(f for kind in ("py", "json") for f in (package / name).glob(f"**/*.{kind}")):
            total.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return total.hexdigest()


def _file(cls: type) -> str:
    """Digest of the file that a class was written in; its name where there is none (a notebook, a prompt)."""
    try:
        return hashlib.sha256(Path(inspect.getfile(cls)).read_bytes()).hexdigest()
    except (OSError, TypeError):
        return cls.__qualname__

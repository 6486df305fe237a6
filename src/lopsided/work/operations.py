"""How many floating-point operations a stored part of a run took: XLA's count for one step, times the steps."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

import jax

from lopsided.core.json_text import parsed
from lopsided.core.spec import Spec
from lopsided.engines.devices import cache_folder
from lopsided.engines.members import program_key
from lopsided.engines.work import PerMember, per_member

LEAST_SECONDS = 5.0
"""Parts that took less are not counted: the count itself takes up to 4 s."""


def of_part(spec: Spec, code: str, member_steps: int, evaluations: int) -> float | None:
    """Operations of so many steps and evaluations of single members; None where they cannot be known beforehand."""
    per = _remembered(spec, code)
    return None if per is None else member_steps * per.step + evaluations * per.evaluation


def _remembered(spec: Spec, code: str) -> PerMember | None:
    """Counted once a program and version of the code and of JAX (0.12 counts otherwise than 0.10), and kept beside the
    compiled programs."""
    name = hashlib.sha256(f"{program_key(spec)} {code} {jax.__version__}".encode()).hexdigest()[:32]
    file = cache_folder() / "operations" / f"{name}.json"
    try:
        found = parsed(file.read_text())
    except (OSError, ValueError):
        found = per_member(spec)
        _write(file, json.dumps(found))
    return None if found is None else PerMember(*found)


def _write(file: Path, text: str) -> None:
    """Others may write the same file. A cache that cannot be written is none."""
    aside = file.with_name(f".{file.name}-{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(text)
        aside.replace(file)
    except OSError:
        with suppress(OSError):
            aside.unlink()

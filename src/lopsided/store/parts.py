"""The store: a folder of *parts*, each committed by one rename.

    OUT/parts/<job>-<step>/part.json      which members, which specs, which stretch of steps, made by what, checksums
                           rows.parquet   one row per member, evaluation and metric
                           state/         checkpoint to go on from (only the newest two of an unfinished job)

A **job** is a set of members trained together; its name is a hash of them, so the same work has the same name in every
process and after every restart. Its parts form a chain: each says where it starts, and only an unbroken chain of parts
with right checksums counts. A member is complete once such a chain reaches the last step of its spec.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.store.rows import write_rows

MemberId = tuple[str, int]
"""(content hash of the spec, seed)."""


class Part(NamedTuple):
    """What part.json says; `start` is the step at which its rows begin."""

    job: str
    start: int
    step: int
    final: bool
    seconds: float
    members: tuple[MemberId, ...]
    specs: dict[str, Any]
    provenance: dict[str, Any]
    checksums: dict[str, str] = {}  # noqa: RUF012  (a NamedTuple's default; never changed in place)

    @property
    def folder(self) -> str:
        return f"{self.job}-{self.step:012d}"


class Damage(NamedTuple):
    """A part that must not be read, and why."""

    folder: Path
    reason: str


class StoreError(InputError):
    """The folder cannot be written any more; what was committed before is intact."""


def job_name(members: Iterable[MemberId]) -> str:
    """Name of the job that trains exactly these members."""
    text = json.dumps(sorted(members))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """A folder of parts; every method is safe while another process commits."""

    def __init__(self, root: str | Path):
        self.root = Path(root)
        self._checked: dict[Path, tuple[tuple[int, int], str]] = {}

    def require_writable(self) -> None:
        """Make the folder, or say in one line why not."""
        try:
            (self.root / "parts").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root / "parts"):
                pass
        except OSError as error:
            raise InputError(f"out = {str(self.root)!r}: cannot be written ({error.strerror})") from None

    def survey(self) -> tuple[list[Part], list[Damage]]:
        """Parts that may be read, in order, and those that may not: altered ones and whatever follows them."""
        jobs: dict[str, list[tuple[Path, Part | str]]] = {}
        for folder in sorted((self.root / "parts").glob("*-*")):
            if not folder.name.startswith("."):
                jobs.setdefault(folder.name.split("-")[0], []).append((folder, self._read(folder)))
        good: list[Part] = []
        damaged: list[Damage] = []
        for chain in jobs.values():
            reached, broken = 0, False
            for folder, part in chain:
                if isinstance(part, str):
                    damaged.append(Damage(folder, part))
                    broken = True
                elif broken or part.start != reached:
                    damaged.append(Damage(folder, "a part before it is missing or damaged"))
                    broken = True
                else:
                    good.append(part)
                    reached = part.step
        return good, damaged

    def parts(self) -> list[Part]:
        """All parts that may be read."""
        return self.survey()[0]

    def complete(self) -> dict[MemberId, str]:
        """The job that holds each complete member (one of them, where several do)."""
        found: dict[MemberId, str] = {}
        for part in self.parts():
            if part.final:
                for member in part.members:
                    found.setdefault(member, part.job)
        return found

    def set_aside(self, damages: Iterable[Damage]) -> None:
        """Move damaged parts to OUT/damaged, so that their steps are computed anew."""
        for damage in damages:
            grave = self.root / "damaged"
            grave.mkdir(exist_ok=True)
            target = Path(tempfile.mkdtemp(prefix=f"{damage.folder.name}-", dir=grave))
            try:
                os.rename(damage.folder, target / damage.folder.name)
            except FileNotFoundError:
                target.rmdir()  # another process was faster

    def resume_point(self, job: str) -> tuple[Part | None, list[Damage]]:
        """The newest part of an unfinished job with a sound state; later parts, if any, have to be set aside."""
        parts = [p for p in self.parts() if p.job == job]
        later: list[Damage] = []
        for part in reversed(parts):
            state = self.path(part) / "state"
            if state.is_dir() and digest(state) == part.checksums.get("state"):
                return part, later
            reason = "its checkpoint is damaged" if state.is_dir() else "it has no checkpoint to go on from"
            later.insert(0, Damage(self.path(part), reason))
        return None, later

    def path(self, part: Part) -> Path:
        return self.root / "parts" / part.folder

    def commit(
        self, part: Part, rows: Mapping[str, np.ndarray], save_state: Callable[[Path], None] | None = None
    ) -> None:
        """Write rows, and the state to go on from, aside; sync; rename. A part that is already there stays."""
        final = self.path(part)
        if final.exists():
            return
        aside: Path | None = None
        try:
            aside = Path(tempfile.mkdtemp(prefix=".writing-", dir=self.root / "parts"))
            write_rows(aside / "rows.parquet", rows)
            checksums = {"rows": digest(aside / "rows.parquet")}
            if save_state is not None:
                save_state(aside / "state")
                checksums["state"] = digest(aside / "state")
            text = json.dumps(part._replace(checksums=checksums)._asdict(), indent=1, sort_keys=True)
            (aside / "part.json").write_text(text)
            _sync_tree(aside)
            os.rename(aside, final)
            _sync(final.parent)
        except Exception as error:
            if aside is not None:
                shutil.rmtree(aside, ignore_errors=True)
            if final.exists():
                return
            why = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise StoreError(
                f"out = {str(self.root)!r}: cannot be written ({why}); everything committed so far is intact"
            ) from error

    def drop_states(self, job: str, keep: int) -> None:
        """Remove all but the newest `keep` states of a job."""
        states = sorted((self.root / "parts").glob(f"{job}-*/state"))
        for state in states[: max(0, len(states) - keep)]:
            shutil.rmtree(state, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a killed process left half-written; call only while no other process writes."""
        for aside in (self.root / "parts").glob(".writing-*"):
            shutil.rmtree(aside, ignore_errors=True)

    def _read(self, folder: Path) -> Part | str:
        """The part, or why it is damaged."""
        try:
            data = json.loads((folder / "part.json").read_text())
            data["members"] = tuple((spec, int(seed)) for spec, seed in data["members"])
            part = Part(**data)
            if part.folder != folder.name:
                return f"part.json belongs to {part.folder}"
            return (
                part if self._digest(folder / "rows.parquet") == part.checksums["rows"] else "rows.parquet was altered"
            )
        except FileNotFoundError as error:
            return f"{Path(error.filename or '').name} is missing"
        except (OSError, ValueError, TypeError, KeyError) as error:
            return f"part.json cannot be read ({type(error).__name__})"

    def _digest(self, file: Path) -> str:
        """Checksum of a file, computed again only if size or time changed."""
        stat = file.stat()
        stamp = stat.st_mtime_ns, stat.st_size
        if self._checked.get(file, (None, ""))[0] != stamp:
            self._checked[file] = stamp, digest(file)
        return self._checked[file][1]


def digest(path: Path) -> str:
    """SHA-256 of a file, or of a folder's names and contents."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    total = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        total.update(f"{file.relative_to(path)} {digest(file)}\n".encode())
    return total.hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_tree(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        _sync(path)
    _sync(folder)

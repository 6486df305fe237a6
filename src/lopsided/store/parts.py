"""The store: a folder of *parts*, each committed by one rename.

    OUT/store.json                        version of the format
    OUT/parts/<job>-<step>-<token>/part.json      which members, specs and steps, made by what, checksums of everything
                                   rows.parquet   one row per member, evaluation and metric
                                   state/         checkpoint to go on from (only the newest two of an unfinished job)
    OUT/index.jsonl                       what was read of the parts, so that nobody reads them twice; may be deleted

A **job** is a set of members trained together; its name is a hash of them, so the same work has the same name in every
process and after every restart. Each part names the part that it goes on from (its parent). A member is complete once a
chain of sound parts leads from the first step to the last. The token is that of the lease under which a part was made:
two processes that work on one job by mistake make two chains, of which one is read; neither overwrites the other's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import StoreError
from lopsided.core.json_text import parsed
from lopsided.store.files import canonical, digest, replace_text, sync, sync_tree
from lopsided.store.index import FOLDER, Index, Summary
from lopsided.store.records import text_of
from lopsided.store.rows import write_rows
from lopsided.store.survey import Damage, MemberId, Survey, survey_of

FORMAT = 2  # of a store: another one is refused by name, never read as if it were this one
WRITTEN = json.dumps({"format": FORMAT})
"""What the file store.json holds."""


class StoredPart(NamedTuple):
    """What part.json says; `start` is the step at which its rows begin."""

    job: str
    start: int
    step: int
    final: bool
    seconds: float
    members: tuple[MemberId, ...]
    specs: dict[str, str]
    """Canonical JSON of each spec by its content hash."""
    provenance: dict[str, Any]
    code: str
    """Digest of the code that computed its first spec."""
    parent: str = ""
    """Folder of the part that it goes on from; empty: the first one."""
    token: str = "0"
    checksums: dict[str, str] = {}  # noqa: RUF012  (a NamedTuple's default; never changed in place)
    codes: dict[str, str] = {}  # noqa: RUF012
    """Digests of those specs, by content hash, that other code computed than the first: another law of skills, say."""

    @property
    def folder(self) -> str:
        return f"{self.job}-{self.step:012d}-{self.token}"


class ResumePoint(NamedTuple):
    """Where a job goes on."""

    part: Summary | None
    """None: at its beginning."""
    finished: bool
    """Another process has finished it."""
    passed: list[str]
    """Later parts that cannot be gone on from, and why."""


def job_name(members: Iterable[MemberId]) -> str:
    """Name of the job that trains exactly these members."""
    text = json.dumps(sorted(members))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """A folder of parts; every method is safe while another process commits."""

    def __init__(self, root: str | Path):
        self.root = Path(root)
        self.index = Index(self.root)
        self._survey: Survey | None = None

    def as_of_now(self) -> Store:
        """The folder as it is at this moment: looked at once, for whoever only reads."""
        still = Store(self.root)
        still.index, still._survey = self.index, self.survey()
        return still

    def require_writable(self) -> None:
        """Make the folder, or say in one line why not. A store `as_of_now` would never see what is written to it."""
        if self._survey is not None:
            raise StoreError(f"out = {str(self.root)!r}: this is the folder as of one moment; train into Store(folder)")
        self.require_format()
        try:
            (self.root / "parts").mkdir(parents=True, exist_ok=True)
            if not (self.root / "store.json").exists():
                replace_text(self.root / "store.json", WRITTEN)
            probe = self.root / "parts" / f".writing-{uuid.uuid4().hex}"
            probe.mkdir()
            with suppress(FileNotFoundError):  # another process swept it away
                probe.rmdir()
        except OSError as error:
            raise StoreError(f"out = {str(self.root)!r}: cannot be written ({error.strerror})") from None

    def require_format(self) -> None:
        """Raise `StoreError` if the folder was written by another version of the format."""
        try:
            found = parsed(text_of(self.root / "store.json"))["format"]
        except (FileNotFoundError, NotADirectoryError):
            if any((self.root / "parts").glob("[!.]*-*")):
                raise StoreError(
                    f"out = {str(self.root)!r}: has parts and no store.json, like folders of an older version of "
                    f"lopsided; its rows are not read. If it only lost that file, write {WRITTEN} to it"
                ) from None
            found = FORMAT
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self.root / 'store.json'}: cannot be read ({type(error).__name__}); in a folder of this version it "
                f"holds {WRITTEN}"
            ) from None
        if found != FORMAT:
            age = "an older" if isinstance(found, int) and found < FORMAT else "another"
            raise StoreError(
                f"out = {str(self.root)!r}: was written by {age} version of lopsided (format {found}, this one reads "
                f"{FORMAT}); its rows are not read. Take another folder, or that version"
            )

    def survey(self) -> Survey:
        """Parts that may be read, and those that may not: altered ones and whatever goes on from them."""
        if self._survey is not None:
            return self._survey
        self.require_format()
        return survey_of(self.index.refresh(), self.root / "parts")

    def survey_new(self) -> Survey:
        """`survey`, where parts that were read before are taken to be as they were: one look at the folder's names."""
        if self._survey is not None:
            return self._survey
        return survey_of(self.index.refresh(only_new=True), self.root / "parts")

    def parts(self) -> list[Summary]:
        """All parts that may be read."""
        return self.survey().good

    def complete(self) -> dict[MemberId, str]:
        """The job whose rows are read of each complete member."""
        return self.survey().complete

    def require_readable(self) -> None:
        """Raise `StoreError` if this user may not read some parts."""
        unreadable = self.survey().unreadable
        if unreadable:
            raise StoreError(
                f"out = {str(self.root)!r}: {len(unreadable)} parts cannot be read ({unreadable[0].reason}), for "
                f"example {unreadable[0].folder.name}; ask who made them for permission"
            )

    def provenance(self, part: Summary, specs: Set[str] | None = None) -> list[dict[str, Any]]:
        """What made a part (rows of `specs`, if given); several where it was merged from others."""
        found = parsed(text_of(self.path(part) / "part.json"))["part"]["provenance"]
        return [each for each in found.get("merged", [found]) if not specs or specs & set(each.get("specs", specs))]

    def set_aside(self, damages: Iterable[Damage]) -> None:
        """Move damaged parts to OUT/damaged, so that they are not looked at again; where that is another disk, to a
        hidden name beside the others."""
        for damage in damages:
            name = f"{damage.folder.name}-{uuid.uuid4().hex[:8]}"
            with suppress(FileNotFoundError):  # another process was faster
                try:
                    (self.root / "damaged").mkdir(exist_ok=True)
                    os.rename(damage.folder, self.root / "damaged" / name)
                except OSError as error:
                    if isinstance(error, FileNotFoundError):
                        raise
                    os.rename(damage.folder, damage.folder.with_name(f".damaged-{name}"))

    def resume_point(self, job: str, codes: Mapping[str, str]) -> ResumePoint:
        """Where to go on with a job: its newest part with a sound checkpoint that this code made. `codes`: digest of
        the code of each of its specs, by content hash."""
        survey = self.survey()
        parts = [part for part in (*survey.good, *survey.other) if part.job == job]
        if any(part.final for part in parts):
            return ResumePoint(None, True, [])
        passed = []
        for part in sorted(parts, key=lambda part: (-part.step, part.folder)):
            state = self.path(part) / "state"
            if any(part.code_of(spec) != code for spec, code in codes.items()):
                passed.append(f"{self.path(part)}: another version of the code made it; not gone on from")
            elif not state.is_dir():
                passed.append(f"{self.path(part)}: it has no checkpoint to go on from")
            elif digest(state) != part.state:
                passed.append(f"{self.path(part)}: its checkpoint is damaged; not gone on from")
            else:
                return ResumePoint(part, False, passed)
        return ResumePoint(None, False, passed)

    def finished(self, job: str) -> bool:
        """Whether every step of a job, to its last one, is committed in parts that can be read."""
        return any(part.job == job and part.final for part in self.survey().good)

    def path(self, part: StoredPart | Summary) -> Path:
        return self.root / "parts" / part.folder

    def commit(
        self,
        part: StoredPart,
        rows: Mapping[str, np.ndarray] | Callable[[Path], None],
        save_state: Callable[[Path], None] | None = None,
    ) -> None:
        """Write rows (columns, or a function that writes the Parquet file), and the state to go on from, aside; sync;
        rename. Nothing is ever overwritten."""
        final = self.path(part)
        for attempt in range(3):
            aside = self.root / "parts" / f".writing-{uuid.uuid4().hex}"
            try:
                aside.mkdir()  # with the permissions that the user's umask gives
                self._write(aside, part, rows, save_state)
                os.stat(aside / "rows.parquet")  # gone if what writes the state made a folder anew that was swept away
                os.rename(aside, final)
                sync(final.parent)
                return
            except (OSError, *_database_errors()) as error:
                swept = isinstance(error, FileNotFoundError) or not aside.exists()
                shutil.rmtree(aside, ignore_errors=True)
                if swept and final.parent.is_dir() and attempt < 2:
                    continue  # by a process that took this one for dead
                why = getattr(error, "strerror", None) or str(error).splitlines()[0]
                raise StoreError(
                    f"out = {str(self.root)!r}: cannot be written ({why}); everything committed so far is intact"
                ) from error
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise

    def _write(
        self,
        aside: Path,
        part: StoredPart,
        rows: Mapping[str, np.ndarray] | Callable[[Path], None],
        save_state: Callable[[Path], None] | None,
    ) -> None:
        """Everything of a part into a folder, synced."""
        if callable(rows):
            rows(aside / "rows.parquet")
        else:
            write_rows(aside / "rows.parquet", rows)
        checksums = {"rows": digest(aside / "rows.parquet")}
        if save_state is not None:
            save_state(aside / "state")
            checksums["state"] = digest(aside / "state")
        body = part._replace(checksums=checksums)._asdict()
        document = {"part": body, "sha256": hashlib.sha256(canonical(body).encode()).hexdigest()}
        (aside / "part.json").write_text(json.dumps(document, indent=1, sort_keys=True))
        sync_tree(aside)

    def drop_states(self, part: StoredPart, keep: int) -> None:
        """Remove all but the furthest `keep` states of a part's job. Its own and that of the part before it stay unless
        `keep` is 0: another version of the code may have come further, and cannot be gone on from."""
        folder = self.root / "parts"
        names = [
            name for name in sorted(os.listdir(folder)) if name.startswith(f"{part.job}-") and FOLDER.fullmatch(name)
        ]
        parts = [folder / name for name in names if not (folder / name).is_symlink()]
        states = [each / "state" for each in parts if (each / "state").is_dir() and not (each / "state").is_symlink()]
        own = (part.folder, part.parent) if keep else ()
        for state in states[: max(0, len(states) - keep)]:
            if state.parent.name not in own:
                shutil.rmtree(state, ignore_errors=True)

    def remove(self, part: Summary) -> None:
        """Remove a part that nobody needs; for readers it is gone at once."""
        aside = self.root / "parts" / f".writing-{uuid.uuid4().hex}"
        with suppress(FileNotFoundError):  # another process was faster
            os.rename(self.path(part), aside)
        shutil.rmtree(aside, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a killed process left half-written or half-removed; call only while no other process is known to
        write. A folder is renamed first: one that was taken for dead loses all of its part or nothing."""
        for aside in (self.root / "parts").glob(".writing-*"):
            with suppress(FileNotFoundError):
                os.rename(aside, aside.with_name(f".swept-{uuid.uuid4().hex}"))
        for swept in (self.root / "parts").glob(".swept-*"):
            shutil.rmtree(swept, ignore_errors=True)


def _database_errors() -> tuple[type[Exception], ...]:
    import duckdb

    return (duckdb.IOException,)

"""The store: a folder of *parts*, each committed by one rename.

    OUT/parts/<job>-<step>/part.json      which members, which specs, up to which step, made by what
                           rows.parquet   one row per member, evaluation and metric
                           state/         checkpoint to go on from (only the newest two of an unfinished job)

A **job** is a set of members trained together; its name is a hash of them, so the same work has the same name in every
process and after every restart. A member is complete once a part that reaches the last step of its spec is there.
DuckDB reads and writes the Parquet files; there is no database file.
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

MemberId = tuple[str, int]
"""(content hash of the spec, seed)."""
COLUMNS = ("spec", "seed", "step", "samples", "distinct_samples", "seconds", "diverged", "metric", "value")


class Part(NamedTuple):
    """What part.json says."""

    job: str
    step: int
    final: bool
    seconds: float
    members: tuple[MemberId, ...]
    specs: dict[str, Any]
    provenance: dict[str, Any]

    @property
    def folder(self) -> str:
        return f"{self.job}-{self.step:012d}"


def job_name(members: Iterable[MemberId]) -> str:
    """Name of the job that trains exactly these members."""
    text = json.dumps(sorted(members))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """A folder of parts; every method is safe while another process commits."""

    def __init__(self, root: str | Path):
        self.root = Path(root)

    def require_writable(self) -> None:
        """Make the folder, or say in one line why not."""
        try:
            (self.root / "parts").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root / "parts"):
                pass
        except OSError as error:
            raise InputError(f"out = {str(self.root)!r}: cannot be written ({error.strerror})") from None

    def parts(self) -> list[Part]:
        """All committed parts, oldest step first inside a job."""
        found = []
        for file in sorted((self.root / "parts").glob("*-*/part.json")):
            data = json.loads(file.read_text())
            data["members"] = tuple((spec, int(seed)) for spec, seed in data["members"])
            found.append(Part(**data))
        return found

    def complete(self) -> dict[MemberId, str]:
        """The job that holds each complete member (one of them, where several do)."""
        found: dict[MemberId, str] = {}
        for part in self.parts():
            if part.final:
                for member in part.members:
                    found.setdefault(member, part.job)
        return found

    def resume_point(self, job: str) -> Part | None:
        """The newest part of an unfinished job that carries a state."""
        parts = [p for p in self.parts() if p.job == job and (self.path(p) / "state").is_dir()]
        return parts[-1] if parts else None

    def path(self, part: Part) -> Path:
        return self.root / "parts" / part.folder

    def commit(
        self, part: Part, rows: Mapping[str, np.ndarray], save_state: Callable[[Path], None] | None = None
    ) -> None:
        """Write rows, and the state to go on from, aside; sync; rename. A part that is already there stays."""
        final = self.path(part)
        if final.exists():
            return
        aside = Path(tempfile.mkdtemp(prefix=".writing-", dir=self.root / "parts"))
        try:
            write_rows(aside / "rows.parquet", rows)
            if save_state is not None:
                save_state(aside / "state")
            (aside / "part.json").write_text(json.dumps(part._asdict(), indent=1, sort_keys=True))
            _sync_tree(aside)
            os.rename(aside, final)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            if not final.exists():
                raise
        _sync(final.parent)

    def drop_states(self, job: str, keep: int) -> None:
        """Remove all but the newest `keep` states of a job."""
        states = [self.path(p) / "state" for p in self.parts() if p.job == job]
        states = [s for s in states if s.is_dir()]
        for state in states[: max(0, len(states) - keep)]:
            shutil.rmtree(state, ignore_errors=True)

    def connection(self) -> Any:
        """A DuckDB connection with the views `rows` (complete members, each once) and `members`."""
        import duckdb

        con = duckdb.connect()
        complete = self.complete()
        parts = [p for p in self.parts() if p.job in set(complete.values())]
        specs = {h: s for p in parts for h, s in p.specs.items()}
        members = list(complete.items())
        con.register(
            "_members",
            {
                "spec": np.array([m[0] for m, _ in members], dtype=object),
                "seed": np.array([m[1] for m, _ in members], dtype=np.uint64),
                "job": np.array([job for _, job in members], dtype=object),
                "settings": np.array([json.dumps(specs[m[0]]) for m, _ in members], dtype=object),
            },
        )
        con.execute("CREATE TABLE members AS SELECT spec, seed, job, settings::JSON AS settings FROM _members")
        if not parts:
            con.execute(f"CREATE TABLE rows ({', '.join(f'{c} VARCHAR' for c in COLUMNS)})")
            return con
        files = [str(self.path(p) / "rows.parquet") for p in parts]
        con.execute(
            "CREATE VIEW rows AS SELECT r.* EXCLUDE (filename) FROM "
            f"read_parquet({files!r}, filename = true) r JOIN members m ON r.spec = m.spec AND r.seed = m.seed "
            "AND contains(r.filename, m.job)"
        )
        return con


def write_rows(file: Path, rows: Mapping[str, np.ndarray]) -> None:
    """Columns of equal length to a Parquet file; NaN becomes NULL."""
    import duckdb

    missing = set(COLUMNS) ^ set(rows)
    if missing:
        raise ValueError(f"rows have exactly the columns {COLUMNS}; these differ: {sorted(missing)}")
    with duckdb.connect() as con:
        con.register("rows", {name: np.ascontiguousarray(rows[name]) for name in COLUMNS})
        con.execute(f"COPY (SELECT * FROM rows) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


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

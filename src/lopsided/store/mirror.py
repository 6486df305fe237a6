"""A copy of a folder's rows in one database, for a reader that asks often: thousands of small files are read once.

The copy lies in a temporary file that goes with the object. `refresh` brings in the parts that were committed since,
a few hundred at a time, so that readers are never held up for long; unfinished jobs are copied as far as they are.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.store.index import Summary
from lopsided.store.parts import Store
from lopsided.store.paths import plain_path
from lopsided.store.survey import Survey

BATCH = 250
"""Parts that one call of `refresh` copies at most."""
TABLES = """
CREATE TABLE specs (spec_id INTEGER, spec VARCHAR);
CREATE TABLE metrics (metric_id INTEGER, metric VARCHAR);
CREATE TABLE rows (part INTEGER, spec_id INTEGER, metric_id INTEGER, seed UBIGINT, step BIGINT, samples BIGINT,
                   distinct_samples DOUBLE, seconds DOUBLE, diverged BOOLEAN, value DOUBLE);
CREATE TABLE parts (part INTEGER, job VARCHAR);
CREATE TABLE members (spec_id INTEGER, seed UBIGINT, job VARCHAR, complete BOOLEAN);
"""


class Mirror:
    """The rows of one store, numbers only (arrays stay in the folder). Every method may be called from any thread."""

    def __init__(self, store: Store):
        import duckdb

        self._store = store
        self._folder = tempfile.TemporaryDirectory(prefix="lopsided-mirror-")
        self._con = duckdb.connect(str(Path(self._folder.name) / "rows.duckdb"))
        self._con.execute(TABLES)
        self._parts: dict[str, int] = {}
        """Number of each part that is copied."""
        self._ids: dict[str, dict[str, int]] = {"spec": {}, "metric": {}}
        self._lock = threading.Lock()
        self._changed: int | None = None
        """Time stamp of the folder of parts when it was looked at."""
        self.survey = Survey([], [], [], [], [])
        """What lies in the folder."""
        self.version = 0
        """Rises whenever other rows can be read than before."""

    @property
    def copied(self) -> tuple[int, int]:
        """Parts that are copied, and that there are."""
        return len(self._parts), len(self.survey.good)

    def close(self) -> None:
        """Remove the copy."""
        with self._lock:
            self._con.close()
            self._folder.cleanup()

    def refresh(self) -> bool:
        """Look at the folder and copy parts that are not copied yet, at most BATCH; whether all are copied now."""
        with self._lock:
            changed = _stamp(self._store.root / "parts")
            if changed != self._changed:
                self._changed, self.survey = changed, self._store.survey()
            now = {part.folder: part for part in self.survey.good}
            new = [part for folder, part in now.items() if folder not in self._parts][:BATCH]
            gone = [folder for folder in self._parts if folder not in now]
            if new or gone:
                before = dict(self._parts), {kind: dict(known) for kind, known in self._ids.items()}
                try:
                    with self._con.cursor() as con:
                        con.begin()
                        self._forget(con, gone)
                        self._copy(con, new)
                        self._index(con)
                        con.commit()
                except BaseException:  # a full disk: what the database forgets again, this has to forget, too
                    self._parts, self._ids = before
                    raise
                self.version += 1
            return len(self._parts) == len(now)

    def _forget(self, con: Any, folders: Sequence[str]) -> None:
        """Parts that are read no longer: merged into others, or of a chain that another one has overtaken."""
        if folders:
            numbers = ", ".join(str(self._parts.pop(folder)) for folder in folders)
            con.execute(f"DELETE FROM rows WHERE part IN ({numbers})")

    def _copy(self, con: Any, parts: Sequence[Summary]) -> None:
        if not parts:
            return
        first = max(self._parts.values(), default=-1) + 1
        numbers = {part.folder: first + i for i, part in enumerate(parts)}
        with plain_path(self._store.root) as root:
            files = [f"{root}/parts/{folder}/rows.parquet" for folder in numbers]
            _register(con, "_files", file=files, part=np.array(list(numbers.values()), np.int32))
            names = ", ".join(f"'{file}'" for file in files)  # plain: see `plain_path`
            con.execute(
                "CREATE TEMP TABLE fresh AS SELECT f.part, r.* EXCLUDE (shape, elements, filename) FROM "
                f"read_parquet([{names}], filename = true) r "
                "JOIN _files f ON r.filename = f.file WHERE r.elements IS NULL"
            )
            con.unregister("_files")
        for kind in self._ids:
            found = con.execute(f"SELECT DISTINCT {kind} FROM fresh").fetchall()
            self._number(con, kind, [name for (name,) in found])
        con.execute(
            "INSERT INTO rows SELECT part, spec_id, metric_id, seed, step, samples, distinct_samples, seconds, "
            "diverged, value FROM fresh JOIN specs USING (spec) JOIN metrics USING (metric)"
        )
        con.execute("DROP TABLE fresh")
        self._parts |= numbers

    def _number(self, con: Any, kind: str, names: Iterable[str]) -> None:
        """Give names a number, once."""
        known = self._ids[kind]
        for name in sorted(set(names) - set(known)):
            known[name] = len(known)
            con.execute(f"INSERT INTO {kind}s VALUES (?, ?)", [known[name], name])

    def _index(self, con: Any) -> None:
        """Which job each member is read from: its complete one, or the one that has come furthest."""
        chains: dict[str, list[Summary]] = {}
        for part in self.survey.good:
            chains.setdefault(part.job, []).append(part)
        here = {job: [part for part in chain if part.folder in self._parts] for job, chain in chains.items()}
        members: dict[tuple[str, int], tuple[str, bool]] = {}
        for job in sorted((job for job in here if here[job]), key=lambda job: here[job][-1].step):
            members |= {(spec, seed): (job, False) for spec, seeds in here[job][-1].seeds.items() for seed in seeds}
        for member, job in self.survey.complete.items():
            if here[job]:
                members[member] = job, len(here[job]) == len(chains[job])
        self._number(con, "spec", {spec for spec, _ in members})
        numbers = [self._ids["spec"][spec] for spec, _ in members]
        _register(
            con,
            "_members",
            spec_id=np.array(numbers, np.int32),
            seed=np.array([seed for _, seed in members], np.uint64),
            job=[job for job, _ in members.values()],
            complete=np.array([complete for _, complete in members.values()], np.bool_),
        )
        con.execute("DELETE FROM members; INSERT INTO members SELECT spec_id, seed, job, complete FROM _members")
        con.unregister("_members")
        copied = [part for chain in here.values() for part in chain]
        numbers = [self._parts[part.folder] for part in copied]
        _register(con, "_parts", part=np.array(numbers, np.int32), job=[part.job for part in copied])
        con.execute("DELETE FROM parts; INSERT INTO parts SELECT part, job FROM _parts")
        con.unregister("_parts")

    def metrics(self, specs: Iterable[str]) -> list[str]:
        """Metrics that members of these specs have rows of."""
        ids = self._of("spec", specs)
        if not ids:
            return []
        with self._asking() as con:
            found = con.execute(
                f"SELECT DISTINCT metric FROM rows JOIN metrics USING (metric_id) WHERE spec_id IN ({ids})"
            ).fetchall()
        return sorted(name for (name,) in found)

    def members(self) -> list[tuple[str, int, bool]]:
        """(spec, seed, whether it is complete) of every member that has rows."""
        with self._asking() as con:
            return con.execute("SELECT spec, seed, complete FROM members JOIN specs USING (spec_id)").fetchall()

    def rows(self, specs: Iterable[str], metric: str, complete: bool = True) -> Mapping[str, Mapping[str, np.ndarray]]:
        """Rows of one metric by spec, ordered by seed and step: NumPy columns seed, step, samples, distinct_samples,
        seconds, diverged, value, job, complete. `complete`: of members that have reached their end; else of all."""
        ids, of = self._of("spec", specs), self._ids["metric"].get(metric)
        if not ids or of is None:
            return {}
        with self._asking() as con:
            found = con.execute(
                "SELECT r.spec_id, r.seed, r.step, r.samples, r.distinct_samples, r.seconds, r.diverged, r.value, "
                "m.job, m.complete "
                "FROM rows r JOIN parts p USING (part) "
                "JOIN members m ON r.spec_id = m.spec_id AND r.seed = m.seed AND p.job = m.job "
                f"WHERE r.metric_id = {of} AND r.spec_id IN ({ids}) {'AND m.complete' if complete else ''} "
                "ORDER BY r.spec_id, r.seed, r.step"
            ).fetchnumpy()
        spec = found.pop("spec_id")
        names = {number: name for name, number in self._ids["spec"].items()}
        starts = np.flatnonzero(np.append(True, spec[1:] != spec[:-1])) if len(spec) else []
        ends = [*starts[1:], len(spec)]
        return {
            names[int(spec[i])]: {key: column[i:j] for key, column in found.items()}
            for i, j in zip(starts, ends, strict=False)
        }

    def _of(self, kind: str, names: Iterable[str]) -> str:
        """The numbers of those names that are known, for SQL."""
        known = self._ids[kind]
        return ", ".join(str(known[name]) for name in dict.fromkeys(names) if name in known)

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        with self._con.cursor() as con:
            yield con


def _register(con: Any, name: str, **columns: Any) -> None:
    con.register(name, {k: v if isinstance(v, np.ndarray) else np.array(v, object) for k, v in columns.items()})


def _stamp(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None

"""What was read of the parts, kept in OUT/index.jsonl so that nobody reads and checks them twice.

A part is a folder, not a link to one, and its files are regular files: what somebody linked into the folder is not
followed. A part is read again when the size or a time stamp of its files changed. The status-change time is among them:
writing into a file changes it, and no user can set it back. The index is only a memory: without it, or with a damaged
one, everything is read again. Its first line is the checksum of the second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import threading
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.core.json_text import parsed
from lopsided.store.files import new_file
from lopsided.store.made import require_made
from lopsided.store.paths import plain_path
from lopsided.store.records import text_of
from lopsided.store.rows import COLUMNS, cursor

VERSION = 4
"""Version of the file; an index of another one is made anew from the parts."""
AT_ONCE = 256
"""Files of one query."""
SAVE_EVERY = 20
"""A process that has written the index does so again once this share of the parts, 1 / 20, is new."""
FOLDER = re.compile(r"[0-9a-f]{16}-[0-9]{12}-[0-9a-z]+")


class ExpectedRows(NamedTuple):
    """What rows a part should have."""

    members: frozenset[tuple[str, int]]
    whole: bool
    """Whether it is all of its job, so that each member has rows in it."""


class Summary(NamedTuple):
    """What readers need of a sound part."""

    folder: str
    job: str
    start: int
    step: int
    final: bool
    seconds: float
    seeds: dict[str, list[int]]
    """Seeds of each spec, by the spec's content hash."""
    code: str
    parent: str
    state: str | None
    """Checksum of the checkpoint, if the part was made with one."""
    codes: dict[str, str] = {}  # noqa: RUF012  (a NamedTuple's default; never changed in place)

    def code_of(self, spec: str) -> str:
        """Digest of the code that computed a spec's rows."""
        return self.codes.get(spec, self.code)


class Listing(NamedTuple):
    """The folder of parts, read."""

    sound: list[Summary]
    damaged: dict[str, str]
    unreadable: dict[str, str]
    foreign: list[str]


class _Entry(NamedTuple):
    stamp: list[list[int]]
    summary: Summary | None
    reason: str


class Index:
    """The memory of one store."""

    def __init__(self, root: Path):
        self._root = root
        self._entries: dict[str, _Entry] | None = None
        self._unsaved = 0
        self._lock = threading.RLock()
        self.specs: dict[str, str] = {}
        """Canonical JSON of every spec seen, by content hash."""

    def refresh(self, only_new: bool = False) -> Listing:
        """The parts as they are now; reads only what changed. `only_new`: parts that were read before are taken to be
        as they were, so that only the folder's names are looked at."""
        with self._lock:  # the explorer asks from several threads: one would forget the specs that another has read
            return self._refreshed(only_new)

    def _refreshed(self, only_new: bool) -> Listing:
        before = self._load() if self._entries is None else self._entries
        entries, unreadable, foreign, changed = {}, {}, [], 0
        parts, new = self._root / "parts", dict[str, ExpectedRows]()
        for name in self._names():
            if name.startswith("."):
                continue
            known = before.get(name)
            if known is not None and only_new:  # under the store's lock, where each look at a file may take 5 ms
                entries[name] = known
                continue
            if not FOLDER.fullmatch(name) or (parts / name).is_symlink():
                foreign.append(name)
                continue
            try:
                stamp = [_stamp(f"{parts}/{name}/{file}") for file in ("part.json", "rows.parquet")]
                if known is None or known.stamp != stamp:
                    known, changed = self._read(parts / name, stamp, new), changed + 1
            except PermissionError:
                unreadable[name] = "permission denied"
                continue
            except FileNotFoundError as error:
                if not (parts / name).is_dir():
                    continue  # set aside just now
                known = _Entry([], None, f"{Path(error.filename or '').name} is missing")
            except OSError as error:
                unreadable[name] = str(error.strerror or error)
                continue
            entries[name] = known
        for file, reason in (not_of_their_members(new) if new else {}).items():
            name = Path(file).parent.name
            entries[name] = entries[name]._replace(summary=None, reason=reason)
        changed += len(set(before) - set(entries))
        first, self._entries = self._entries is None, entries
        self._unsaved += changed
        if self._unsaved and (first or self._unsaved * SAVE_EVERY >= len(entries)):
            self._save()
        sound = [e.summary for e in entries.values() if e.summary is not None]
        damaged = {name: e.reason for name, e in entries.items() if e.summary is None}
        return Listing(sound, damaged, unreadable, foreign)

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._root / "parts"))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _read(self, folder: Path, stamp: list[list[int]], new: dict[str, ExpectedRows]) -> _Entry:
        """Read and check one part: its text and its rows against their checksums, names against contents. A sound one's
        rows still have to be looked at, for which it is put into `new`."""
        text = text_of(folder / "part.json")
        try:
            document = parsed(text)
            part = document["part"]
            body = json.dumps(part, sort_keys=True, separators=(",", ":"), allow_nan=False)
            if hashlib.sha256(body.encode()).hexdigest() != document["sha256"]:
                return _Entry(stamp, None, "part.json was altered")
            if folder.name != f"{part['job']}-{part['step']:012d}-{part['token']}":
                return _Entry(stamp, None, "part.json belongs to another part")
            specs = {h: s for h, s in part["specs"].items() if hashlib.sha256(s.encode()).hexdigest()[:16] == h}
            if len(specs) < len(part["specs"]) or {spec for spec, _ in part["members"]} - set(specs):
                return _Entry(stamp, None, "part.json: a spec does not fit its name")
            checksum, state = part["checksums"]["rows"], part["checksums"].get("state")
            seeds: dict[str, list[int]] = {}
            for spec, seed in part["members"]:
                seeds.setdefault(spec, []).append(int(seed))
            numbers = int(part["start"]), int(part["step"]), bool(part["final"]), float(part["seconds"])
            for digest in specs.keys() - self.specs.keys():
                if not isinstance(parsed(specs[digest]), dict):
                    return _Entry(stamp, None, "part.json: a spec is no JSON object")
            require_made(part["provenance"])
            codes = {str(spec): str(code) for spec, code in part.get("codes", {}).items()}
            summary = Summary(folder.name, part["job"], *numbers, seeds, part["code"], part["parent"], state, codes)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return _Entry(stamp, None, f"part.json cannot be read ({type(error).__name__})")
        with os.fdopen(os.open(folder / "rows.parquet", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                return _Entry(stamp, None, "rows.parquet was altered")
        self.specs |= specs
        members = frozenset((spec, seed) for spec, many in seeds.items() for seed in many)
        new[str(folder / "rows.parquet")] = ExpectedRows(members, summary.final and summary.start == 0)
        return _Entry(stamp, summary, "")

    def _load(self) -> dict[str, _Entry]:
        try:
            checksum, _, text = text_of(self._root / "index.jsonl", 2**30).partition("\n")
            if hashlib.sha256(text.encode()).hexdigest() != checksum:
                return {}
            data = parsed(text)
            if data["version"] != VERSION:
                return {}
            self.specs = dict(data["specs"])
            return {
                name: _Entry(stamp, Summary(name, *summary) if summary else None, reason)
                for name, (stamp, summary, reason) in data["parts"].items()
            }
        except (OSError, ValueError, TypeError, KeyError):
            return {}

    def _save(self) -> None:
        """Remember for the next process; not where the folder cannot be written, or nothing is gained."""
        assert self._entries is not None
        parts = {name: (e.stamp, e.summary and list(e.summary[1:]), e.reason) for name, e in self._entries.items()}
        used = {spec for e in self._entries.values() if e.summary for spec in e.summary.seeds}
        self.specs = {h: s for h, s in self.specs.items() if h in used}
        text = json.dumps({"version": VERSION, "parts": parts, "specs": self.specs}).encode()
        self._unsaved = 0
        aside = self._root / f".index-{uuid.uuid4().hex}"
        with suppress(OSError):
            try:
                with new_file(aside) as file:
                    file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
                aside.replace(self._root / "index.jsonl")
            finally:
                aside.unlink(missing_ok=True)


def not_of_their_members(parts: Mapping[str, ExpectedRows]) -> dict[str, str]:
    """What is wrong with the rows of parts, by file: rows of a member that part.json does not name, or none of one that
    it does, two of one member, step and metric, a column that is missing. (Checksums say that rows are what a writer
    wrote; these say that it wrote no nonsense.)"""
    wrong: dict[str, str] = {}
    files = list(parts)
    with cursor() as con:
        for i in range(0, len(files), AT_ONCE):
            wrong |= _not_of_their_members(con, {file: parts[file] for file in files[i : i + AT_ONCE]})
    return wrong


def _not_of_their_members(con: Any, parts: Mapping[str, ExpectedRows]) -> dict[str, str]:
    import duckdb

    folder = Path(next(iter(parts))).parents[1]
    with plain_path(folder) as plain:
        names = {f"{plain}/{Path(file).parent.name}/rows.parquet": file for file in parts}
        try:
            columns = dict(con.execute(
                "SELECT file_name, list(name) FROM parquet_schema(?) GROUP BY file_name", [list(names)]
            ).fetchall())  # fmt: skip
            lacking = {name for name in names if not COLUMNS.keys() <= set(columns[name])}
            wrong = {names[name]: "rows.parquet lacks a column" for name in lacking}
            if len(lacking) == len(names):
                return wrong
            found = con.execute(
                "SELECT filename, spec, seed, count(*) > count(DISTINCT (step, metric)) "
                "FROM read_parquet(?, filename = true) GROUP BY filename, spec, seed",
                [[name for name in names if name not in lacking]],
            ).fetchall()
        except duckdb.Error:  # one of them is no table: told where rows are read, or found alone
            if len(parts) == 1:
                return dict.fromkeys(parts, "rows.parquet is no table")
            return {k: v for f in parts for k, v in _not_of_their_members(con, {f: parts[f]}).items()}
    seen: dict[str, set[tuple[str, int]]] = {}
    for name, spec, seed, twice in found:
        seen.setdefault(names[name], set()).add((spec, seed))
        if twice:
            wrong.setdefault(names[name], "rows.parquet has two rows of one member, step and metric")
    for file, expected in parts.items():
        if seen.get(file, set()) - expected.members:
            wrong[file] = "rows.parquet has rows of a member that part.json does not name"
        elif expected.whole and expected.members - seen.get(file, set()):
            wrong.setdefault(file, "rows.parquet has no rows of a member that part.json names")
    return wrong


def _stamp(file: str) -> list[int]:
    found = os.lstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{Path(file).name} is no regular file")
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]

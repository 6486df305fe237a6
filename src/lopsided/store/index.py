"""What was read of the parts, kept in OUT/index.jsonl so that nobody reads and checks them twice.

A part is read again when the size or a time stamp of its files changed. The status-change time is among them: writing
into a file changes it, and no user can set it back. The index is only a memory: without it, or with a damaged one,
everything is read again. Its first line is the checksum of the second.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

VERSION = 2
SAVE_EVERY = 20
"""A process that has written the index does so again once this share of the parts, 1 / 20, is new."""
FOLDER = re.compile(r"[0-9a-f]{16}-[0-9]{12}-[0-9a-z]+")


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


class Found(NamedTuple):
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
        self.specs: dict[str, str] = {}
        """Canonical JSON of every spec seen, by content hash."""

    def refresh(self) -> Found:
        """The parts as they are now; reads only what changed."""
        before = self._load() if self._entries is None else self._entries
        entries, unreadable, foreign, changed = {}, {}, [], 0
        parts = self._root / "parts"
        for name in sorted(os.listdir(parts)) if parts.is_dir() else []:
            if name.startswith("."):
                continue
            if not FOLDER.fullmatch(name):
                foreign.append(name)
                continue
            known = before.get(name)
            try:
                stamp = [_stamp(f"{parts}/{name}/{file}") for file in ("part.json", "rows.parquet")]
                if known is None or known.stamp != stamp:
                    known, changed = self._read(parts / name, stamp), changed + 1
            except PermissionError:
                unreadable[name] = "permission denied"
                continue
            except FileNotFoundError as error:
                if not (parts / name).is_dir():
                    continue  # set aside just now
                known = _Entry([], None, f"{Path(error.filename or '').name} is missing")
            except OSError as error:
                unreadable[name] = str(error.strerror)
                continue
            entries[name] = known
        changed += len(set(before) - set(entries))
        first, self._entries = self._entries is None, entries
        self._unsaved += changed
        if self._unsaved and (first or self._unsaved * SAVE_EVERY >= len(entries)):
            self._save()
        sound = [e.summary for e in entries.values() if e.summary is not None]
        damaged = {name: e.reason for name, e in entries.items() if e.summary is None}
        return Found(sound, damaged, unreadable, foreign)

    def _read(self, folder: Path, stamp: list[list[int]]) -> _Entry:
        """Read and check one part: its text and its rows against their checksums, names against contents."""
        text = (folder / "part.json").read_text(errors="replace")
        try:
            document = json.loads(text)
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
            summary = Summary(folder.name, part["job"], *numbers, seeds, part["code"], part["parent"], state)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            return _Entry(stamp, None, f"part.json cannot be read ({type(error).__name__})")
        with (folder / "rows.parquet").open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                return _Entry(stamp, None, "rows.parquet was altered")
        self.specs |= specs
        return _Entry(stamp, summary, "")

    def _load(self) -> dict[str, _Entry]:
        try:
            checksum, _, text = (self._root / "index.jsonl").read_bytes().partition(b"\n")
            if hashlib.sha256(text).hexdigest() != checksum.decode():
                return {}
            data = json.loads(text)
            if data["version"] != VERSION:
                return {}
            self.specs = dict(data["specs"])
            return {
                name: _Entry(stamp, Summary(name, *summary) if summary else None, reason)
                for name, (stamp, summary, reason) in data["parts"].items()
            }
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
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
                aside.write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
                aside.replace(self._root / "index.jsonl")
            finally:
                aside.unlink(missing_ok=True)


def _stamp(file: str) -> list[int]:
    found = os.stat(file)
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]

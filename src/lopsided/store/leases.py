"""Leases say who works on what: several processes respect them on a plain shared folder, without a lock server.

    OUT/leases/<job>.json     held by one process: its members, host, pid, token, progress; rewritten every few seconds
    OUT/leases/.lock          held for an instant while a process looks at the leases and adds its own
    OUT/failed/<job>.json     the last error of a job, until it succeeds

A lease dies with its process: on the same host at once (the pid is gone or belongs to a later process), elsewhere when
it was not rewritten for a minute by the file server's clock. A process that was taken for dead and goes on finds
another's token in its lease before its next commit, and stops. Should it commit all the same, nothing is lost: parts
carry their lease's token in their names (see `store.parts`). Leases save work; they are not what keeps rows right.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.core.errors import InputError
from lopsided.store.files import replace_text
from lopsided.store.survey import MemberId

LOG = "LOPSIDED_LOG"
"""Environment variable that names this process's log, for messages about its failures."""
BEAT_SECONDS = 5.0
STALE_SECONDS = 60.0
LOCK_PATIENCE = 120.0
MOST_FAILURES = 3
"""Attempts in a row, none of which came further than the one before, after which workers leave a job alone."""


class Lease(NamedTuple):
    """What a lease file says; `alive` is judged by the reader."""

    job: str
    members: tuple[MemberId, ...]
    owner: dict[str, Any]
    step: int
    steps: int
    seconds_left: float | None
    token: str
    alive: bool


class LeaseLost(Exception):
    """Another process has taken the job over."""


class Leases:
    """The leases of one store."""

    def __init__(self, root: Path):
        self.folder = root / "leases"
        self.failed_folder = root / "failed"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Exclusive for an instant; a lock whose holder died is broken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / ".lock"
        text = json.dumps(owner())
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            try:
                handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                break
            except FileExistsError:
                self._break_if_dead(file)
                if time.monotonic() > deadline:
                    raise InputError(f"out: {file} is held by another process; remove it if none is running") from None
                time.sleep(0.02)
        try:
            os.write(handle, text.encode())
            os.close(handle)
            yield
        finally:
            with suppress(FileNotFoundError):
                file.unlink()

    def all(self) -> list[Lease]:
        """Every lease, dead ones too. A file that is no lease is not one."""
        found = []
        for file in sorted(self.folder.glob("*.json")):
            try:
                data = _read(file) or {}
                members = tuple((str(spec), int(seed)) for spec, seed in data.pop("members"))
                data["step"], data["steps"] = int(data["step"]), int(data["steps"])
                found.append(Lease(members=members, alive=self._alive(file, data["owner"]), **data))
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
        return found

    @contextmanager
    def hold(self, lease: Lease) -> Iterator[Holder]:
        """Rewrite the lease (taken with `take` under the lock) until the block ends; then it is gone."""
        holder = Holder(self, lease)
        holder.start()
        try:
            yield holder
        finally:
            holder.end()

    def take(self, job: str, members: Sequence[MemberId], steps: int) -> Lease:
        """Write a lease with a new token; call while holding `lock`."""
        lease = Lease(job, tuple(members), owner(), 0, steps, None, uuid.uuid4().hex[:12], True)
        self.write(lease)
        return lease

    def holds(self, lease: Lease) -> bool:
        """Whether the file still is this lease."""
        data = _read(self.folder / f"{lease.job}.json")
        return isinstance(data, dict) and data.get("token") == lease.token

    def write(self, lease: Lease) -> None:
        data = lease._asdict()
        del data["alive"]
        aside = self.folder / f".{lease.job}.{lease.token}"
        aside.write_text(json.dumps(data))
        aside.replace(self.folder / f"{lease.job}.json")

    def release(self, job: str) -> None:
        """Remove a job's lease, whoever holds it."""
        with suppress(FileNotFoundError):
            (self.folder / f"{job}.json").unlink()

    def record_failure(self, job: str, members: Sequence[MemberId], message: str, step: int = 0) -> int:
        """Remember a job's error at a step; forgotten when the job succeeds. Returns how many attempts in a row have
        failed without coming further than the one before."""
        self.failed_folder.mkdir(exist_ok=True)
        before = _read(self.failed_folder / f"{job}.json") or {}
        furthest = int(before.get("step", -1))
        further = step > furthest
        attempts = 1 if further else int(before.get("attempts", 0)) + 1
        said = {"message": message, "step": max(step, furthest), "attempts": attempts, "log": os.environ.get(LOG)}
        data = {"job": job, "members": list(members), **said, "owner": owner()}
        replace_text(self.failed_folder / f"{job}.json", json.dumps(data))
        return attempts

    def forget_failure(self, job: str) -> None:
        with suppress(FileNotFoundError):
            (self.failed_folder / f"{job}.json").unlink()

    def given_up(self) -> dict[MemberId, dict[str, Any]]:
        """Members of jobs that failed MOST_FAILURES times, and the last failure of each."""
        often = [f for f in self.failures() if int(f.get("attempts", 1)) >= MOST_FAILURES]
        return {(str(spec), int(seed)): f for f in often for spec, seed in f["members"]}

    def failures(self) -> list[dict[str, Any]]:
        """Jobs whose last attempt ended in an error."""
        found = []
        for file in sorted(self.failed_folder.glob("*.json")):
            try:
                data = _read(file) or {}
                members = [(str(spec), int(seed)) for spec, seed in data["members"]]
                found.append({**data, "job": str(data["job"]), "message": str(data["message"]), "members": members})
            except (KeyError, TypeError, ValueError):
                continue  # no failure
        return found

    def _alive(self, file: Path, who: dict[str, Any]) -> bool:
        if who.get("host") == _host():
            return _start_of(int(who["pid"])) == who["started"]
        # A time ahead of the file server's is of before its clock was set back: a living owner soon writes again.
        return abs(self._age(file)) < STALE_SECONDS

    def _age(self, file: Path) -> float:
        """Seconds since `file` was written, by the clock of the file server."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".now-") as now:
                return os.stat(now.name).st_mtime - file.stat().st_mtime
        except FileNotFoundError:
            return 0.0
        except OSError:  # a folder that may only be read: this machine's clock has to do
            return time.time() - file.stat().st_mtime

    def _break_if_dead(self, file: Path) -> None:
        who = _read(file)
        # A lock without content was created an instant ago, or its holder died before it could write.
        dead = abs(self._age(file)) > 5.0 if who is None else not self._alive(file, who)
        if dead:
            grave = self.folder / f".broken-{os.getpid()}-{time.monotonic_ns()}"
            with suppress(FileNotFoundError):
                os.rename(file, grave)  # only one of several breakers succeeds
                if _read(grave) != who:  # somebody else's fresh lock was hit: give it back
                    with suppress(FileExistsError):
                        os.link(grave, file)
                grave.unlink()


class Holder:
    """Keeps a lease fresh from a thread, so that a long step does not look like a death."""

    def __init__(self, leases: Leases, lease: Lease):
        self._leases, self.lease = leases, lease
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def report(self, step: int, seconds_left: float | None) -> None:
        """Progress to be written with the next beat."""
        self.lease = self.lease._replace(step=step, seconds_left=seconds_left)

    def require(self, finished: Callable[[], bool]) -> None:
        """Raise `LeaseLost` if another process has taken the job over, or finished it. A lease whose file is gone from
        an unfinished job is written again; only then `finished` is asked."""
        file = self._leases.folder / f"{self.lease.job}.json"
        if self._leases.holds(self.lease):
            return
        if file.exists() or finished():
            raise LeaseLost(self.lease.job)
        with suppress(OSError):
            self._leases.write(self.lease)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._leases.holds(self.lease):
            self._leases.release(self.lease.job)

    def _beat(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            with suppress(OSError):  # a full disk is reported by the commit, not by a heartbeat
                if self._leases.holds(self.lease):
                    self._leases.write(self.lease)


@cache
def _host() -> str:
    """This machine and process namespace: pids mean nothing outside."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return ":".join(parts)


def _start_of(pid: int) -> str | None:
    """When a process started (its pid may be reused), or None if there is none. A zombie counts as gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except (OSError, IndexError):
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "unknown"


def owner() -> dict[str, Any]:
    """This process, as leases name it."""
    return {"host": _host(), "pid": os.getpid(), "started": _start_of(os.getpid())}


def _read(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None

"""Leases say who works on what: several processes respect them on a plain shared folder, without a lock server.

    OUT/leases/<job>.json     held by one process: its members, host, pid, token, progress; rewritten every few seconds
    OUT/leases/.lock          held for an instant while a process looks at the leases and adds its own
    OUT/failed/<job>.json     the last error of a job, until it succeeds

A lease dies with its process: on the same host at once (the pid is gone or belongs to a later process), elsewhere when
it was not rewritten for a minute by the file server's clock, and everywhere after ten minutes (a process that was
stopped, or hangs); in a copy of the folder on one host at once (the lease names the folder that it was made in).
A process that was taken for dead and goes on finds
another's token in its lease before its next commit, and stops. Should it commit all the same, nothing is lost: parts
carry their lease's token in their names (see `store.parts`). Leases save work; they are not what keeps rows right.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from lopsided.core.errors import InputError
from lopsided.store import records
from lopsided.store.files import new_file, replace_text
from lopsided.store.owner import Owner, owner
from lopsided.store.owner import host as _host
from lopsided.store.owner import name_of as _name_of
from lopsided.store.owner import start_of as _start_of
from lopsided.store.records import Hash, Name, Seed, StrictRecord
from lopsided.store.survey import MemberId

LOG = "LOPSIDED_LOG"
"""Environment variable that names this process's log, for messages about its failures."""
# Twelve beats: a folder on a network may be a minute late, and a killed worker's job should not wait for longer.
BEAT_SECONDS = 5.0
STALE_SECONDS = 60.0
STOPPED_SECONDS = 600.0
"""A living process that has not rewritten its lease for so long does not work on it: it was stopped, or hangs."""
LOCK_PATIENCE = 120.0
"""Without a change of holder: while others come and go, nobody gives up."""
MOST_FAILURES = 3
"""Attempts in a row, none of which came further than the one before, after which workers leave a job alone."""


class LeaseRecord(StrictRecord):
    """What a lease file says."""

    job: Name
    members: tuple[tuple[Hash, Seed], ...]
    owner: Owner
    step: int
    steps: int
    seconds_left: float | None
    token: Annotated[str, Field(pattern="^[0-9a-z]{1,32}$")]

    @property
    def stem(self) -> str:
        return self.job


class FailureRecord(StrictRecord):
    """What a failure's file says."""

    job: Name
    members: tuple[tuple[Hash, Seed], ...]
    message: str
    step: int
    attempts: int
    log: str | None
    owner: Owner

    @property
    def stem(self) -> str:
        return self.job


class Lease(NamedTuple):
    """What a lease file says; `alive` is judged by the reader."""

    job: str
    members: tuple[MemberId, ...]
    owner: Owner
    step: int
    steps: int
    seconds_left: float | None
    token: str
    alive: bool

    @property
    def host(self) -> str:
        """Name of the owner's machine."""
        return self.owner.host.split(":")[0]


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
        holder, since, pause = None, time.monotonic(), 0.01
        while True:
            try:
                with new_file(file) as opened:
                    opened.write(owner(self.folder).model_dump_json().encode())
                break
            except FileExistsError:
                self._break_if_dead(file)
                now = _stamp_of(file)
                if now != holder:
                    holder, since = now, time.monotonic()
                if time.monotonic() - since > LOCK_PATIENCE:
                    raise InputError(
                        f"out: {file} has been held by one process for {LOCK_PATIENCE:.0f} s; it may be stopped"
                    ) from None
                time.sleep(pause * (0.5 + random.random()))  # by chance: who waits long is as near as who just came
                pause = min(2 * pause, 0.2)
        try:
            yield
        finally:
            with suppress(FileNotFoundError):
                file.unlink()

    def all(self) -> list[Lease]:
        """Every lease, dead ones too. A file that is no lease is not one."""
        found = []
        for file, said in records.all_of(self.folder, LeaseRecord):
            if said is not None:
                with suppress(OSError):  # released just now
                    found.append(Lease(**{**dict(said), "alive": self._alive(file, said.owner)}))
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
        token = uuid.uuid4().hex[:12]
        lease = Lease(job, tuple(members), owner(self.folder), 0, steps, None, token, True)
        self.write(lease)
        return lease

    def holds(self, lease: Lease) -> bool:
        """Whether the file still is this lease."""
        said = records.read(self.folder / f"{lease.job}.json", LeaseRecord)
        return said is not None and said.token == lease.token

    def write(self, lease: Lease) -> None:
        said = LeaseRecord(**{name: value for name, value in lease._asdict().items() if name != "alive"})
        replace_text(self.folder / f"{lease.job}.json", said.model_dump_json())

    def release(self, job: str) -> None:
        """Remove a job's lease, whoever holds it."""
        with suppress(FileNotFoundError):
            (self.folder / f"{job}.json").unlink()

    def record_failure(self, job: str, members: Sequence[MemberId], message: str, step: int = 0) -> int:
        """Remember a job's error at a step; forgotten when the job succeeds. Returns how many attempts in a row have
        failed without coming further than the one before."""
        self.failed_folder.mkdir(exist_ok=True)
        before = records.read(self.failed_folder / f"{job}.json", FailureRecord)
        further = before is None or step > before.step
        attempts = 1 if before is None or further else before.attempts + 1
        said = FailureRecord(
            job=job,
            members=tuple(members),
            message=message,
            step=step if before is None else max(step, before.step),
            attempts=attempts,
            log=os.environ.get(LOG),
            owner=owner(self.failed_folder),
        )
        replace_text(self.failed_folder / f"{job}.json", said.model_dump_json())
        return attempts

    def forget_failure(self, job: str) -> None:
        with suppress(FileNotFoundError):
            (self.failed_folder / f"{job}.json").unlink()

    def given_up(self) -> dict[MemberId, FailureRecord]:
        """Members of jobs that failed MOST_FAILURES times, and the last failure of each."""
        often = [failure for failure in self.failures() if failure.attempts >= MOST_FAILURES]
        return {member: failure for failure in often for member in failure.members}

    def failures(self) -> list[FailureRecord]:
        """Jobs whose last attempt ended in an error."""
        return [said for _, said in records.all_of(self.failed_folder, FailureRecord) if said is not None]

    def _alive(self, file: Path, who: Owner) -> bool:
        # A time ahead of the file server's is of before its clock was set back: a living owner soon writes again.
        age = abs(self._age(file))
        if who.host == _host():
            here = who.folder in ("", _name_of(self.folder))
            return here and age < STOPPED_SECONDS and _start_of(who.pid) == who.started
        return age < STALE_SECONDS

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
        who = records.read(file, Owner)
        # A lock without content was created an instant ago, or its holder died before it could write.
        dead = abs(self._age(file)) > 5.0 if who is None else not self._alive(file, who)
        if dead:
            grave = self.folder / f".broken-{os.getpid()}-{time.monotonic_ns()}"
            with suppress(FileNotFoundError):
                os.rename(file, grave)  # only one of several breakers succeeds
                if records.read(grave, Owner) != who:  # somebody else's fresh lock was hit: give it back
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

    def begin(self, step: int) -> None:
        """Write the step at which a job is resumed into its lease, without waiting for the next beat: compiling may
        take minutes, and `status` would show step 0 meanwhile."""
        self.report(step, None)
        self._write()

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
            self._write()

    def _write(self) -> None:
        with suppress(OSError):  # a full disk is reported by the commit, not by a heartbeat
            if self._leases.holds(self.lease):
                self._leases.write(self.lease)


def _stamp_of(file: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns

"""The one place that joins the parts: specs -> jobs -> engines -> rows -> store."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from lopsided.core.code import code_digests, look_again
from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.errors import Stopped
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.engines import checkpoints, devices
from lopsided.engines.choosing import engine_for, require_engines
from lopsided.store.index import Summary
from lopsided.store.leases import MOST_FAILURES, Holder, Lease, LeaseLost, Leases
from lopsided.store.parts import Store, job_name
from lopsided.store.survey import MemberId
from lopsided.work.clock import Clock
from lopsided.work.commits import Commits
from lopsided.work.done import Done, Request
from lopsided.work.jobs import cut, effort, wanted_members
from lopsided.work.rows import member_id, rows_of

SLICE_SECONDS = 1.0
"""How long a stop request or a due commit waits at most for a stretch of training (one step, if that takes longer)."""
FEW_SECONDS = 5.0  # of computing, from which on the job in hand has a speed of its own: jobs differ by a factor of 20
WAIT_SECONDS = 0.5  # between looks at work that other processes hold


def run(
    specs: Sequence[Spec],
    seeds: int | Sequence[int],
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    execution: Execution = DEFAULT,
    stop: threading.Event | None = None,
    job_size: int | None = None,
    keep_going: bool = False,
) -> Done:
    """Train every (spec, seed) that the store does not hold yet; returns when all of them are complete.

    Members whose specs differ only in traced fields and skill distributions train as one ensemble, cut into jobs of at
    most `job_size` members (see `work.jobs`). Several processes may run the same on one folder: each takes leases on
    the jobs that it trains, and takes over those of a process that died. An interrupted job goes on from its last
    commit. Setting `stop` commits and raises `Stopped`. With `keep_going` a job that fails is tried again, here or
    elsewhere, and left alone after MOST_FAILURES attempts (`lopsided.store.leases`); the rest is trained all the same.
    """
    request = Request(specs, seeds, store, progress, execution, stop or threading.Event(), job_size)
    return train(request, keep_going)


def train(request: Request, keep_going: bool = False) -> Done:
    """Carry out a request in this process; see `run`."""
    r = request
    wanted = wanted_members(r.specs, r.seeds)
    return _Work(r.store, wanted, r.execution, r.progress, r.stop, r.job_size, keep_going).done()


def run_members(wanted: Sequence[Member], store: Store, execution: Execution) -> Done:
    """`run` for members whose specs need not all have the same seeds."""
    return _Work(store, wanted, execution).done()


@dataclass
class _Work:
    """One `run` call: what is wanted, and what this process has done of it."""

    store: Store
    wanted: Sequence[Member]
    execution: Execution
    progress: Callable[[Progress], None] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    job_size: int | None = None
    keep_going: bool = False

    def __post_init__(self) -> None:
        look_again()
        self.began = time.perf_counter()
        self.leases = Leases(self.store.root)
        self.failed_in_a_row = 0
        self.all_effort, self.own_effort = effort(self.wanted), 0.0
        self.computing, self.compiling, self.jobs_done, self.jobs_left = 0.0, 0.0, 0, 0
        self.in_hand: tuple[Engine, float] | None = None
        self.backlog = 0.0
        """Effort that is missing outside the job in hand."""

    def done(self) -> Done:
        """Train what is missing: lease and train job after job until nothing is."""
        self.store.require_writable()
        self.store.require_readable()
        missing = self.missing()
        if not missing:
            return Done(0, len(self.wanted), 0.0, 0)
        devices.setup(len(missing), self.execution.batch_devices)
        require_engines({id(m.spec): m.spec for m in missing}.values(), self.execution)
        trained = diverged = 0
        jobs = cut(self.wanted, self.job_size)
        self._clean()
        while True:
            job, lease, left = self._lease(jobs)
            if lease:
                found = self._train(job, lease)
                if found is not None:
                    diverged += found
                    trained += len(job)
            elif not left:
                seconds = time.perf_counter() - self.began
                return Done(trained, len(self.wanted) - trained, seconds, diverged)
            else:
                self._show((), 0, 0, None)
                if self.stop.wait(WAIT_SECONDS):
                    raise Stopped

    def missing(self, only_new: bool = False) -> list[Member]:
        """Wanted members that no sound part completes. `only_new`: see `Store.survey_new`."""
        complete = (self.store.survey_new() if only_new else self.store.survey()).complete
        return [m for m in self.wanted if member_id(m) not in complete]

    def _clean(self) -> None:
        """Remove what killed processes left, unless somebody is working right now, and set damaged parts aside: nobody
        reads or overwrites those, whoever works."""
        with self.leases.lock():
            if not any(lease.alive for lease in self.leases.all()):
                self.store.sweep()
        damages = self.store.survey().damaged
        for damage in damages:
            tell(f"{damage.folder}: {damage.reason}; set aside, computed anew")
        self.store.set_aside(damages)

    def _lease(self, jobs: Sequence[Sequence[Member]]) -> tuple[list[Member], Lease | None, int]:
        """The next job that nobody else works on, its lease, and how many members are missing altogether.

        The folder is looked through before the lock, which is then held for a look at its names alone: 10,000 parts on
        a slow disk take seconds, and with those under the lock half of 20 processes gave up waiting for it.
        """
        self.missing()
        with self.leases.lock():
            missing = {member_id(m) for m in self.missing(only_new=True)} - self._given_up()
            leases = self.leases.all()
            for lease in leases:
                if not lease.alive and not missing & set(lease.members):
                    self.leases.release(lease.job)  # its process died between its last commit and its release
            taken = {member for lease in leases if lease.alive for member in lease.members}
            left = [m for m in self.wanted if member_id(m) in missing]
            self.backlog, self.jobs_left = (
                effort(left),
                sum(any(member_id(m) in missing for m in job) for job in jobs) - 1,
            )
            for whole in self._unlucky_last(jobs):
                if job := [m for m in whole if member_id(m) in missing and member_id(m) not in taken]:
                    ids = [member_id(m) for m in job]
                    self.backlog -= effort(job)
                    if self._died(job_name(ids), leases):
                        continue
                    return job, self.leases.take(job_name(ids), ids, job[0].spec.steps), len(missing)
            return [], None, len(missing)

    def _given_up(self) -> set[MemberId]:
        return set(self.leases.given_up()) if self.keep_going else set()

    def _unlucky_last(self, jobs: Sequence[Sequence[Member]]) -> Sequence[Sequence[Member]]:
        """Jobs that failed come after the others: one that kills its worker must not stop the rest."""
        if not self.keep_going:
            return jobs
        failed = {member for failure in self.leases.failures() for member in failure.members}
        return sorted(jobs, key=lambda job: member_id(job[0]) in failed) if failed else jobs

    def _died(self, job: str, leases: Sequence[Lease]) -> bool:
        """Count the death of the process that worked on a job; whether that was once too often."""
        dead = next((lease for lease in leases if lease.job == job and not lease.alive), None)
        if dead is None or not self.keep_going:
            return False
        who = f"its process died (pid {dead.owner.pid}, {dead.host})"
        self.leases.release(job)
        return self.leases.record_failure(job, dead.members, who, dead.step) >= MOST_FAILURES

    def _train(self, members: Sequence[Member], lease: Lease) -> int | None:
        """Train a leased job to its end, committing on the way. Returns the number of diverged members, or None if
        another process took the job over."""
        with self.leases.hold(lease) as holder:
            try:
                diverged = self._train_held(members, holder)
            except LeaseLost:
                tell(f"job {lease.job}: another process works on it or finished it; left to that one")
                return None
            except (Stopped, KeyboardInterrupt):
                raise
            except Exception as error:
                with suppress(OSError):  # the folder may be what failed
                    message = f"{type(error).__name__}: {error}"
                    self.leases.record_failure(lease.job, lease.members, message, holder.lease.step)
                self.failed_in_a_row += 1
                if not self.keep_going or self.failed_in_a_row == MOST_FAILURES:  # it may be this machine's fault
                    raise
                traceback.print_exc()
                return None
            self.failed_in_a_row = 0
            self.leases.forget_failure(lease.job)
            return diverged

    def _train_held(self, members: Sequence[Member], holder: Holder) -> int:
        self._show(members, 0, 0, None)
        clock, job = Clock(), holder.lease.job
        engine = engine_for(members[0].spec, self.execution)(members, self.execution)
        codes = code_digests({id(member.spec): member.spec for member in members}.values())
        found = self.store.resume_point(job, codes)
        if found.finished:
            raise LeaseLost(job)
        for reason in found.passed:
            tell(reason)
        committed, parent = 0, ""
        if found.part is not None:
            committed, parent = self._restore(engine, found.part)
        first = engine.position
        began = time.perf_counter()
        engine.compile()
        clock.compiled(engine)
        self.compiling += time.perf_counter() - began
        self.jobs_done, self.in_hand = self.jobs_done + 1, (engine, engine.seconds)
        with Commits(self.store, members, self.execution, holder, codes) as commits:
            diverged = self._to_the_end(members, engine, commits, clock, committed, parent)
        self.own_effort += effort(members, engine.spec.steps - first)
        self.computing, self.in_hand = self._computing(), None
        if self.stop.is_set():
            raise Stopped
        return diverged

    def _to_the_end(
        self, members: Sequence[Member], engine: Engine, commits: Commits, clock: Clock, committed: int, parent: str
    ) -> int:
        """Train, commit and report; returns how many members diverged."""
        first, diverged = engine.position, 0
        pending: list[dict[str, np.ndarray]] = []
        last_commit = time.perf_counter()
        for evaluated in engine.run(SLICE_SECONDS):
            if evaluated is not None:
                pending.append(rows_of(members, evaluated))
                clock.evaluated(engine, evaluated)
                gone = int((evaluated.diverged >= 0).sum())
                diverged = gone if evaluated.who is None else diverged + gone
            final = engine.finished
            due = time.perf_counter() - last_commit > self.execution.commit_seconds
            stopping = self.stop.is_set()  # looked at once: a signal between commit and raise must not lose steps
            if (final or due or stopping) and engine.step > committed:
                taken, began = clock.taken(engine), time.perf_counter()
                parent = commits.commit(engine, committed, parent, pending, final, taken)
                clock.committed(began)
                pending, last_commit, committed = [], time.perf_counter(), engine.step
            left = self._show(members, engine.position, first, evaluated)
            commits.holder.report(engine.position, left)
            if stopping and not final:
                commits.wait()
                raise Stopped
        return diverged

    def _restore(self, engine: Engine, part: Summary) -> tuple[int, str]:
        """Put the engine where a part ended; its step and its name."""
        folder = self.store.path(part) / "state"
        try:
            state = checkpoints.restore(folder, engine.state)
        except Exception:
            if folder.is_dir():
                raise
            raise LeaseLost(part.job) from None  # the process that we took for dead has gone on, and dropped it
        engine.restore(part.step, part.seconds, state)
        return part.step, part.folder

    def _computing(self) -> float:
        """Seconds that engines have computed, the job in hand included; compilation is none of them."""
        if self.in_hand is None:
            return self.computing
        engine, before = self.in_hand
        return self.computing + engine.seconds - before

    def _show(self, members: Sequence[Member], step: int, first: int, evaluated: Evaluated | None) -> float | None:
        """Tell the caller how far `members` are, having begun at `first`; returns the estimated seconds left: the job
        in hand at its own speed, those to come at that of all, with a compilation for each."""
        now = effort(members, step - first)
        own, rest_of_job = self.own_effort + now, effort(members) - effort(members, step)
        rest = self.backlog + rest_of_job
        seconds = time.perf_counter() - self.began
        compiling = self.jobs_left * self.compiling / max(self.jobs_done, 1)
        spent = self._computing() - self.computing
        usual = self._computing() / own if own else 0.0
        here = spent / now if now and spent > FEW_SECONDS else usual
        left = self.backlog * usual + rest_of_job * here + compiling if own else None
        if self.progress is not None and (evaluated is not None or step == first):
            steps = members[0].spec.steps if members else 0
            done = 1 - rest / max(self.all_effort, 1)
            self.progress(Progress(step, steps, members, evaluated, seconds, done, left))
        return left

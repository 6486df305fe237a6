"""The head of a run whose members are trained elsewhere: it writes the order, keeps workers alive, and watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from lopsided.core.errors import InputError, Stopped
from lopsided.core.progress import Progress
from lopsided.core.telling import counted, tell
from lopsided.engines.choosing import require_engines
from lopsided.executors import orders
from lopsided.executors.base import Executor
from lopsided.store.leases import MOST_FAILURES, Lease, Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.work.done import Done, Request
from lopsided.work.jobs import wanted_members
from lopsided.work.rows import member_id

LOOK_SECONDS = 1.0
"""Time between looks at the folder: parts take a minute or so to come."""
LAST_COMMIT_SECONDS = 60.0
"""How long a head waits at its deadline for its workers' last commits."""
FIRST_SECONDS = 10.0
"""Seconds of training before a head says how much time is left by its speed: leases are rewritten every five seconds,
so that what it sees comes in steps."""
MOST_DEATHS = 10
"""Times that all workers may be replaced without anything being committed."""


class Wanted:
    """The members that a head was asked for, and what is still missing of them."""

    def __init__(self, request: Request):
        self.store, self.progress, self._began = request.store, request.progress, time.perf_counter()
        self.members = wanted_members(request.specs, request.seeds)
        self.steps = {member_id(m): m.spec.steps for m in self.members}
        self.names = set(self.steps)
        self.first = len(self.missing())
        """How many were missing at the beginning."""
        self._open = self.first - self._half_done(self.missing(), self._held(self.missing()))
        self._moved: tuple[float, float] | None = None
        """When members were first seen to come further (seconds after the beginning), and how much was open then."""

    def missing(self) -> set[MemberId]:
        """Members that are not complete yet."""
        return self.names - set(self.store.complete())

    def show(self) -> None:
        """Tell the caller how far the members are."""
        if self.progress is None:
            return
        missing, seconds = self.missing(), time.perf_counter() - self._began
        held = self._held(missing)
        open_ = len(missing) - self._half_done(missing, held)
        if self._moved is None and open_ < self._open:
            self._moved = seconds, open_
        left = self._left(missing, held, open_, seconds)
        self.progress(Progress(0, 0, (), None, seconds, 1 - open_ / len(self.names), left))

    def _held(self, missing: set[MemberId]) -> list[Lease]:
        """Leases of living processes that train some of these members."""
        return [lease for lease in Leases(self.store.root).all() if lease.alive and missing & set(lease.members)]

    def _left(self, missing: set[MemberId], held: Sequence[Lease], open_: float, seconds: float) -> float | None:
        """Seconds left: what the workers say if they train all that is missing, as `status` does; otherwise by the
        speed since something moved, which is after workers came, started and compiled. None while nobody knows."""
        said = [lease.seconds_left for lease in held]
        if missing and missing <= {member for lease in held for member in lease.members} and None not in said:
            return max(left for left in said if left is not None)
        if self._moved is None:
            return None
        since, then = self._moved
        known = then > open_ and seconds - since > FIRST_SECONDS
        return (seconds - since) * open_ / (then - open_) if known else None

    def _half_done(self, missing: set[MemberId], held: Sequence[Lease]) -> float:
        """How many members' worth of steps are made of those that are missing: under way, or committed, also by an
        earlier command, so that nothing of before counts as made now."""
        made = {name: step for name, step in self.store.survey_new().half_done.items() if name in missing}
        for lease in held:
            made |= {name: max(lease.step, made.get(name, 0)) for name in missing.intersection(lease.members)}
        return sum(min(max(step / self.steps[name], 0.0), 1.0) for name, step in made.items())

    def done(self) -> Done:
        """What was trained, at the end."""
        seconds = time.perf_counter() - self._began if self.first else 0.0
        return Done(self.first, len(self.names) - self.first, seconds, 0)


class Cluster:
    """Trains on an executor's workers: a `Runner`."""

    def __init__(self, executor: Executor, target: str, deadline: float | None = None):
        self.executor, self.target, self.deadline = executor, target, deadline

    def __call__(self, request: Request) -> Done:
        """Returns when all members are complete. Setting `stop` raises `Stopped`; the workers go on. Raises
        `InputError` if jobs were given up, or if workers die as soon as they start."""
        store, wanted = request.store, Wanted(request)
        if not wanted.first:
            return wanted.done()
        leases = Leases(store.root)
        for member, failure in leases.given_up().items():
            if member in wanted.names:
                leases.forget_failure(failure.job)
        require_engines(request.specs, request.execution)
        order = orders.of(
            self.target,
            request.specs,
            request.seeds,
            execution=request.execution.model_dump_json(),
            job_size=request.job_size,
            deadline=self.deadline,
        )
        orders.write(store, order)
        self._watch(store, order, wanted, request.stop)
        orders.remove(store, order)
        return wanted.done()

    def _watch(self, store: Store, order: orders.Order, wanted: Wanted, stop: threading.Event) -> None:
        """Until everything is complete or given up."""
        parts, started, told = -1, 0, False
        while not orders.finished(store, wanted.names):
            if said := orders.refused(store, order):
                raise InputError(f"--on {self.executor.name}: {said}")
            if orders.withdrawn(store, order) and not orders.finished(store, wanted.names):  # a worker removes it too
                tell("the order was withdrawn (lopsided worker --stop, or time is over)")
                raise Stopped
            lacking = self.executor.workers - self.executor.count()
            if lacking > 0:
                now = len(store.parts())
                started = lacking if now != parts else started + lacking
                parts = now
                if started > MOST_DEATHS * self.executor.workers:
                    orders.remove(store, order)
                    raise InputError(f"--on {self.executor.name}: workers end at once; see {self.executor.logs()}")
                self.executor.start(lacking)
            if not told and not self.executor.living():
                told = True
                tell(f"no worker lives in this folder; `lopsided worker --out {store.root}` starts one")
            wanted.show()
            if stop.wait(LOOK_SECONDS):
                raise Stopped(self._leave(store))
        self._require_complete(store, wanted)

    def _leave(self, store: Store) -> str:
        """The head goes; what to say. Workers go on; at the deadline they end, and are waited for until they have
        committed."""
        if self.deadline is None or time.time() < self.deadline:
            if not (living := self.executor.living()):
                return "this command has stopped, and no worker lives. The order stays; workers that come carry it out."
            return (
                f"this command has stopped; its {counted(living, 'worker')} {'goes' if living == 1 else 'go'} on, and "
                f"`lopsided worker --stop --out {store.root}` ends what works there. The same command watches again."
            )
        until = time.monotonic() + LAST_COMMIT_SECONDS
        while any(lease.alive and lease.members for lease in Leases(store.root).all()) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        return ""

    def _require_complete(self, store: Store, wanted: Wanted) -> None:
        """Raise `InputError` for what was given up."""
        missing = wanted.missing()
        given_up = Leases(store.root).given_up()
        lost = {failure.job: failure for member, failure in given_up.items() if member in missing}
        for failure in lost.values():
            log = f"; log: {failure.log}" if failure.log else ""
            tell(f"job {failure.job}: {failure.message}{log}")
        if lost:
            raise InputError(
                f"--on {self.executor.name}: {len(lost)} jobs failed {MOST_FAILURES} times and were given up: "
                f"{', '.join(sorted(lost))}; everything else is committed"
            )

"""The head of a run whose members are trained elsewhere: it writes the order, keeps workers alive, and watches."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lopsided.core.engine import Member
from lopsided.core.errors import InputError, Stopped
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.spec import Spec
from lopsided.executors.base import Executor
from lopsided.runs import orders
from lopsided.runs.done import Done
from lopsided.runs.jobs import cut, wanted_members
from lopsided.runs.rows import member_id
from lopsided.store.leases import MOST_FAILURES, Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId
from lopsided.store.transfer import adopt

LOOK_SECONDS = 1.0
LAST_COMMIT_SECONDS = 60.0
"""How long a head waits at its deadline for its workers' last commits."""
MOST_DEATHS = 10
"""Times that all workers may be replaced without anything being committed."""


class Cluster:
    """Trains on an executor's workers; called like `lopsided.runs.worker.run`."""

    def __init__(self, executor: Executor, workers: int, target: str, deadline: float | None = None):
        self.executor, self.workers, self.target, self.deadline = executor, workers, target, deadline

    def __call__(
        self,
        specs: Sequence[Spec],
        seeds: int | Sequence[int],
        store: Store,
        progress: Callable[[Progress], None] | None = None,
        execution: Execution = DEFAULT,
        stop: threading.Event | None = None,
        job_size: int | None = None,
    ) -> Done:
        """Returns when all members are complete. Setting `stop` raises `Stopped`; the workers go on. Raises
        `InputError` if jobs were given up, or if workers die as soon as they start."""
        wanted, began = wanted_members(specs, seeds), time.perf_counter()
        names = {member_id(m) for m in wanted}
        missing = len(names - set(store.complete()))
        if not missing:
            return Done(0, len(names), 0.0, 0)
        leases = Leases(store.root)
        for member, failure in leases.given_up().items():
            if member in names:
                leases.forget_failure(failure["job"])
        details = {"execution": execution.model_dump_json(), "job_size": job_size, "deadline": self.deadline}
        order = orders.of(self.target, specs, seeds, **details)
        if getattr(self.executor, "shares_folder", True):
            orders.write(store, order)
            self._watch(store, order, specs, wanted, progress, stop or threading.Event(), began)
            orders.remove(store, order)
        else:
            try:
                self._send(store, wanted, order, progress, stop or threading.Event(), began)
            finally:
                self.executor.release()
        return Done(missing, len(names) - missing, time.perf_counter() - began, 0)

    def _watch(
        self, store: Store, order: orders.Order, specs: Any, wanted: Any, progress: Any, stop: Any, began: float
    ) -> None:
        """Until everything is complete or given up."""
        names = {member_id(m) for m in wanted}
        parts, started = -1, 0
        first = len(names - set(store.complete()))
        while not orders.finished(store, specs, order.seeds):
            if said := orders.refused(store, order):
                raise InputError(f"--on {self.executor.name}: {said}")
            if orders.withdrawn(store, order) and not orders.finished(store, specs, order.seeds):
                print("lopsided: the order was withdrawn (lopsided worker --stop, or time is over)", file=sys.stderr)
                raise Stopped
            lacking = self.workers - self.executor.count()
            if lacking > 0:
                now = len(store.parts())
                started = lacking if now != parts else started + lacking
                parts = now
                if started > MOST_DEATHS * self.workers:
                    orders.remove(store, order)
                    raise InputError(f"--on {self.executor.name}: workers end at once; see {self.executor.logs()}")
                self.executor.start(lacking)
            self._show(store, names, first, progress, began)
            if stop.wait(LOOK_SECONDS):
                self._leave(store)
                raise Stopped
        self._require_complete(store, names)

    def _leave(self, store: Store) -> None:
        """The head goes. Workers go on; at the deadline they end, and are waited for until they have committed."""
        if self.deadline is None or time.time() < self.deadline:
            print("lopsided: workers go on; lopsided worker --stop ends them", file=sys.stderr)
            return
        until = time.monotonic() + LAST_COMMIT_SECONDS
        while any(lease.alive and lease.members for lease in Leases(store.root).all()) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def _show(self, store: Store, names: set, first: int, progress: Any, began: float) -> None:
        missing = len(names - set(store.complete()))
        seconds = time.perf_counter() - began
        left = seconds * missing / (first - missing) if missing < first else None
        if progress is not None:
            progress(Progress(0, 0, (), None, seconds, 1 - missing / len(names), left))

    def _require_complete(self, store: Store, names: set) -> None:
        """Raise `InputError` for what was given up."""
        found = {f["job"]: f for member, f in Leases(store.root).given_up().items() if member in names}
        lost = {f["job"]: f for f in found.values() if {tuple(m) for m in f["members"]} - set(store.complete())}
        for failure in lost.values():
            log = f"; log: {failure['log']}" if failure.get("log") else ""
            print(f"lopsided: job {failure['job']}: {failure['message']}{log}", file=sys.stderr)
        if lost:
            raise InputError(
                f"--on {self.executor.name}: {len(lost)} jobs failed {MOST_FAILURES} times and were given up: "
                f"{', '.join(sorted(lost))}; everything else is committed"
            )

    def _send(
        self, store: Store, wanted: Sequence[Member], order: orders.Order, progress: Any, stop: Any, began: float
    ) -> None:
        """Jobs to actors that do not see the folder, one each at a time; their parts come back and are committed
        here. A lost actor's job goes to another; a job that fails is tried three times and left."""
        from lopsided.executors.ray import library

        ray = library()
        executor: Any = self.executor
        store.require_writable()
        names = {member_id(m) for m in wanted}
        first, attempts = len(names - set(store.complete())), Counter[MemberId]()
        running: dict[Any, tuple[str, list[Member]]] = {}
        lost: dict[MemberId, str] = {}
        while missing := names - set(store.complete()) - set(lost):
            if executor.count() < self.workers:
                executor.start(self.workers - executor.count())
            sent = {member_id(m) for _, job in running.values() for m in job}
            left = [m for m in wanted if member_id(m) in missing - sent]
            busy = {actor for actor, _ in running.values()}
            for (name, handle), job in zip(
                [(n, h) for n, h in executor.actors().items() if n not in busy], cut(left, order.job_size), strict=False
            ):
                members = [(m.spec.canonical_json(), m.seed) for m in job]
                running[executor.submit(handle, order.target, members, order.execution)] = name, job
            ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK_SECONDS) if running else ([], [])
            for future in ready:
                _, job = running.pop(future)
                try:
                    adopt(store, ray.get(future))
                except ray.exceptions.RayError as error:
                    first_member = member_id(job[0])
                    attempts[first_member] += 1
                    most = MOST_FAILURES if isinstance(error, ray.exceptions.RayTaskError) else MOST_DEATHS
                    if attempts[first_member] >= most:
                        lost |= dict.fromkeys(map(member_id, job), str(error).strip().splitlines()[-1])
            self._show(store, names, first, progress, began)
            if stop.wait(0 if running else LOOK_SECONDS):
                raise Stopped
        if lost:
            raise InputError(f"--on ray: {len(lost)} members were given up ({next(iter(lost.values()))})")

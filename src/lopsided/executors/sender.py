"""The head of a run whose actors do not see the store's folder: it sends them jobs and commits what they send back."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lopsided.core.engine import Member
from lopsided.core.errors import InputError, Stopped
from lopsided.executors.head import LOOK_SECONDS, MOST_DEATHS, Wanted
from lopsided.executors.ray import Ray, library
from lopsided.store.leases import MOST_FAILURES
from lopsided.store.survey import MemberId
from lopsided.store.transfer import adopt
from lopsided.work.done import Done, Request
from lopsided.work.jobs import cut
from lopsided.work.rows import member_id


class Sender:
    """Sends each actor one job at a time: a `Runner`. The job of a lost actor goes to another one."""

    def __init__(self, executor: Ray, target: str):
        self.executor, self.target = executor, target

    def __call__(self, request: Request) -> Done:
        """Returns when all members are complete. Setting `stop` ends the actors and raises `Stopped`. Raises
        `InputError` if members were given up: after three failures, or ten lost actors."""
        wanted = Wanted(request)
        if wanted.first:
            request.store.require_writable()
            try:
                _Sending(self.executor, self.target, wanted, request).finish()
            finally:
                self.executor.end_actors()
        return wanted.done()


class _Sending:
    """One call of a `Sender`."""

    def __init__(self, executor: Ray, target: str, wanted: Wanted, request: Request):
        self.executor, self.target, self.wanted, self.store = executor, target, wanted, request.store
        self.execution, self.job_size = request.execution.model_dump_json(), request.job_size
        self.stop = request.stop
        self.running: dict[Any, tuple[str, list[Member]]] = {}
        """Jobs under way: for the future of a job's parts, the name of its actor and the members it trains."""
        self.failures = Counter[MemberId]()
        self.lost: dict[MemberId, str] = {}
        """Members that were given up, and why."""

    def finish(self) -> None:
        """Send and receive until all members are complete or given up."""
        ray, stop = library(), self.stop
        while missing := self.wanted.missing() - set(self.lost):
            self._send(missing)
            self.wanted.show()
            if not self.running:
                if stop.wait(LOOK_SECONDS):
                    raise Stopped
                continue
            for future in ray.wait(list(self.running), num_returns=1, timeout=LOOK_SECONDS)[0]:
                self._receive(future)
            if stop.is_set():
                raise Stopped
        if self.lost:
            reason = next(iter(self.lost.values()))
            raise InputError(f"--on ray: {len(self.lost)} members were given up ({reason})")

    def _send(self, missing: set[MemberId]) -> None:
        """A job for every actor that has none."""
        actors = self.executor.actors()
        if len(actors) < self.executor.workers:
            self.executor.start(self.executor.workers - len(actors))
            actors = self.executor.actors()
        busy = {name for name, _ in self.running.values()}
        free = [(name, handle) for name, handle in actors.items() if name not in busy]
        if not free:
            return
        sent = {member_id(m) for _, job in self.running.values() for m in job}
        left = [m for m in self.wanted.members if member_id(m) in missing - sent]
        for (name, handle), job in zip(free, cut(left, self.job_size), strict=False):
            members = [(m.spec.canonical_json(), m.seed) for m in job]
            self.running[handle.job.remote(self.target, members, self.execution)] = name, job

    def _receive(self, future: Any) -> None:
        """Commit what came back, or count the failure."""
        ray = library()
        _, job = self.running.pop(future)
        try:
            adopt(self.store, ray.get(future))
        except ray.exceptions.RayError as error:
            first = member_id(job[0])
            self.failures[first] += 1
            most = MOST_FAILURES if isinstance(error, ray.exceptions.RayTaskError) else MOST_DEATHS
            if self.failures[first] >= most:
                self.lost |= dict.fromkeys(map(member_id, job), str(error).strip().splitlines()[-1])

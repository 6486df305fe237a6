"""How much time a run needs, as one of its processes sees it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from lopsided.core.engine import Engine, Member
from lopsided.work.jobs import effort

FEW_SECONDS = 5.0
"""Seconds of computing from which on the job in hand has a speed of its own: jobs differ by a factor of 20."""
A_SECOND = 1.0
"""Seconds of computing before any time is said: the first steps of a program are slower, and of sixty steps of 30,000
two and a half times too much was made."""


class Left(NamedTuple):
    """How far a run is, and the seconds until its last member is complete."""

    done: float
    """Share of all effort that is done, by whomever."""
    seconds: float | None
    """None until there is a speed."""


class TimeLeft:
    """Estimates when the last of a run's members is complete.

    The job in hand goes on at its own speed. What is left outside it goes at the speed of all jobs so far, with a
    compilation for each, and is shared by the processes that work on it now, as if all were as fast as this one.
    """

    def __init__(self, wanted: Sequence[Member]):
        self.began = time.perf_counter()
        self.all_effort, self.own_effort = effort(wanted), 0.0
        self.backlog, self.processes, self.jobs_left = 0.0, 1, 0
        self.computing, self.compiling, self.jobs_done = 0.0, 0.0, 0
        self.in_hand: tuple[Engine, float] | None = None

    def look(self, backlog: float, jobs_left: int, processes: int) -> None:
        """Note what is missing as a job begins: effort outside it, and by how many processes it is shared."""
        self.backlog, self.jobs_left, self.processes = backlog, jobs_left, processes

    def begin(self, engine: Engine, compiling: float) -> None:
        """Note that a job steps now, and the seconds that it took to compile."""
        self.compiling += compiling
        self.jobs_done, self.in_hand = self.jobs_done + 1, (engine, engine.seconds)

    def end(self, made: float) -> None:
        """Note that the job in hand has ended, and the effort that it was."""
        self.own_effort += made
        self.computing, self.in_hand = self._computing(), None

    def after(self, members: Sequence[Member], step: int, first: int) -> Left:
        """What is left when `members`, the job in hand, are at `step`, having begun at `first`."""
        there = effort(members, step)
        now, rest_of_job = there - effort(members, first), effort(members) - there
        own, spent = self.own_effort + now, self._computing() - self.computing
        elsewhere = max(self.backlog - (self.processes - 1) * now, 0.0)  # others have done as much in the meantime
        done = 1 - (elsewhere + rest_of_job) / max(self.all_effort, 1)
        if not own or self._computing() < A_SECOND:
            return Left(done, None)
        usual = self._computing() / own
        here = rest_of_job * (spent / now if now and spent > FEW_SECONDS else usual)
        compiling = self.jobs_left * self.compiling / max(self.jobs_done, 1)
        return Left(done, max(here, (here + elsewhere * usual + compiling) / self.processes))

    def _computing(self) -> float:
        """Seconds that engines have computed, the job in hand included; compilation is none of them."""
        if self.in_hand is None:
            return self.computing
        engine, before = self.in_hand
        return self.computing + engine.seconds - before

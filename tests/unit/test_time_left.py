"""How much time a run says that it needs."""

import time
from types import SimpleNamespace

import pytest

from lopsided.core.spec import Spec
from lopsided.work.jobs import effort, wanted_members
from lopsided.work.worker import _Work
from tests.conftest import PARITY


def test_a_job_that_is_slower_than_the_others_is_judged_by_its_own_speed():
    """Jobs of full batches took 20 times as long an operation as those before: "2 min left" stood for 20 minutes."""
    members = wanted_members([Spec.parse(PARITY)], 4)
    whole, steps = effort(members), members[0].spec.steps
    run = object.__new__(_Work)
    run.own_effort, run.backlog = 10 * whole, 2 * whole  # ten such jobs took 10 s
    run.computing, run.compiling, run.jobs_done, run.jobs_left = 10.0, 0.0, 10, 2
    run.began, run.progress = time.perf_counter(), None
    run.in_hand = (SimpleNamespace(seconds=20.0), 0.0)  # a half of this one took 20 s
    left = run._show(members, steps // 2, 0, None)
    speed = 30 / 10.5
    assert left == pytest.approx(20 + 2 * speed)
    run.in_hand = (SimpleNamespace(seconds=1.0), 0.0)  # after a second, its own speed is not known yet
    assert run._show(members, steps // 2, 0, None) == pytest.approx(2.5 * 11 / 10.5)

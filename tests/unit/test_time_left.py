"""How much time a run says that it needs."""

from types import SimpleNamespace

import pytest

from lopsided.core.execution import DEFAULT
from lopsided.core.spec import Spec
from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.work.jobs import cut, effort, wanted_members
from lopsided.work.rows import member_id
from lopsided.work.time_left import TimeLeft
from lopsided.work.worker import _Work
from tests.conftest import PARITY


def test_a_job_that_is_slower_than_the_others_is_judged_by_its_own_speed():
    """Jobs of full batches took 20 times as long an operation as those before: "2 min left" stood for 20 minutes."""
    members = wanted_members([Spec.parse(PARITY)], 4)
    whole, steps = effort(members), members[0].spec.steps
    left = TimeLeft(members)
    left.own_effort, left.computing, left.jobs_done = 10 * whole, 10.0, 10  # ten such jobs took 10 s
    left.look(2 * whole, 2, 1)
    left.in_hand = (SimpleNamespace(seconds=20.0), 0.0)  # a half of this one took 20 s
    speed = 30 / 10.5
    assert left.after(members, steps // 2, 0).seconds == pytest.approx(20 + 2 * speed)
    left.in_hand = (SimpleNamespace(seconds=1.0), 0.0)  # after a second, its own speed is not known yet
    assert left.after(members, steps // 2, 0).seconds == pytest.approx(2.5 * 11 / 10.5)


def test_time_of_a_flow_is_judged_by_evaluations():
    """Evaluated at 10, 100, ... 10^8 a flow was "0 % done, about 57,792 h left" when half of it was done."""
    flow = {
        "task": {"name": "k-composition", "d": 8, "k": 2},
        "model": {"name": "product"},
        "plan": {"name": "population", "dynamics": "flow"},
        "optimizer": {"name": "sgd", "lr": 1.0},
        "loss": "square",
        "steps": 10**8,
        "evaluation": {"every": 10, "per_decade": 1},
    }
    members = wanted_members([Spec.parse(flow)], 2)
    assert effort(members, 10_000) == pytest.approx(effort(members) / 2)  # the fourth of eight
    left = TimeLeft(members)
    left.look(0.0, 0, 1)
    left.in_hand = (SimpleNamespace(seconds=20.0), 0.0)
    assert left.after(members, 10_000, 0) == pytest.approx((0.5, 20))
    assert left.after(members, 9, 0).seconds is None  # nothing is known before the first evaluation


def test_no_time_is_said_of_the_first_steps():
    """After 60 of 30,000 steps it was "about 2 min left" of 50 s."""
    members = wanted_members([Spec.parse(PARITY)], 4)
    left = TimeLeft(members)
    left.look(0.0, 0, 1)
    for seconds, known in ((0.5, False), (1.5, True)):
        left.in_hand = (SimpleNamespace(seconds=seconds), 0.0)
        assert (left.after(members, 1, 0).seconds is not None) == known


def test_processes_share_what_is_left():
    """`status` said twice what the command line's own clock did when two workers trained: each counted all jobs as its
    own, those that the other one had in hand as well."""
    members = wanted_members([Spec.parse(PARITY)], 4)
    whole, steps = effort(members), members[0].spec.steps
    left = TimeLeft(members)
    left.look(5 * whole, 5, 2)  # another process is at the first step of one of the five
    left.in_hand = (SimpleNamespace(seconds=10.0), 0.0)
    assert left.after(members, steps // 2, 0).seconds == pytest.approx((10 + 4.5 * 20) / 2)
    left.look(whole / 4, 0, 2)  # the other one is nearly done: this job decides
    assert left.after(members, steps // 2, 0).seconds == pytest.approx(10)


def test_a_job_that_another_process_trains_counts_by_the_steps_to_come(tmp_path):
    store = Store(tmp_path / "store")
    store.require_writable()
    members = wanted_members([Spec.parse(PARITY)], 6)
    jobs = cut(members, 2)
    leases = Leases(store.root)
    with leases.lock():
        lease = leases.take("a" * 16, [member_id(m) for m in jobs[0]], members[0].spec.steps)
        leases.write(lease._replace(step=members[0].spec.steps // 2))
    with leases.hold(lease):
        run = _Work(store, members, DEFAULT)
        job, mine, _ = run._lease(jobs)
    assert job == jobs[1]
    assert mine is not None
    assert run.time.backlog == pytest.approx(1.5 * effort(jobs[0]))
    assert run.time.jobs_left == 2

"""Members that leave early: each trains as it would alone, and those who wait get their turn."""

from itertools import pairwise

import jax
import numpy as np
import pytest

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.execution import Execution
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.pool import Pool
from lopsided.results.stored import load
from lopsided.store.parts import Store
from lopsided.store.tables import connect
from lopsided.work.worker import run

EASY = {"at_least": 0.95}
ONE = Execution(devices=1)


def spec_of(parity, **changes):
    plan = {"name": "fixed", "size": 256, "batch": 32}
    plain = {"steps": 400, "evaluation": {"every": 20, "samples": 256}, "plan": plan}
    return parity(**{**plain, **changes})


def curves(engine):
    """{member: {step: accuracy}} of everything that the engine yields."""
    found = {}
    for stretch in engine.run():
        who = range(len(engine.members)) if stretch.who is None else stretch.who
        steps = np.broadcast_to(stretch.step, len(stretch.diverged))
        for w, step, value in zip(who, steps, stretch.metrics["test/accuracy"], strict=True):
            found.setdefault(int(w), {})[int(step)] = float(value)
    return found


@pytest.mark.slow
def test_members_train_as_in_an_ensemble_until_they_leave(parity):
    members = [Member(spec_of(parity), seed) for seed in range(150)]
    whole = curves(Ensemble(members))
    pool = Pool([m._replace(spec=spec_of(parity, until=EASY)) for m in members], ONE)
    assert pool.state.waiting < 150  # some have to wait for a slot
    early = curves(pool)
    assert sorted(early) == list(range(150))
    for i, curve in early.items():
        assert curve == {step: whole[i][step] for step in curve}  # same programs, same numbers
        good = [v >= 0.95 for _, v in sorted(whole[i].items())]
        twice = [a and b for a, b in pairwise(good)]
        leaves = (twice.index(True) + 2) * 20 if any(twice) else 400
        assert max(curve) == leaves
    assert pool.finished
    assert pool.position == 400
    assert sum(max(c) < 400 for c in early.values()) > 10


def test_a_diverged_member_leaves(parity):
    fast = spec_of(parity, until=EASY, loss="square", optimizer={"name": "sgd", "lr": 1e4})
    slow = spec_of(parity, until=EASY, loss="square", optimizer={"name": "sgd", "lr": 1e-6})
    found = curves(Pool([Member(fast, 0), Member(slow, 0)]))
    *before, last = sorted(found[0])
    assert max(before) < 100
    assert last == 400  # it never learned in the whole of its budget
    assert np.isnan(found[0][400])
    assert max(found[1]) == 400


def test_rows_end_where_the_member_left_and_curves_keep_its_last_value(parity, tmp_path):
    spec, store = spec_of(parity, until=EASY), Store(tmp_path)
    run([spec], 6, store)
    results = load(store, "r", "laptop", {"arm": spec}, {"arm": 6})
    arm = results["arm"]
    assert arm.metric("test/accuracy").shape == (6, 20)
    assert list(arm.steps) == [20 * (i + 1) for i in range(20)]
    assert list(arm.samples) == [32 * s for s in arm.steps]
    with connect(store) as con:
        rows = con.execute("SELECT seed, max(step), count(*) FROM rows GROUP BY seed").fetchall()
    for seed, last, _ in rows:
        at = last // 20 - 1
        values = arm.metric("test/accuracy")[seed]
        assert (values[at:] == values[at]).all()
        assert last == 400 or (values[at - 1 : at + 1] >= 0.95).all()
    assert min(last for _, last, _ in rows) < 400


def test_a_pool_goes_on_from_its_state(parity):
    members = [Member(spec_of(parity, until=EASY), seed) for seed in range(140)]
    unbroken = curves(Pool(members, ONE))
    pool, found = Pool(members, ONE), {}
    for stretch in pool.run():
        for w, step, value in zip(stretch.who, stretch.step, stretch.metrics["test/accuracy"], strict=True):
            found.setdefault(int(w), {})[int(step)] = float(value)
        other = Pool(members, ONE)
        other.restore(pool.step, pool.seconds, jax.device_get(pool.state))
        pool.restore(pool.step, pool.seconds, jax.device_get(other.state))
    assert found == unbroken


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"until": {}}, "either at_least or at_most"),
        ({"until": {"at_least": 0.9, "at_most": 1.0}}, "either at_least or at_most"),
        ({"until": EASY, "steps": 410}, "multiple of evaluation.every"),
        ({"until": EASY, "evaluation": {"every": 20, "per_decade": 5}}, "per_decade"),
        (
            {"until": EASY, "task": {"name": "single-index", "d": 8}, "loss": "square"},
            "task 'single-index' has real-valued targets",
        ),
    ],
)
def test_rules_that_make_no_sense(parity, changes, message):
    with pytest.raises(InputError, match=message):
        spec_of(parity, **changes)


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1)])
def test_a_pool_goes_on_with_another_number_of_devices(parity, before, after):
    """Saved on a machine with other cores, or for the last few members: the same numbers all the same."""
    if len(jax.devices()) < 2:
        pytest.skip("one device")
    task = {"name": "sparse-parity", "d": 8, "k": 3}  # slow enough that some are left after two rounds
    members = [Member(spec_of(parity, until=EASY, task=task), seed) for seed in range(9)]
    unbroken = curves(Pool(members, ONE))
    pool, found = Pool(members, Execution(devices=before)), {}

    def note(stretch):
        for w, step, value in zip(stretch.who, stretch.step, stretch.metrics["test/accuracy"], strict=True):
            found.setdefault(int(w), {})[int(step)] = float(value)

    rounds = pool.run()
    note(next(rounds))
    note(next(rounds))
    other = Pool(members, Execution(devices=after))
    other.restore(pool.step, pool.seconds, jax.device_get(pool.state))
    for stretch in other.run():
        note(stretch)
    assert {w: sorted(c) for w, c in found.items()} == {w: sorted(c) for w, c in unbroken.items()}
    for w, curve in unbroken.items():
        np.testing.assert_allclose(list(found[w].values()), list(curve.values()), atol=0.02)


def test_an_ensemble_goes_on_with_another_number_of_devices(parity):
    members = [Member(spec_of(parity), seed) for seed in range(3)]
    first, second = Ensemble(members, ONE), Ensemble(members)
    first.advance(100)
    second.restore(first.step, first.seconds, jax.device_get(first.state))
    first.advance(200)
    second.advance(200)
    a, b = (e.evaluate().metrics["test/loss"] for e in (first, second))
    np.testing.assert_allclose(a, b, rtol=1e-4)

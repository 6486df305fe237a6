import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lop
from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.members import program_key
from lopsided.engines.train_step import above_chance
from lopsided.skills.distributions import PowerLaw
from lopsided.skills.listening import Told
from lopsided.skills.self_annealed import SelfAnnealed
from tests.engines import engine

LAW = {"name": "self-annealed", "window": 4.0}
SAMPLED = Spec.parse({
    "task": {"name": "k-composition", "d": 6, "k": 2},
    "skills": LAW,
    "model": {"name": "product", "r": 0.5},
    "plan": {"name": "online", "batch": 32},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "loss": "square",
    "steps": 60,
    "evaluation": {"every": 20, "samples": 64},
})  # fmt: skip
EXACT = Spec.parse({
    **SAMPLED.model_dump(mode="json"),
    "plan": {"name": "population", "dynamics": "flow"},
    "evaluation": {"every": 20},
})  # fmt: skip


def changed(spec, **fields):
    return Spec.parse({**spec.model_dump(mode="json"), **fields})


def rows(members, spec=SAMPLED):
    found = [e.metrics for e in engine([Member(spec, seed) for seed in members]).run() if e is not None]
    return {name: np.stack([f[name] for f in found], 1) for name in found[0]}


@given(st.floats(0.1, 4), st.floats(0.05, 0.95), st.floats(1, 1000), st.lists(st.floats(-1, 1), max_size=20))
def test_the_exponent_stays_between_zero_and_its_start(start, goal, window, accuracies):
    law = SelfAnnealed(start=start, goal=goal, window=window).schedule(5)
    heard = law.begin()
    for right in accuracies:
        heard = law.after(heard, Told(jnp.float32(right)))
    assert 0 <= float(heard.exponent) <= np.float32(start)


def test_it_falls_while_answers_are_right_and_rises_while_they_are_not():
    law = SelfAnnealed(window=20.0).schedule(8)
    heard, at = law.begin(), 0
    while float(heard.exponent) > 0:
        heard, at = law.after(heard, Told(jnp.float32(1))), at + 1
    assert 4 * 20 < at < 8 * 20  # about 5 windows, and what the running mean lags behind
    for _ in range(30 * 20):  # a goal of .2 is missed by .2 at most
        heard = law.after(heard, Told(jnp.float32(0)))
    assert float(heard.exponent) == pytest.approx(1.5)
    np.testing.assert_allclose(law.frequency(0.5, heard), PowerLaw(alpha=1.5).schedule(8).probabilities(), rtol=1e-5)


@pytest.mark.slow
@given(st.integers(0, 40), st.floats(0.1, 0.9))
def test_known_accuracy_gives_the_smallest_exponent_that_keeps_it(learned, goal):
    law, u = SelfAnnealed(goal=goal).schedule(40), jnp.arange(40) < learned
    accuracy = lambda p: (p * u).sum() ** 2
    found = law.smallest(accuracy)
    if accuracy(law.at(1.5)) < goal:
        assert float(found) == pytest.approx(1.5)
    else:
        assert float(accuracy(law.at(found))) >= goal - 1e-3
        assert float(found) == 0 or float(accuracy(law.at(found - 0.01))) < goal


def test_what_is_heard_is_written_and_changes_what_is_drawn():
    found = rows(range(4))
    assert (found["skills/exponent"][:, -1] < 1.5).all()
    quiet = rows(range(4), changed(SAMPLED, skills={"name": "power-law", "alpha": 1.5}))
    assert "skills/exponent" not in quiet
    assert not np.array_equal(found["test/loss"], quiet["test/loss"])


def test_a_member_listens_to_itself_alone():
    together, alone = rows(range(4)), rows([2])
    for name, values in alone.items():
        np.testing.assert_allclose(values[0], together[name][2], rtol=1e-5, err_msg=name)


def test_what_was_heard_survives_a_stop():
    whole, begun, later = (Ensemble([Member(SAMPLED, 0)], DEFAULT) for _ in range(3))
    expected = [e.metrics["skills/exponent"] for e in whole.run()]
    begun.advance(20)
    begun.evaluate()
    later.restore(20, 0.0, jax.device_get(begun.state))
    assert [e.metrics["skills/exponent"] for e in later.run()] == expected[1:]


def test_on_the_exact_loss_the_exponent_is_written_too():
    found = rows(range(4), EXACT)
    assert set(found) >= {"skills/exponent", "test/loss"}
    assert ((found["skills/exponent"] >= 0) & (found["skills/exponent"] <= 1.5)).all()


def test_laws_that_listen_have_programs_of_their_own():
    other = changed(SAMPLED, skills={**LAW, "goal": 0.7, "start": 2.0})
    assert program_key(other) == program_key(SAMPLED)
    assert program_key(changed(SAMPLED, skills={"name": "uniform"})) != program_key(SAMPLED)


def test_chance_is_no_accuracy():
    task = SAMPLED.task
    assert above_chance(task, jnp.float32(task.chance)) == pytest.approx(0, abs=1e-6)
    assert above_chance(task, jnp.float32(1)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"plan": {"name": "fixed", "size": 64, "batch": 32}}, "never repeats"),
        ({"skills": {**LAW, "goal": 0.0}}, "goal"),
        ({"skills": {**LAW, "start": 0.0}}, "start"),
    ],
)
def test_what_cannot_listen_is_refused(fields, said):
    with pytest.raises(InputError, match=said):
        changed(SAMPLED, **fields)


def test_streams_for_other_peoples_loops_say_that_nobody_would_be_heard():
    with pytest.raises(InputError, match="listens to a model"):
        next(lop.batches(lop.tasks.KComposition(d=6, k=2), lop.plans.Online(batch=4), skills=SelfAnnealed(), steps=5))

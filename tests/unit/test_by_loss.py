"""Laws that hear the loss of each skill."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.members import program_key
from lopsided.skills.by_loss import GroupDRO, LossProportional
from lopsided.skills.listening import Told
from tests.engines import engine
from tests.unit.test_self_annealed import SAMPLED, changed

LAWS = (LossProportional(), LossProportional(power=3.0, floor=0.0), GroupDRO(), GroupDRO(rate=1.0, floor=0.5))
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name}-{law.floor}")


def after(law, losses, counts, steps):
    told = Told(jnp.float32(0), jnp.asarray(losses, jnp.float32), jnp.asarray(counts, jnp.float32))
    heard = law.begin()
    for _ in range(steps):
        heard = law.after(heard, told)
    return np.asarray(law.frequency(0.0, heard))


@each_law
@given(losses=st.lists(st.floats(0, 10), min_size=4, max_size=4), steps=st.integers(0, 30))
def test_frequencies_are_a_law_with_its_floor(law, losses, steps):
    p = after(law.schedule(4), losses, [1, 1, 1, 1], steps)
    assert p.sum() == pytest.approx(1, abs=1e-5)
    assert p.min() >= law.floor / 4 - 1e-6


@each_law
def test_it_begins_uniform_and_goes_where_the_loss_is(law):
    schedule = law.schedule(4)
    np.testing.assert_allclose(after(schedule, [0] * 4, [0] * 4, 0), 0.25, rtol=1e-6)
    p = after(schedule, [3, 2, 1, 0.5], [1, 1, 1, 1], 20)
    assert (np.diff(p) <= 1e-6).all()
    assert p[0] > p[-1]


@each_law
def test_equal_losses_leave_it_uniform(law):
    """Where every skill is at chance, weights by loss break no symmetry."""
    p = after(law.schedule(5), [8, 2, 4, 6, 2], [4, 1, 2, 3, 1], 50)
    spread = 0.4 if isinstance(law, LossProportional) else 1e-5  # a sample of average loss is added to each
    np.testing.assert_allclose(p, 0.2, rtol=spread)


def test_a_skill_that_was_not_seen_counts_as_average():
    p = after(LossProportional(floor=0.0).schedule(3), [4, 0, 0], [1, 1, 0], 30)
    assert p[0] > p[2] > p[1]


@pytest.mark.parametrize("name", ["loss-proportional", "group-dro"])
def test_members_train_by_it_and_write_how_even_it_is(name):
    spec = changed(SAMPLED, skills={"name": name})
    found = [e.metrics for e in engine([Member(spec, seed) for seed in range(3)]).run() if e is not None]
    even = np.stack([f["skills/effective"] for f in found])
    assert ((even > 1 / spec.task.n_skills) & (even <= 1 + 1e-6)).all()
    assert (even[-1] < 1).all()
    assert program_key(spec) != program_key(SAMPLED)


@pytest.mark.slow
def test_pieces_of_a_batch_tell_the_same():
    spec = changed(SAMPLED, skills={"name": "group-dro", "rate": 0.5})
    ends = []
    for execution in (DEFAULT, Execution(micro_batch=8)):
        ensemble = Ensemble([Member(spec, 0)], execution)
        ensemble.advance(10)
        ends.append(np.asarray(ensemble.state.heard))
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-4)
    assert np.ptp(ends[0]) > 0


def test_losses_go_to_the_skills_that_the_samples_need():
    """By hand: the sums of one batch, from the batch itself."""
    from lopsided.engines.gradient import _by_skill
    from lopsided.optim.losses import Share

    share = Share(jnp.array([1.0, 2.0, 4.0, 8.0]), jnp.array([1.0, 2.0, 0.0, 1.0]))
    needed = jnp.array([[0, 1], [1, -1], [2, 2], [0, 0]])
    loss, count = _by_skill(share, needed, 3)
    np.testing.assert_allclose(loss, [1 + 8 + 8, 1 + 1, 0])
    np.testing.assert_allclose(count, [3, 2, 0])


def test_exact_expectations_tell_no_skill_apart():
    with pytest.raises(InputError, match="needs samples"):
        Spec.parse({
            **SAMPLED.model_dump(mode="json"),
            "skills": {"name": "group-dro"},
            "plan": {"name": "population", "dynamics": "flow"},
            "evaluation": {"every": 20},
        })  # fmt: skip

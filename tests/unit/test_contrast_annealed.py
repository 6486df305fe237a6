"""The law that anneals itself by a contrast of losses."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.members import program_key
from lopsided.shape.rules import Contrast
from lopsided.skills import ContrastAnnealed
from tests.unit.test_self_annealed import EXACT, SAMPLED, changed, rows

LAW = {"name": "contrast-annealed", "start": 3.0}


@given(st.integers(1, 5), st.floats(0.3, 0.95), st.floats(0.3, 3))
def test_the_contrast_is_the_mass_of_what_is_known_to_the_power_of_hops(k, m, shortcut):
    """Samples of k skills; what is not known costs the shortcut's loss, whatever that is."""
    rule = Contrast(start=1.5, goal=0.2, window=10.0, floor=0.0, tail=0.25)
    state, n = rule.init(8, np), 1e6  # many samples: the one of average loss does not count
    counts = np.full(8, n / 8)
    for step in range(200):
        known = 0.0 if step < 10 else m**k
        head = (1 - known) * shortcut * n - 2 * shortcut * n / 8  # the tail's two ranks are not known at all
        losses = np.concatenate([np.full(6, head / 6), np.full(2, shortcut * n / 8)])
        state = rule.after(state, losses, counts, np)
    assert state[4] == pytest.approx(m**k, abs=2e-3)


@pytest.mark.slow
def test_it_hears_of_ranks_whoever_holds_them():
    """Samples counted by rank fall from rank 1 on, in each order of ranks."""
    for order in ("lexicographic", "reversed", "random"):
        spec = changed(SAMPLED, skills=LAW, rank_order=order)
        ensemble = Ensemble([Member(spec, seed) for seed in range(3)])
        ensemble.advance(20)
        counts = np.asarray(ensemble.state.heard[2])
        assert (counts.argmax(1) == 0).all()
        assert (counts[:, 0] > 3 * counts[:, 3:].max(1)).all()


def test_members_train_by_it_and_write_its_exponent():
    spec = changed(SAMPLED, skills={**LAW, "window": 4.0})
    found = rows(range(4), spec)
    assert ((found["skills/exponent"] >= 0) & (found["skills/exponent"] <= 3)).all()
    assert np.isfinite(found["skills/contrast"]).all()
    assert program_key(spec) != program_key(SAMPLED)


def test_it_begins_with_its_exponent():
    law = ContrastAnnealed(start=2.0).schedule(4)
    expected = np.arange(1, 5.0) ** -2
    for heard in ((), law.begin()):
        np.testing.assert_allclose(law.frequency(0.0, heard), expected / expected.sum(), rtol=1e-6)
    assert float(jnp.asarray(law.cumulative(0.5))[-1]) == pytest.approx(1)


def test_exact_expectations_tell_no_skill_apart():
    with pytest.raises(InputError, match="needs samples"):
        Spec.parse({**EXACT.model_dump(mode="json"), "skills": LAW})

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.core.task import SkillLaw
from lopsided.skills.distributions import Annealed, BinnedPowerLaw, PowerLaw, Uniform
from lopsided.skills.ranks import bin_probabilities, rank_bins, skill_at_rank

sizes = st.integers(2, 300)
exponents = st.floats(0, 4)


@given(sizes, exponents)
def test_power_law_is_the_formula(n, alpha):
    law = PowerLaw(alpha=alpha)
    weights = np.arange(1, n + 1) ** -law.alpha
    np.testing.assert_allclose(law.schedule(n).probabilities(), weights / weights.sum(), rtol=1e-12)


@given(sizes)
def test_exponent_zero_is_exactly_uniform(n):
    assert (PowerLaw(alpha=0).schedule(n).probabilities() == Uniform().schedule(n).probabilities()).all()


@given(sizes, exponents)
def test_as_many_bins_as_skills_is_the_power_law(n, alpha):
    binned = BinnedPowerLaw(alpha=alpha, bins=n).schedule(n).probabilities()
    np.testing.assert_allclose(binned, PowerLaw(alpha=alpha).schedule(n).probabilities(), rtol=1e-12)


@given(sizes, exponents, st.data())
def test_bins_have_power_law_mass_and_are_uniform_inside(n, alpha, data):
    m = data.draw(st.integers(1, n))
    p = BinnedPowerLaw(alpha=alpha, bins=m).schedule(n).probabilities()
    parts = np.split(p, np.cumsum([len(r) for r in rank_bins(n, m)])[:-1])
    mass = np.arange(1, m + 1.0) ** -alpha
    np.testing.assert_allclose([part.sum() for part in parts], mass / mass.sum(), rtol=1e-9)
    assert all(np.ptp(part) < 1e-15 for part in parts)


def test_more_bins_than_skills_is_refused():
    with pytest.raises(InputError, match="bins = 7"):
        BinnedPowerLaw(alpha=1, bins=7).schedule(6)


@given(sizes, exponents, exponents, st.floats(0, 0.5), st.floats(0.51, 1))
def test_annealed_starts_and_ends_where_it_says(n, start, end, begin, finish):
    path = Annealed(start=start, end=end, begin=begin, finish=finish).schedule(n)
    np.testing.assert_allclose(path.probabilities(begin), PowerLaw(alpha=start).schedule(n).probabilities(), atol=1e-12)
    np.testing.assert_allclose(path.probabilities(finish), PowerLaw(alpha=end).schedule(n).probabilities(), atol=1e-12)
    middle = (begin + finish) / 2
    assert float(path.exponent(middle)) == pytest.approx((start + end) / 2, abs=1e-5)


@given(st.sampled_from([2, 60, 300]), exponents, st.floats(0, 1))
def test_device_and_host_agree(n, alpha, progress):
    path = Annealed(start=alpha, end=0.0).schedule(n)
    device = np.diff(np.asarray(path.cumulative(progress), np.float64), prepend=0.0)
    np.testing.assert_allclose(device, path.probabilities(progress), atol=2e-6)


@given(sizes, exponents)
def test_probabilities_are_normalised_and_never_rise_with_rank(n, alpha):
    p = PowerLaw(alpha=alpha).schedule(n).probabilities()
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert (np.diff(p) <= 0).all()


@given(st.sampled_from([1, 6, 120]), st.integers(0, 2**40))
def test_rank_orders_are_permutations(n, seed):
    for order in ("lexicographic", "reversed", "random"):
        assert sorted(np.asarray(skill_at_rank(order, n, seed)).tolist()) == list(range(n))


def test_random_order_belongs_to_the_seed():
    a, b = (np.asarray(skill_at_rank("random", 60, s)).tolist() for s in (0, 1))
    assert a != b
    assert a == np.asarray(skill_at_rank("random", 60, 0)).tolist()


@given(sizes, st.integers(1, 10))
def test_bin_probabilities_cover_every_rank_once(n, bins):
    rows = bin_probabilities(n, min(bins, n))
    assert ((rows > 0).sum(0) == 1).all()
    np.testing.assert_allclose(rows.sum(1), 1)


@pytest.mark.parametrize("n", [3, 120, 2000])
def test_draw_reaches_first_and_last_skill(n):
    law = SkillLaw(Uniform().schedule(n).cumulative(0.0), jnp.arange(n, dtype=jnp.int32))
    drawn = law.draw(jnp.array([0, 2**32 - 1], jnp.uint32))
    assert drawn.tolist() == [0, n - 1]

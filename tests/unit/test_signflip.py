"""Sign-flip tests and their intervals: against SciPy, ties, values far away, NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from lopsided.stats import decisions, signflip
from lopsided.stats.signflip import centre_interval, sign_flip
from lopsided.stats.times import Times


def test_one_member_far_away_makes_no_ties_of_the_others():
    """Eight positive differences reject at 1/256, however large one of them is."""
    near = np.linspace(0.1, 0.8, 8)
    for largest in (1.0, 1e9, np.inf):
        values = np.append(near[:-1], largest)
        assert sign_flip(values) == (1 / 256, 1.0), largest
        assert sign_flip(-values) == (1.0, 1 / 256)


def test_half_of_the_members_far_away_make_no_ties_of_the_others():
    """Five of eight members diverged to 1e9: ties among the others gave p = 0.03 for 1/256, and a verdict was lost."""
    values = np.array([1e9] * 5 + [0.1] * 3)
    assert sign_flip(values) == (1 / 256, 1.0)


def test_with_nan_there_is_no_test():
    assert np.isnan(sign_flip(np.array([0.1, np.nan, 0.3]))).all()
    assert decisions.higher(np.zeros(8), np.append(np.ones(7), np.nan), "loss").verdict == "inconclusive"


@given(arrays(float, st.integers(2, 9), elements=st.integers(-192, 192).map(lambda v: v / 64)))
def test_a_sign_flip_test_is_the_one_of_scipy(values):
    """On numbers whose sums are exact: SciPy takes sums that are equal but for rounding for different ones."""
    theirs = sps.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=10**5, alternative="greater"
    )
    assert sign_flip(values).above == pytest.approx(theirs.pvalue)
    assert sign_flip(-values).below == pytest.approx(theirs.pvalue)


def test_sums_that_differ_by_rounding_are_equal():
    assert 0.01 + 1.62 - 1.63 != 0
    assert sign_flip(np.array([0.01, 1.62, -1.63])).above == 5 / 8


@given(arrays(float, st.integers(6, 14), elements=st.floats(-3, 3)), st.floats(-3, 3))
def test_an_interval_holds_what_the_test_does_not_reject(values, shift):
    low, high = centre_interval(values)
    if min(abs(shift - low), abs(shift - high)) > 1e-6:
        assert (low <= shift <= high) == (sign_flip(values - shift).two_sided > 0.05)


def test_verdicts_do_not_depend_on_the_unit():
    """Losses of 5e-10, five times lower in every seed, were undecided."""
    g = np.random.default_rng(0)
    low, high = 1e-10 * (1 + 0.1 * g.random(8)), 5e-10 * (1 + 0.1 * g.random(8))
    for unit in (1e-30, 1.0, 1e6, 1e30):
        found = decisions.higher(low * unit, high * unit, "loss")
        assert found.verdict == "holds", unit
        assert decisions.above(high * unit, 2e-10 * unit, "loss").verdict == "holds", unit
    rounded = 1 + np.zeros(8), np.full(8, 1 + 1e-15)
    assert decisions.higher(*rounded, "loss").verdict == "inconclusive"


def test_an_interval_has_its_effect_inside():
    twice = decisions.faster(
        Times(np.full(6, 200.0), np.zeros(6, bool)), Times(np.full(6, 100.0), np.zeros(6, bool)), "x"
    )
    assert twice.interval[0] <= twice.effect <= twice.interval[1]
    for n in range(6, 20):
        values = np.full(n, 0.1)
        low, high = centre_interval(values)
        assert low <= values.mean() <= high


def test_many_members_are_taken_piece_by_piece():
    """The choices of 20,000 members would take 1.6 GB at once; in pieces they are the same choices."""
    from lopsided.stats import signflip

    values = np.random.default_rng(0).normal(0.1, 1.0, 300)
    whole = sign_flip(values), centre_interval(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signflip, "AT_ONCE", 1_000)
        assert sign_flip(values) == whole[0]
        np.testing.assert_allclose(centre_interval(values), whole[1], rtol=1e-12)


@pytest.mark.parametrize("n", [50, 500])
def test_choices_that_are_kept_are_those_that_would_be_drawn(n, monkeypatch):
    """As numbers up to 419 members, beyond as bytes."""
    values = np.random.default_rng(n).normal(0.02, 1, n)
    kept = sign_flip(values), centre_interval(values)
    monkeypatch.setattr(signflip, "KEPT", 0)
    assert (sign_flip(values), centre_interval(values)) == kept

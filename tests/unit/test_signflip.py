"""Sign-flip tests and their intervals: against SciPy, ties, values far away, NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from lopsided.stats import decisions
from lopsided.stats.signflip import centre_interval, sign_flip


def test_one_member_far_away_makes_no_ties_of_the_others():
    """Eight positive differences reject at 1/256, however large one of them is."""
    near = np.linspace(0.1, 0.8, 8)
    for largest in (1.0, 1e9, np.inf):
        values = np.append(near[:-1], largest)
        assert sign_flip(values) == (1 / 256, 1.0), largest
        assert sign_flip(-values) == (1.0, 1 / 256)


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

"""Two levels of skills: who is heavy, how much, and how the law fades."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.skills import TwoLevel


def test_a_tenth_has_two_thirds():
    p = TwoLevel().schedule(60).probabilities()
    np.testing.assert_allclose(p[:6], 2 / 18)
    np.testing.assert_allclose(p[6:], 1 / 3 / 54)


@given(st.integers(2, 300), st.floats(0.01, 0.99), st.floats(0.05, 0.95))
def test_the_mass_is_as_said_and_at_least_one_is_heavy_and_one_not(n, heavy, mass):
    law = TwoLevel(heavy=heavy, mass=mass)
    number = law.number(n)
    assert 1 <= number <= n - 1
    assert law.schedule(n).probabilities()[:number].sum() == pytest.approx(mass)


def test_it_fades_to_uniform():
    law = TwoLevel(end=0.0, begin=0.1, finish=0.6).schedule(60)
    np.testing.assert_allclose(law.probabilities(0.05)[:6].sum(), 2 / 3)
    np.testing.assert_allclose(law.probabilities(0.7), 1 / 60)
    half = law.probabilities(0.35)
    np.testing.assert_allclose(half[0] / half[-1], np.sqrt((2 / 18) / (1 / 162)))


def test_bad_ones_are_one_line():
    with pytest.raises(InputError, match="above begin"):
        TwoLevel(begin=0.5, finish=0.5)
    with pytest.raises(InputError, match="at least two"):
        TwoLevel().schedule(1)

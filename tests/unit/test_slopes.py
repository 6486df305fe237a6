"""Slopes with intervals, segmented fits, transitions: against curves whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as sps

from lopsided.core.evaluation import Evaluation, Geometric
from lopsided.stats import decisions
from lopsided.stats.slopes import of_points, segmented, straight
from lopsided.stats.transitions import crossing, sharpness

X = np.unique(np.round(np.geomspace(1, 1e5, 200)))


def broken(slope, begins, ends, members=8, noise=0.05):
    """Flat, then a power law, then flat."""
    rng = np.random.default_rng(1)
    mean = np.clip(X, begins, ends) ** slope
    return mean * np.exp(noise * rng.normal(size=(members, 1)) + 0.02 * rng.normal(size=(members, len(X))))


@pytest.mark.parametrize("slope", [-0.5, -1.0, -1.5])
def test_segmented_fit_finds_slope_and_window(slope):
    law = segmented(X, broken(slope, 100, 10_000))
    assert abs(law.slope - slope) < 0.03 * abs(slope)
    assert law.high - law.low < 0.1
    assert 60 < law.begins < 170
    assert 6_000 < law.ends < 17_000
    assert law.members == 8


def test_segmented_fit_on_a_stated_window_sees_nothing_else():
    law = segmented(X, broken(-1, 100, 10_000), (150, 6_000))
    assert law.slope == pytest.approx(-1, abs=0.05)
    assert 150 <= law.begins < law.ends <= 6_000


@given(st.floats(-3, 3), st.floats(1e-3, 1e3))
def test_straight_slope_of_a_power_law_is_its_exponent_whatever_the_unit(slope, unit):
    law = straight(X, unit * X[None] ** slope * np.ones((3, 1)), (10, 1e4))
    assert law.slope == pytest.approx(slope, abs=1e-9)
    assert law.low == pytest.approx(law.high, abs=1e-9)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Members with slopes of their own: 95 % intervals of 8 members cover the mean in 90 to 99 % of 400 repetitions."""
    rng = np.random.default_rng(5)
    x = np.geomspace(1, 100, 12)
    hits = 0
    for _ in range(400):
        curves = x ** rng.normal(-1, 0.3, (8, 1))
        law = straight(x, curves, (1, 100))
        hits += law.low <= -1 <= law.high
    assert 0.9 < hits / 400 < 0.99


def test_slope_through_settings():
    rng = np.random.default_rng(2)
    d = np.array([16.0, 32, 64, 128])
    law = of_points(d, d**2 * np.exp(0.3 * rng.normal(size=(32, 4))))
    assert law.low < 2 < law.high
    assert law.high - law.low < 0.6


@pytest.mark.parametrize("fit", [straight, segmented])
def test_too_few_evaluations_or_no_numbers_mean_that_nothing_is_known(fit):
    for curves, window in ((np.ones((4, len(X))), (10, 12)), (np.full((4, len(X)), np.nan), (10, 1e4))):
        law = fit(X, curves, window)
        assert np.isnan(law.slope)
        assert (law.low, law.high) == (-np.inf, np.inf)
        assert decisions.slope_near(law, -1.0, 0.2, "a against b").verdict == "inconclusive"


def test_settings_whose_median_member_never_got_there_decide_nothing():
    d = np.array([16.0, 32, 64, 128])
    times = np.outer(np.ones(8), d**2)
    times[:5, -1] = np.inf
    law = of_points(d, times)
    assert np.isnan(law.slope)
    assert (law.low, law.high) == (-np.inf, np.inf)
    times[3:5, -1] = d[-1] ** 2  # six of eight did: the median is known, but not in enough resampled ones
    assert of_points(d, times).low == -np.inf
    times[1:5, -1] = d[-1] ** 2
    assert of_points(d, times).slope == pytest.approx(2)


def test_equality_up_to_rounding_decides_nothing():
    law = of_points(np.array([1.0, 2, 4]), np.full((8, 3), 0.75))
    assert decisions.slope_below(law, 0.0, "a against b").verdict == "inconclusive"
    assert decisions.below(np.full(8, -3e-16), 0.0, "x").verdict == "inconclusive"


def test_a_curve_without_numbers_crosses_nothing():
    assert np.isnan(crossing(X, np.full((2, len(X)), np.nan), 0.5)).all()
    assert np.isnan(sharpness(X, np.full((2, len(X)), np.nan))).all()


def test_one_member_has_an_infinite_interval():
    law = straight(X, X[None], (10, 1e4))
    assert (law.low, law.high) == (-np.inf, np.inf)


def test_crossing_is_interpolated_and_the_last_one():
    x = np.array([1.0, 10, 100, 1000])
    curves = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0.4], [1, 1, 1, 1]], float)
    found = crossing(x, curves, 0.5)
    np.testing.assert_allclose(found[:2], [10**1.5, 10**2.5])
    assert np.isnan(found[2])
    assert found[3] == 1


def test_sharpness_of_an_exponential_is_known():
    x = np.geomspace(1, 1e3, 3000)
    assert sharpness(x, 1 - np.exp(-x[None] / 50))[0] == pytest.approx(np.log(9) / np.log(2), rel=1e-3)


@pytest.mark.parametrize(
    ("slopes", "verdict"),
    [
        ((-1.05, -0.95), "holds"),
        ((-1.5, -1.4), "contradicted"),
        ((-1.3, -1.1), "inconclusive"),
        ((-2, 0), "inconclusive"),
    ],
)
def test_equivalence_verdicts(slopes, verdict):
    low, high = slopes
    error = (high - low) / 2 / sps.t.ppf(0.95, 7)
    each = np.linspace(low, high, 8)
    law = straight(X, broken(-1, 1, 1e5), (10, 1e4))._replace(slope=(low + high) / 2, error=error, each=each)
    assert law.interval(0.9) == pytest.approx(slopes)
    claim = decisions.slope_near(law, -1.0, 0.2, "loss against steps")
    assert claim.verdict == verdict
    assert claim.window.along == "steps"


def test_bounds_need_the_whole_interval():
    law = straight(X, X[None] ** -1.0 * np.ones((4, 1)), (10, 1e4))._replace(slope=-1.05, error=0.15 / 3.19)
    assert (law.low, law.high) == pytest.approx((-1.2, -0.9), abs=0.01)
    assert decisions.slope_below(law, -0.5, "a against b").verdict == "holds"
    assert decisions.slope_below(law, -1.0, "a against b").verdict == "inconclusive"
    assert decisions.slope_above(law, -0.5, "a against b").verdict == "contradicted"
    assert decisions.near(np.array([0.01, -0.01, 0.0, 0.02, -0.02]), 0.0, 0.1, "x").verdict == "holds"
    assert decisions.near(np.array([0.01, -0.01, 0.0, 0.02]), 0.0, 0.1, "x").verdict == "inconclusive"  # too few


def test_slopes_of_members_have_to_agree():
    """One member's slope makes the mean: the interval is told nothing by it that a sign flip would not see."""
    each = np.array([-0.1, 0.1, -0.05, 0.05, 0.0, 0.02, -0.02, -9.0])
    law = straight(X, broken(-1, 1, 1e5), (10, 1e4))._replace(slope=-1.1, error=0.2, each=each)
    assert decisions.slope_below(law, 0.0, "a against b").verdict == "inconclusive"
    assert "sign flips" in decisions.slope_below(law, 0.0, "a against b").method
    unknown = law._replace(each=np.full(8, np.nan))
    found = decisions.slope_below(unknown, 0.0, "a against b")
    assert found.verdict == "holds"
    assert found.p_value == pytest.approx(2 * sps.t.sf(5.5, 7))  # the slope is 5.5 errors away


@given(st.floats(-2, 2), st.floats(0.01, 1), st.integers(2, 40))
def test_without_slopes_of_members_p_value_and_interval_are_one_test(slope, error, members):
    law = straight(X, broken(-1, 1, 1e5), (10, 1e4))._replace(
        slope=slope, error=error, members=members, each=np.full(members, np.nan)
    )
    found = decisions.slope_above(law, 0.0, "a against b")
    low, high = found.interval
    if min(abs(low), abs(high)) > 1e-6:
        assert (found.p_value <= 0.05) == (low > 0 or high < 0) == (found.verdict != "inconclusive")
    assert decisions.slope_above(law._replace(error=np.inf), 0.0, "a against b").p_value is None


@given(st.integers(1, 500), st.integers(1, 200), st.integers(1, 3000))
def test_geometric_grid_rises_ends_at_the_end_and_covers_decades_evenly(every, per_decade, extra):
    steps = every + extra
    grid, points = Geometric(every=every, per_decade=per_decade), [0]
    while points[-1] < steps:
        points.append(grid.after(points[-1], steps))
    assert points[1] == every
    assert points[-1] == steps
    assert (np.diff(points) > 0).all()
    inner = np.array(points[1:-1], float)
    ratio = 10 ** (1 / per_decade)
    assert (inner[1:] <= (inner[:-1] + 0.5) * ratio + 0.5).all()  # rounded to whole steps


def test_linear_grid_is_as_before():
    grid = Evaluation(every=7)
    assert [grid.after(s, 20) for s in (0, 6, 7, 14)] == [7, 7, 14, 20]

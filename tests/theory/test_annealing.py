"""The theory of a law that lets its tail go, against the exact flow of `theory.k_composition`."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from lopsided.theory import annealing, k_composition
from lopsided.theory.annealing import heavy_time


def time_of_the_flow(learned, unlearned, share, k):
    """Until the unlearned weights, from 0, are 1/2, with their mass at `share`."""
    p = np.concatenate([np.full(learned, (1 - share) / learned), np.full(unlearned, share / unlearned)])
    start = np.concatenate([np.ones(learned), np.zeros(unlearned)])
    half = lambda t, u: u[-1] - 0.5
    half.terminal = True
    flow = lambda t, u: -k_composition.gradient(u, p, k)
    return solve_ivp(flow, (0, 1e5), start, events=half, rtol=1e-8, method="LSODA").t_events[0][0]


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_one_kth_is_the_best_share(k):
    shares = np.linspace(0.001, 0.999, 999)
    assert shares[np.argmax(annealing.tail_speed(shares, k))] == pytest.approx(annealing.best_share(k), abs=1e-3)


def test_the_kept_accuracy_is_between_a_quarter_and_one_over_e():
    kept = [annealing.kept_accuracy(k) for k in range(2, 200, 2)]
    assert kept[0] == 0.25
    assert kept == sorted(kept)
    assert kept[-1] == pytest.approx(1 / np.e, rel=0.01)


@pytest.mark.parametrize("k", [2, 4, 6])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_small_tails_take_the_time_of_the_formula(k, share):
    """While the tail is small, what it learns does not move A."""
    assert time_of_the_flow(8, 32, share, k) == pytest.approx(annealing.tail_time(32, share, k), rel=0.15 * k / 2)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_time_is_proportional_to_the_number_of_unlearned_skills(k):
    times = [time_of_the_flow(8, n, 1 / k, k) for n in (16, 32, 64)]
    np.testing.assert_allclose(np.diff(np.log(times)) / np.log(2), 1.0, atol=0.01)


@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_formula_is_an_upper_bound(k):
    """What the tail has learned already makes the rest faster."""
    for share in (0.1, 0.3, 0.6, 0.9):
        assert time_of_the_flow(8, 32, share, k) <= annealing.tail_time(32, share, k) * 1.001


@pytest.mark.parametrize("k", [2, 4, 6])
def test_with_one_heavy_skill_time_is_proportional_to_the_number_of_others(k):
    times = np.array([heavy_time(d, 1 - 1 / k, k, 0.5) for d in (128, 512, 2048)])
    slopes = np.diff(np.log(times)) / np.log(4)
    assert ((slopes > 0.93) & (slopes < 1.05)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("k", "best"), [(2, 0.30), (4, 0.61), (6, 0.73)])
def test_all_but_one_kth_costs_less_than_a_fifth_more_than_the_best_share(k, best):
    """It is the best one of an instant; the others help each other as they are learned, and then less would do."""
    shares = np.linspace(0.3, 0.97, 68)
    times = [heavy_time(1024, share, k, 0.5) for share in shares]
    assert shares[np.argmin(times)] == pytest.approx(best, abs=0.02)
    assert heavy_time(1024, 1 - 1 / k, k, 0.5) < 1.2 * min(times)


def test_medians_of_the_exact_flow_that_were_measured():
    """`one-heavy-skill`, 32 seeds: 125 at k = 2 and d = 64, 292 at k = 4 and d = 128, 697 at k = 6 and d = 256."""
    for d, k, measured, within in ((64, 2, 125, 0.05), (128, 4, 292, 0.05), (256, 6, 697, 0.15)):
        assert heavy_time(d, 1 - 1 / k, k, 0.5) == pytest.approx(measured, rel=within)


def median_time_of_the_flow(d, mass, k, r, heavy, seeds):
    """Median until all of d Gaussian weights of scale r are within 1/2 of the sign that wins."""
    p = np.full(d, (1 - mass) / (d - heavy))
    p[:heavy] = mass / heavy
    found = []
    for seed in range(seeds):
        start = np.random.default_rng(seed).normal(0, r, d)
        half = lambda t, u: max(u.min(), (-u).min()) - 0.5  # both signs are solutions
        half.terminal = True
        flow = lambda t, u: -k_composition.gradient(u, p, k)
        times = solve_ivp(flow, (0, 1e5), start, events=half, rtol=1e-5, method="LSODA").t_events[0]
        found.append(times[0] if len(times) else np.inf)
    return float(np.median(found))


@pytest.mark.parametrize(("k", "mass", "heavy"), [(2, 0.5, 1), (2, 0.5, 8), (2, 0.3, 4), (4, 0.75, 1), (4, 0.75, 2)])
def test_several_heavy_skills_take_the_time_of_the_equations(k, mass, heavy):
    measured = median_time_of_the_flow(64, mass, k, 0.5, heavy, 16)
    assert heavy_time(64, mass, k, 0.5, heavy) == pytest.approx(measured, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4, 6])
def test_one_heavy_skill_is_the_best_number(k):
    """At its best share: several have to escape as under a uniform law of their own."""
    shares = np.linspace(0.2, 0.95, 16)
    best = [min(heavy_time(256, share, k, 0.5, number) for share in shares) for number in (1, 2, 4, 8)]
    assert best == sorted(best)

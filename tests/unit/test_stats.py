"""The verdict machinery: definitions, agreement with SciPy, calibration and power by simulation."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as sps

from lopsided.stats import decisions
from lopsided.stats.compare import centre, compare_gaps, compare_times, compare_values
from lopsided.stats.signflip import sign_flip
from lopsided.stats.slopes import of_points
from lopsided.stats.times import Times, median, time_to_learn, time_to_reach
from lopsided.stats.unpaired import log_rank_scores, permutation_tails
from lopsided.stats.verdict import Claim, Decision, Difference, Look, Rivals
from tests.reference import calibration


def times(values, budget):
    values = np.asarray(values, float)
    return Times(np.minimum(values, budget), values > budget)


def test_learned_means_reached_and_held_at_the_next_evaluation():
    axis = np.array([10, 20, 30, 40, 50])
    curves = np.array(
        [
            [0.1, 0.95, 0.96, 0.97, 0.99],  # learned at 20
            [0.1, 0.95, 0.50, 0.97, 0.99],  # a spike at 20 does not count
            [0.1, 0.20, 0.30, 0.40, 0.95],  # reached at the end only: nothing confirms it
            [0.1, 0.20, 0.30, 0.40, 0.50],
            [0.1, 0.95, 0.96, np.nan, np.nan],  # learned, then diverged
            [0.1, np.nan, np.nan, np.nan, np.nan],
        ]
    )
    found = time_to_learn(axis, curves, 0.9)
    assert found.censored.tolist() == [False, False, True, True, False, True]
    assert found.time.tolist() == [20, 40, 50, 50, 20, 50]


def test_one_evaluation_confirms_nothing():
    assert time_to_learn(np.array([10]), np.array([[1.0]]), 0.5).censored.all()


@given(arrays(float, st.integers(1, 9), elements=st.floats(1, 100)), st.floats(1, 100))
def test_median_counts_censored_members_as_infinite(values, budget):
    found = times(values, budget).median
    expected = np.median(np.where(values > budget, np.inf, values)) if (values > budget).mean() < 0.5 else np.inf
    assert found == pytest.approx(expected) or (np.isinf(found) and (values > budget).mean() >= 0.5)


def test_median_of_infinities():
    assert median(np.array([1.0, np.inf])) == np.inf
    assert median(np.array([1.0, 2.0, np.inf])) == 2.0


def test_log_rank_scores_give_scipys_statistic():
    rng = np.random.default_rng(0)
    a, b = times(rng.exponential(1, 12), 1.5), times(rng.exponential(2, 15), 1.5)
    pooled = Times(np.concatenate([a.time, b.time]), np.concatenate([a.censored, b.censored]))
    observed_minus_expected = log_rank_scores(pooled)[:12].sum()
    as_scipy = [sps.CensoredData.right_censored(t.time, t.censored) for t in (a, b)]
    theirs = sps.logrank(*as_scipy).statistic
    assert np.sign(observed_minus_expected) == np.sign(theirs)
    # SciPy divides by the standard deviation of the hypergeometric; recompute it here.
    events = np.unique(pooled.time[~pooled.censored])
    risk = (pooled.time[:, None] >= events).sum(0)
    risk_a = (a.time[:, None] >= events).sum(0)
    d = ((pooled.time[:, None] == events) & ~pooled.censored[:, None]).sum(0)
    variance = (d * risk_a * (risk - risk_a) * (risk - d) / np.maximum(risk**2 * (risk - 1), 1)).sum()
    assert observed_minus_expected / variance**0.5 == pytest.approx(theirs, rel=1e-6)


def decided(slow, fast):
    return decisions.faster(slow, fast, "steps").verdict


AT_MOST = sps.binom.ppf(0.99, 1000, 0.05)
# The sample sizes and budgets that recipes use: seeds per arm, share of the true median given as budget.
DESIGNS = [(4, 1.0), (5, 1.3), (8, 1.0), (8, 3.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "budget"), DESIGNS)
def test_same_distribution_is_decided_at_most_one_time_in_twenty(n, budget):
    """1,000 comparisons of two arms drawn from one log-normal, censoring included."""
    rng = np.random.default_rng(n)
    draws = rng.lognormal(0, 0.3, (1000, 2, n))
    verdicts = [decided(times(a, budget), times(b, budget)) for a, b in draws]
    assert sum(v in ("holds", "contradicted") for v in verdicts) <= AT_MOST


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 8])
def test_same_distribution_of_values_is_decided_at_most_one_time_in_twenty(n):
    rng = np.random.default_rng(n)
    draws = np.round(rng.beta(2, 5, (1000, 2, n)), 2)  # ties included
    verdicts = [decisions.higher(a, b, "accuracy").verdict for a, b in draws]
    assert sum(v != "inconclusive" for v in verdicts) <= AT_MOST


@pytest.mark.parametrize(("n", "ratio", "spread"), [(8, 1.5, 0.15), (5, 12, 0.3), (4, 12, 0.3)])
def test_effects_of_the_prototypes_are_found(n, ratio, spread):
    """SPEC's effects: parity GD 1.5 times fewer steps and 12 times less compute; at least 90 % of 300 are `holds`."""
    rng = np.random.default_rng(0)
    found = [
        decided(times(ratio * rng.lognormal(0, spread, n), 1e9), times(rng.lognormal(0, spread, n), 1e9))
        for _ in range(300)
    ]
    assert found.count("holds") >= 270


@pytest.mark.parametrize(("n", "learns"), [(5, 0.99), (8, 0.95)])
def test_learning_against_never_learning_is_found(n, learns):
    """State tracking: one arm at chance for the whole budget, the other learns in nearly every seed."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(300):
        fast = np.where(rng.random(n) < learns, rng.lognormal(-0.5, 0.3, n), np.inf)
        found.append(decided(times(np.full(n, np.inf), 2.0), times(fast, 2.0)))
    assert found.count("holds") >= 270


def test_reversed_effect_is_contradicted():
    rng = np.random.default_rng(0)
    slow, fast = rng.lognormal(0, 0.1, 8), rng.lognormal(1, 0.1, 8)
    assert decided(times(slow, 1e9), times(fast, 1e9)) == "contradicted"


def test_known_bounds_when_an_arm_never_learns():
    never, fast = times([np.inf] * 4, 100.0), times([10.0, 11, 12, 13], 100.0)
    claim = decisions.faster(never, fast, "steps")
    assert claim.verdict == "holds"
    assert claim.effect == pytest.approx(100 / 11.5)
    assert claim.interval[1] is None
    both = decisions.faster(never, never, "steps")
    assert (both.verdict, both.effect) == ("inconclusive", None)


def test_a_difference_that_is_certainly_small_is_negligible():
    rng = np.random.default_rng(0)
    one, other = (times(100 * rng.lognormal(0, 0.1, 24), np.inf) for _ in range(2))
    found = decisions.faster(one, other, "steps")
    assert found.verdict == "negligible"
    assert found.small == (0.8, 1.25)
    low, high = found.interval
    assert 0.8 < low < high < 1.25
    assert found.equivalence
    # Neither what is decided nor what is uncertain, and nothing where more is claimed than a difference.
    assert decisions.faster(times(one.time * 1.2, np.inf), other, "steps").verdict == "holds"
    wide = times(100 * rng.lognormal(0, 1.0, 24), np.inf)
    assert decisions.faster(one, wide, "steps").verdict == "inconclusive"
    assert decisions.faster(one, other, "steps", at_least=1.05).verdict != "negligible"
    assert decisions.wider((one, other), (other, one), "steps").verdict == "negligible"
    # Differences and slopes only within what the claim names.
    close = rng.normal(0.5, 0.02, 24), rng.normal(0.5, 0.02, 24)
    assert decisions.higher(*close, "accuracy").verdict == "inconclusive"
    assert decisions.higher(*close, "accuracy", small=0.05).verdict == "negligible"
    settings = np.array([8.0, 16.0, 32.0])
    law = of_points(settings, settings**-0.5 * rng.lognormal(0, 0.05, (24, 3)))
    assert decisions.slope_below(law, -0.5, "a against b").verdict == "inconclusive"
    assert decisions.slope_below(law, -0.5, "a against b", small=0.1).verdict == "negligible"
    assert decisions.slope_above(law, -0.5, "a against b", small=0.1).verdict == "negligible"


def at_evaluations(values, every):
    """Times as evaluations at multiples of `every` see them."""
    seen = np.ceil(np.asarray(values) / every) * every
    return Times(seen, np.zeros(len(seen), bool), np.full(len(seen), float(every)))


@pytest.mark.parametrize(("every", "verdict"), [(10.0, "negligible"), (60.0, "inconclusive")])
def test_nothing_is_negligible_that_evaluations_cannot_see(every, verdict):
    """Of a true ratio of 1.5, three evaluations made "certainly less than 25 %"."""
    rng = np.random.default_rng(0)
    one, same, slower = (at_evaluations(ratio * 100 * rng.lognormal(0, 0.03, 24), every) for ratio in (1, 1.0, 1.1))
    assert decisions.faster(one, same, "steps").verdict == verdict
    assert decisions.as_fast(one, same, "steps").verdict == ("holds" if every < 60 else "inconclusive")
    if every == 60.0:
        assert decisions.faster(one, same, "steps").reason == "grid"
        assert decisions.wider((one, same), (same, one), "steps").reason == "grid"
        assert np.array_equal(slower.time, one.time)
        assert decisions.not_ahead(one, slower, "steps").reason == "grid"
        # What no place between two evaluations would change is said all the same.
        assert decisions.not_ahead(one, at_evaluations(one.time * 3, every), "steps").verdict == "holds"


def test_a_mean_ratio_near_one_is_negligible():
    ratios = np.exp(np.random.default_rng(3).normal(0.0, 0.1, 16))
    for test in (decisions.above, decisions.below):
        found = test(ratios, 1.0, "gradients", ratio=True)
        assert found.verdict == "negligible"
        assert found.small == (0.8, 1.25)
        assert test(1.5 * ratios, 1.0, "gradients", ratio=True).verdict in ("holds", "contradicted")
        assert test(2 * ratios, 2.0, "accuracy / chance", ratio=True).verdict == "inconclusive"  # no difference asked


def test_several_places_are_negligible_together():
    small = Decision("m", "x", 1.0, (0.9, 1.1), "negligible", 8, "t", 0.01)
    assert decisions.everywhere([small, small], ["a", "b"]).verdict == "negligible"
    assert decisions.everywhere([small, small._replace(verdict="holds")], ["a", "b"]).verdict == "inconclusive"


def test_of_several_places_the_one_that_contradicts_is_shown():
    open_, held = (
        Decision("m", "x", 1.1, (0.9, 1.3), "inconclusive", 8, "t", 0.4),
        Decision("m", "x", 2, (1.5, 3), "holds", 8, "t"),
    )
    wrong = Decision("m", "x", 0.5, (0.4, 0.7), "contradicted", 8, "t", 0.02)
    found = decisions.everywhere([open_, wrong, wrong._replace(effect=0.3, p_value=0.01), held], list("abcd"))
    assert (found.verdict, found.effect, found.p_value) == ("contradicted", 0.3, 0.01)
    assert found.contradicted_at == "c"
    assert found.places == (("a", 0.4), ("b", 0.02), ("c", 0.01), ("d", 1.0))
    assert decisions.everywhere([open_, held._replace(p_value=0.01)], list("ab")).effect == 1.1


def test_a_paper_number_is_not_replicated_by_a_negligible_difference():
    claim = replace(Claim.of("c", Decision("ratio of", "x", 1.0, (0.9, 1.1), "negligible", 8, "t")), number=2.0)
    assert claim.replicates == "not"
    assert replace(claim, number=1.05).replicates == "fully"


def test_a_claim_of_json_is_what_it_was():
    """Every field, nested ones too."""
    law = of_points(np.array([8.0, 16.0, 32.0]), np.ones((6, 3)) * np.array([4.0, 2.0, 1.0]))
    found = decisions.everywhere([decisions.slope_near(law, -1.0, 0.1, "log a against b")], ["here"])
    claim = replace(
        Claim.of("c", found), small=(0.8, 1.25), rivals=Rivals(5, ("a", "b"), False), folds_agree=(2, 3),
        look=Look(1, 2, 8, 0.03), at_edge=("lr = 3",), assumed=("loss",),
        setting=(Difference("steps", 10, 100), Difference("g", "A", None)),
    )  # fmt: skip
    assert Claim.of_json(json.loads(json.dumps(claim.as_json()))) == claim


def test_at_least_asks_for_more_than_faster():
    """Two arms whose times differ by exactly a factor of 2."""
    fast = np.exp(0.2 * sps.norm.ppf((np.arange(8) + 0.5) / 8))
    verdict = {r: decisions.faster(times(2 * fast, 99), times(fast, 99), "steps", r).verdict for r in (1, 2, 4)}
    assert verdict == {1: "holds", 2: "inconclusive", 4: "contradicted"}


def test_different_budgets_do_not_make_an_effect():
    """The same arm followed ten times longer is not slower."""
    rng = np.random.default_rng(0)
    decisions = [
        decided(times(rng.lognormal(1, 0.3, 8), 30.0), times(rng.lognormal(1, 0.3, 8), 2.5)) for _ in range(300)
    ]
    assert sum(d != "inconclusive" for d in decisions) <= 15


@pytest.mark.parametrize("n", [3, 5])
def test_enumerated_p_value_equals_scipys(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0, 1, n), rng.normal(1, 1, n)
    theirs = sps.permutation_test(
        (a, b), lambda x, y, axis: x.sum(axis) - y.sum(axis), vectorized=True, n_resamples=10**5
    ).pvalue
    assert permutation_tails(a, b).two_sided == pytest.approx(theirs)


def test_bounds():
    near = np.array([1.0, 1.1, 0.9, 1.05, 0.97, 1.02, 0.95, 1.01])
    for ratio in (False, True):
        assert decisions.below(near, 2.0, "x", ratio).verdict == "holds"
        assert decisions.below(near, 0.5, "x", ratio).verdict == "contradicted"
        assert decisions.above(near, 1.0, "x", ratio).verdict == ("negligible" if ratio else "inconclusive")
        assert decisions.below(near[:1], 2.0, "x", ratio).verdict == "inconclusive"
    assert decisions.near(near, 1.0, 0.2, "x").verdict == "holds"
    assert decisions.near(near, 2.0, 0.2, "x").verdict == "contradicted"
    assert decisions.near(near, 1.0, 0.01, "x").verdict == "inconclusive"


def test_two_equal_quantities_are_near_whichever_is_divided_by_the_other():
    """The mean of a / b is 1.17 here, and so is that of b / a."""
    ratio = np.exp(np.random.default_rng(0).normal(0, 0.55, 200))
    ratio = np.concatenate([ratio, 1 / ratio])
    for values in (ratio, 1 / ratio):
        assert values.mean() > 1.1
        assert decisions.near(values, 1.0, 0.1, "x").verdict != "holds"
        assert decisions.near(values, 1.0, 0.1, "x", ratio=True).verdict == "holds"
    for factor in (1.5, 1 / 1.5):
        assert decisions.near(factor * ratio, 1.0, 0.1, "x", ratio=True).verdict == "contradicted"


def test_shares_of_members_have_the_exact_interval():
    """Ten of ten say no more than that seven of ten would: zero is not the width of that interval."""
    found = decisions.members_above(np.ones(10, bool), 0.5, "that learn")
    assert found.verdict == "holds"
    assert found.interval[0] == pytest.approx(0.025 ** (1 / 10))
    assert decisions.members_above(np.ones(10, bool), 0.9, "that learn").verdict == "inconclusive"
    assert decisions.members_above(np.zeros(10, bool), 0.5, "that learn").verdict == "contradicted"
    assert decisions.members_above(np.ones(0, bool), 0.5, "that learn").verdict == "inconclusive"


@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 3.0]))
def test_censored_intervals_hold_what_the_test_does_not_reject(seed, budget):
    from lopsided.stats.compare import _followed

    rng = np.random.default_rng(seed)
    slow, fast = (times(rng.lognormal(0, 0.5, 9), budget) for _ in range(2))
    c = compare_times(slow, fast)
    logs = [Times(np.log(t.time), t.censored) for t in (slow, fast)]
    for ratio in (0.5, 0.9, 1.1, 2.0):
        p_value = sign_flip(_followed(*logs, np.log(ratio))).two_sided
        ends = np.log(np.maximum([c.low, c.high], 1e-9)) - np.log(ratio)
        inside = c.low <= ratio <= c.high
        assert inside == (p_value > 0.05) or np.abs(ends).min() < 2e-3


def test_pairs_share_what_seeds_share():
    """A ratio of 1.2 that seeds hide: their times spread over a decade, their ratios do not."""
    rng = np.random.default_rng(0)
    common = rng.lognormal(0, 1, 8)
    slow, fast = (times(r * common * rng.lognormal(0, 0.05, 8), 1e9) for r in (1.2, 1.0))
    assert decided(slow, fast) == "holds"
    assert decided(Times(slow.time[:7], slow.censored[:7]), fast) == "inconclusive"  # no pairs


@pytest.mark.parametrize("n", [4, 8])
@given(st.data())
def test_comparison_is_antisymmetric(n, data):
    a, b = (data.draw(arrays(float, n, elements=st.floats(0, 1))) for _ in range(2))
    one, other = compare_values(a, b), compare_values(b, a)
    assert one.effect == pytest.approx(-other.effect)
    assert one.tails.two_sided == pytest.approx(other.tails.two_sided)


@pytest.mark.parametrize("budget", [100, 21, 13])
@pytest.mark.parametrize("repeats", [1, 2])
def test_ratio_inverts(budget, repeats):
    a, b = times([10.0, 12, 14, 16] * repeats, budget), times([20.0, 22, 28, 30] * repeats, budget)
    one, other = compare_times(b, a), compare_times(a, b)
    assert one.effect == pytest.approx(1 / other.effect, rel=1e-3, nan_ok=True)
    assert one.tails.two_sided == pytest.approx(other.tails.two_sided)


def certain(value, n=8, spread=0.02, seed=0):
    rng = np.random.default_rng([seed, n])
    return Times(value * np.exp(rng.normal(0, spread, n)), np.zeros(n, bool))


def never(budget, n=8):
    return Times(np.full(n, float(budget)), np.ones(n, bool))


def test_arms_that_tie_in_every_member_have_an_interval_in_order():
    same = times([3, 5, 8, 13, 21, 34, 99, 99], 50)
    found = compare_times(same, same)
    assert found.low <= found.effect <= found.high
    assert (found.low, found.high) == pytest.approx((1, 1), abs=1e-3)


def test_members_that_all_learn_at_one_evaluation_decide_nothing():
    """Each took at most 100 steps; which of the two arms took fewer, and how many fewer, nobody knows."""
    same = Times(np.full(16, 100.0), np.zeros(16, bool))
    for test in (decisions.faster, decisions.as_fast, decisions.not_ahead):
        found = test(same, same, "steps")
        assert found.verdict == "inconclusive"
        assert "evaluate more often" in found.method
        assert found.reason == "grid"
    later = Times(np.full(16, 200.0), np.zeros(16, bool))
    assert decisions.faster(later, same, "steps").verdict == "holds"
    assert decisions.as_fast(certain(100), certain(100, seed=1), "steps").verdict == "holds"


def test_a_gap_is_closed_within_a_factor():
    assert decisions.as_fast(certain(100), certain(95, seed=1), "steps").verdict == "holds"
    assert decisions.as_fast(certain(200), certain(100, seed=1), "steps").verdict == "contradicted"
    assert decisions.as_fast(certain(100), certain(200, seed=1), "steps").verdict == "contradicted"
    wild = certain(110, spread=0.5), certain(100, spread=0.5, seed=1)
    assert decisions.as_fast(*wild, "steps").verdict == "inconclusive"
    assert decisions.as_fast(never(1000), certain(100), "steps").verdict == "contradicted"
    assert decisions.as_fast(never(1000), never(1000), "steps").verdict == "inconclusive"


def test_not_ahead_is_one_side_of_closed():
    assert decisions.not_ahead(certain(100), certain(200, seed=1), "steps").verdict == "holds"
    assert decisions.not_ahead(certain(200), certain(100, seed=1), "steps").verdict == "contradicted"
    assert decisions.not_ahead(never(1000), never(1000), "steps").verdict == "inconclusive"


def test_one_gap_is_wider_than_another():
    small, medium, large = (certain(v, seed=i) for i, v in enumerate((100, 130, 300)))
    found = decisions.wider((medium, small), (large, small), "steps")
    assert found.verdict == "holds"
    assert abs(found.effect - 300 / 130) < 0.1
    assert decisions.wider((large, small), (medium, small), "steps").verdict == "contradicted"
    bound = decisions.wider((medium, small), (never(1000), small), "steps")  # 10 or more against 1.3
    assert (bound.verdict, bound.interval[1]) == ("holds", None)
    assert abs(bound.effect - 10 / 1.3) < 0.5
    assert decisions.wider((never(1000), small), (medium, small), "steps").verdict == "contradicted"
    assert decisions.wider((never(1000), small), (never(1000), small), "steps").verdict == "inconclusive"
    assert decisions.wider((large, small), (never(200), small), "steps").verdict == "inconclusive"
    wild = [certain(v, spread=0.6, seed=i) for i, v in enumerate((100, 110, 120))]
    assert decisions.wider((wild[1], wild[0]), (wild[2], wild[0]), "steps").verdict == "inconclusive"


def test_one_member_that_never_learned_leaves_the_gap_of_the_others_known():
    small, medium, large = (certain(v, n=16, seed=i) for i, v in enumerate((100, 130, 300)))
    stuck = np.arange(len(medium.time)) == 1
    once = Times(np.where(stuck, 5000, medium.time), stuck)
    found = decisions.wider((once, small), (large, small), "steps")
    assert found.verdict == "holds"
    assert "sign test" in found.method
    assert 1 < found.interval[0] < 300 / 130
    assert decisions.wider((large, small), (once, small), "steps").verdict == "contradicted"
    half = Times(medium.time, np.arange(len(medium.time)) % 2 == 0)
    assert decisions.wider((half, small), (large, small), "steps").verdict == "inconclusive"


@given(st.integers(0, 20), st.sets(st.integers(0, 79)), st.integers(0, 10_000))
def test_the_ratio_of_gaps_lies_in_its_interval_and_is_not_significant_on_both_sides(n, never, seed):
    """Whatever members did not learn; `never` counts them through the four arms."""
    arms = []
    for i in range(4):
        time = certain(100, spread=0.5, n=n, seed=4 * seed + i).time if n else np.zeros(0)
        stuck = np.array([n * i + j in never for j in range(n)], bool)
        arms.append(Times(np.where(stuck, 5000.0, time), stuck))
    c = compare_gaps((arms[0], arms[1]), (arms[2], arms[3]))
    assert c.low <= c.high
    assert np.isnan(c.effect) or c.low * (1 - 1e-9) <= c.effect <= c.high * (1 + 1e-9)
    assert max(c.tails) > 0.4


def test_gaps_that_tie_speak_for_neither_side():
    some = certain(100, n=16, seed=1)
    stuck = np.arange(16) == 3
    once = Times(np.where(stuck, 5000.0, some.time), stuck)
    c = compare_gaps((some, some), (once, some))
    assert min(c.tails) > 0.4
    assert c.low <= 1 <= c.high


def test_equal_gaps_are_called_different_at_most_one_time_in_twenty():
    wrong = 0
    for seed in range(120):
        arms = [certain(v, spread=0.2, seed=4 * seed + i) for i, v in enumerate((100, 150, 200, 300))]
        c = compare_gaps((arms[1], arms[0]), (arms[3], arms[2]))
        wrong += not c.low < 1 < c.high
    assert wrong <= 12  # the 99 % point of 120 trials at 1 in 20


def test_equal_gaps_cut_off_by_the_budget_are_seldom_called_different():
    wrong = 0
    for seed in range(120):
        arms = [certain(v, spread=0.3, seed=4 * seed + i) for i, v in enumerate((100, 150, 200, 300))]
        cut = arms[3].time > 300  # about half of the last arm's members
        late = Times(np.minimum(arms[3].time, 300), cut)
        c = compare_gaps((arms[1], arms[0]), (late, arms[2]))
        wrong += not c.low < 1 < c.high
    assert wrong <= 12


def test_no_values_have_no_mean():
    assert centre(np.zeros(0), 0.0)[1:3] == (-np.inf, np.inf)


NULLS = [case for case in calibration.cases() if case.wrong and not case.limit]


@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("case", NULLS, ids=lambda case: f"{case.kind}, {case.truth}")
def test_no_kind_of_claim_is_wrong_more_than_one_time_in_twenty(case, n):
    """`python -m tests.reference.calibration` prints the table of docs/deciding.md from more trials and seeds."""
    trials = 150
    assert calibration.share(case, n, trials, seed=1) <= sps.binom.ppf(0.995, trials, 0.05) / trials


def test_members_that_take_no_time_have_a_ratio():
    slow, fast = certain(100), Times(np.append(np.full(7, 50.0), 0.0), np.zeros(8, bool))
    found = decisions.faster(slow, fast, "steps")
    assert found.verdict == "holds"
    assert 1.9 < found.effect < 2.1
    assert (
        decisions.faster(Times(np.zeros(8), np.zeros(8, bool)), Times(np.zeros(8), np.zeros(8, bool)), "s").effect == 1
    )


def test_nobody_reaches_a_value_that_is_not_finite():
    axis, falling = np.array([10, 20, 30]), np.array([[3.0, 2.0, 1.0], [np.nan, np.nan, np.nan]])
    assert time_to_reach(axis, "test/loss", falling, float("inf")).censored.all()
    assert time_to_reach(axis, "test/accuracy", falling, float("inf")).censored.all()
    found = time_to_reach(axis, "test/loss", falling, 2.5)
    assert found.time[0] == 20
    assert found.censored.tolist() == [False, True]

"""Arguments of the library that nobody should have meant: refused in one line, or answered truly."""

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.stats import decisions
from lopsided.stats.times import Times, falls
from tests.conftest import PARITY
from tests.library.small import spec

RISING = np.linspace(0.05, 0.95, 10) * np.ones((8, 1))


@pytest.mark.parametrize(
    "seeds", [0, -1, 1.5, None, "01", True, [], [0, 0], [1, 0, 1], [-1], [2**64], ["a"], np.array([0.5])]
)
def test_seeds_are_a_number_or_different_ones(seeds, tmp_path):
    """A seed that came twice was a member that never learned."""
    for call in (lop.run, lop.load):
        if call is lop.load and seeds is None:
            continue  # as many as a recorded run has, or 8
        with pytest.raises(lop.InputError, match="seeds = "):
            call(spec(0.5), seeds, tmp_path)
    assert not list(tmp_path.iterdir())


def test_seeds_in_whatever_holds_them(tmp_path):
    first = lop.run(spec(0.5), np.int64(2), tmp_path)
    for seeds in (range(2), (s for s in (0, 1)), np.array([1, 0]), {0, 1}):
        again = lop.run(spec(0.5), seeds, tmp_path)
        assert (again["arm"].metric("test/loss") == first["arm"].metric("test/loss")).all()


@pytest.mark.parametrize("arms", [None, [lop.Spec.parse(PARITY)], {}, {"a": 3}])
def test_arms_are_specs_by_name(arms, tmp_path):
    with pytest.raises(lop.InputError, match="arms: valid is a Spec"):
        lop.run(arms, 2, tmp_path)


def test_an_axis_has_a_name(tmp_path):
    found = lop.run(spec(0.5), 2, tmp_path)
    for call in (lambda: found.plot(axis="nope"), lambda: found["arm"].times("test/accuracy", 0.9, "foo")):
        with pytest.raises(lop.InputError, match="unknown axis"):
            call()


def test_who_is_there_before_training_has_no_ratio():
    axis = np.arange(0, 1000, 100)
    already = np.full((8, 10), 0.95)
    compared = lop.compare(already, RISING, axis, metric="accuracy")
    for ask in (compared.faster, compared.as_fast):
        with pytest.raises(lop.InputError, match=r"'baseline' has accuracy ≥ 0\.9 at 0 steps, before"):
            ask(at=0.9)
    assert lop.compare(RISING, RISING**2, axis, metric="accuracy").faster(at=0.5).verdict == "contradicted"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda c: c.as_fast(at=0.5, within=0.5), "within = 0.5: a number above 1"),
        (lambda c: c.as_fast(at=0.5, within=0), "within = 0"),
        (lambda c: c.as_fast(at=0.5, within=float("nan")), "within = nan"),
        (lambda c: c.faster(at=0.5, at_least=-1), "at_least = -1"),
        (lambda c: c.faster(at="0.5"), "at = '0.5'"),
    ],
)
def test_factors_are_numbers_that_mean_something(ask, said):
    with pytest.raises(lop.InputError, match=said):
        ask(lop.compare(RISING, RISING, metric="accuracy"))


@pytest.mark.parametrize(
    ("curves", "said"),
    [
        (lop.Curves("a", np.arange(1, 11), np.empty((0, 10))), "has shape"),
        (lop.Curves("a", np.arange(0), np.empty((3, 0))), "has shape"),
        (lop.Curves("a", np.arange(-1, 9), RISING), "from 0 or more"),
        (lop.Curves("a", ["x"] * 10, RISING), "has to be numbers"),
        (lop.Curves("a", np.arange(1, 9), RISING), "on an axis"),
    ],
)
def test_curves_that_are_none_are_refused(curves, said):
    with pytest.raises(lop.InputError, match=said):
        lop.compare(curves, curves)


def test_curves_of_lists_are_curves():
    listed = lop.Curves("a", list(range(1, 11)), RISING.tolist())
    assert lop.compare(listed, listed, metric="accuracy", paired=True).higher().verdict == "negligible"


def test_ends_at_different_places_are_named():
    long, short = lop.Curves("long", np.arange(1, 11), RISING), lop.Curves("short", np.arange(1, 7), RISING[:, :6])
    assert "(after 10 and 6 samples)" in str(lop.compare(long, short, metric="accuracy").lower())


def test_a_small_difference_of_accuracies_is_negligible():
    noise = np.random.default_rng(0).normal(0, 1e-4, (2, 32, 4))
    base, other = 0.9 + noise
    assert lop.compare(base, other, metric="accuracy", paired=True).higher().verdict == "negligible"
    assert lop.compare(base, other, metric="loss", paired=True).higher().verdict == "inconclusive"
    assert lop.compare(base, other + 0.2, metric="accuracy", paired=True).higher().verdict == "holds"


def test_three_against_three_decide_an_equivalence():
    """A tenth of their splits is rare enough for its two one-sided tests at 5 %."""
    slow, fast = (Times(np.array(t), np.zeros(3, bool)) for t in ([100.0, 101.0, 102.0], [100.5, 101.5, 99.5]))
    assert decisions.as_fast(slow, fast, "steps").verdict == "holds"


@pytest.mark.parametrize("members", [1, 2, 3])
def test_of_so_few_members_no_interval_is_known(members):
    """Two independent samples of three have 20 splits: none is as rare as one in 40."""
    random = np.random.default_rng(0)
    a, b = random.normal(0, 1, (2, members, 5)).cumsum(-1) + 10
    assert lop.compare(a, b, metric="accuracy").higher().interval == (None, None)
    found = lop.compare(RISING[:members], RISING[:members] ** 2, metric="accuracy").faster(at=0.5)
    assert (found.verdict, found.interval) == ("inconclusive", (0.0, None))


@pytest.mark.parametrize(
    ("metric", "down"),
    [("test/loss", True), ("val_Loss", True), ("perplexity", True), ("dev-NLL", True), ("bpb", True),
     ("word error", True), ("cross_entropy", True), ("valLoss", True), ("trainloss", True), ("test_errors", True),
     ("bits_per_byte", True), ("rmse", True), ("policy entropy", False), ("accuracy", False), ("glossary", False),
     ("reward", False)],
)  # fmt: skip
def test_names_of_metrics_that_fall(metric, down):
    assert falls(metric) == down


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rank_order": "reverse"}, "Did you mean 'reversed'"),
        ({"start": -1}, "start = -1"),
        ({"steps": 2.5}, "steps = 2"),
    ],
)
def test_batches_refuse_what_a_spec_refuses(change, said):
    with pytest.raises(lop.InputError, match=said):
        next(lop.batches(lop.tasks.SparseParity(d=6, k=2), lop.plans.Online(batch=4), **change))


@pytest.mark.parametrize("samples", [-1, 0, 1, 2.5])
def test_a_check_takes_some_samples(samples):
    with pytest.raises(lop.InputError, match="at least 8"):
        lop.check(lop.tasks.SparseParity(d=6, k=2), samples=samples)


@pytest.mark.parametrize(
    "change",
    [{"cap": "8"}, {"cap": True}, {"seed": None}, {"seed": "a"}, {"seed": 1.5}, {"groups": True},
     {"shape": ld.Weights(["x", "y"])}],
)  # fmt: skip
def test_a_stream_s_numbers_are_numbers(change):
    """Some of them ended in a TypeError of NumPy's, others were taken for another number."""
    asked = {"groups": ld.Groups(["a", "b"] * 10), "shape": ld.Uniform(), "total": 50, **change}
    with pytest.raises(lop.InputError):
        ld.Stream(**asked).at(0)

"""What a stream promises: pure positions, counts, epochs, nesting, caps, the laws of the laboratory, bad input."""

import itertools
import json
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import lopsided.data as ld
from lopsided.core.errors import InputError
from lopsided.skills import Annealed, BinnedPowerLaw, PowerLaw

RNG = np.random.default_rng(0)
LABELS = np.minimum((RNG.pareto(1.0, 20_000) * 3).astype(int), 299)
GROUPS = ld.Groups(LABELS)
TOTAL = 200_000
SHAPES = {
    "uniform": ld.Uniform(),
    "as is": ld.AsIs(),
    "power law": ld.PowerLaw(1.0),
    "random ranks": ld.PowerLaw(1.0, by="random"),
    "binned": ld.Binned(1.5, 5),
    "annealed": ld.Anneal(1.5, 0, begin=0.2, finish=0.9),
    "temperature": ld.Temperature(3.0),
    "fixed": ld.Weights({name: i + 1.0 for i, name in enumerate(GROUPS.names)}),
    "phases": ld.Phases(until=(0.1, 0.4, 1.0), shares=(0.01, 0.1, 1.0)),
    "annealed phases": ld.Anneal(1.0, 0) & ld.Phases(until=(0.1, 0.4, 1.0), shares=(0.05, 0.2, 1.0), of="run"),
    "curriculum": ld.Curriculum((0.5, 1.0), [np.ones(GROUPS.n_skills), np.arange(1.0, GROUPS.n_skills + 1)]),
}
each_shape = pytest.mark.parametrize("name", SHAPES)


def stream(name, total=TOTAL, seed=5, **options):
    return ld.Stream(GROUPS, SHAPES[name], total, seed, **options)


@each_shape
@pytest.mark.parametrize("replacement", [False, True])
def test_any_position_in_any_order_by_any_process(name, replacement):
    s = stream(name, replacement=replacement)
    whole = s.at(np.arange(TOTAL))
    some = np.random.default_rng(1).permutation(TOTAL)[:3000]
    assert (stream(name, replacement=replacement).at(some) == whole[some]).all()
    assert (pickle.loads(pickle.dumps(s)).at(some) == whole[some]).all()
    assert [int(s.at(n)) for n in some[:50]] == whole[some[:50]].tolist()
    assert s.at(np.arange(12).reshape(3, 4)).tolist() == whole[:12].reshape(3, 4).tolist()


@pytest.mark.parametrize("world", [1, 2, 3, 5, 8])
def test_ranks_are_a_layout(world):
    s = stream("annealed")
    found = np.concatenate([s.batch(step, 960, rank, world) for step in range(20) for rank in range(world)])
    assert (found == s.at(np.arange(20 * 960))).all()


@each_shape
def test_each_skill_comes_as_often_as_expected(name):
    s = stream(name)
    counts = np.bincount(GROUPS.cell[s.at(np.arange(TOTAL))], minlength=GROUPS.n_cells)
    # Within one at the end of each phase, but for the few positions by which the sum of rounded counts is off.
    assert np.abs(counts - s.schedule.expected()).max() < 4 * len(set(s.schedule.phase.tolist()))


@pytest.mark.parametrize("total", [3000, TOTAL])
def test_counts_are_within_one_of_the_law_at_every_position(total):
    """Not at the ends of blocks alone. (Time is position but for the root of the skills / 6, 6.6 here, as a standard
    deviation: that of a uniform fraction for each skill.)"""
    s = ld.Stream(GROUPS, ld.PowerLaw(1.0), total)
    cells, p = GROUPS.cell[s.at(np.arange(total))], s.schedule.weight[0]
    for cell in np.argsort(-p)[[0, 1, 5, 40, 200]]:
        off = np.cumsum(cells == cell) - p[cell] * np.arange(1, total + 1)
        assert np.abs(off).max() <= 1 + 5 * 0.41 * np.sqrt(GROUPS.n_cells) * p[cell]


@pytest.mark.parametrize("total", [2000, 9600, 20_005, 100_000])
@pytest.mark.parametrize("replacement", [False, True])
def test_what_is_drawn_follows_a_schedule(total, replacement):
    """In short runs too: blocks of 16,384 positions were shuffled over all changes inside them."""
    groups = ld.Groups(np.arange(3000) % 30)
    anneal = ld.Stream(groups, ld.Anneal(1.5, 0, begin=0.1, finish=0.9), total, replacement=replacement)
    first = groups.cell[anneal.at(np.arange(total))] == 0
    for part, share in zip(np.array_split(first, 10), np.arange(10) / 10 + 0.05, strict=True):
        law = np.arange(1.0, 31) ** -(1.5 * np.clip((0.9 - share) / 0.8, 0, 1))
        p, n = law[0] / law.sum(), len(part)
        assert abs(part.mean() - p) < 5 * np.sqrt(p * (1 - p) / n) + 0.01
    only = [np.eye(30)[i] for i in (0, 1, 2)]
    turns = ld.Stream(groups, ld.Curriculum((1 / 3, 2 / 3, 1), only), total, replacement=replacement)
    found = groups.cell[turns.at(np.arange(total))]
    edges = np.round(np.array([0, 1 / 3, 2 / 3, 1]) * total).astype(int)
    for i, (a, b) in enumerate(itertools.pairwise(edges)):
        assert (found[a + 2 : b - 2] == i).all()  # an edge may be rounded


@given(
    st.lists(st.integers(1, 999), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(1000, 3000),
    st.booleans(),
)
def test_every_phase_and_stretch_comes_whatever_the_total(thousandths, total, thirds):
    """The share of a rounded position may lie before the edge that it stands for."""
    until = (*(t / (999 if thirds else 1000) for t in thousandths if t < 999), 1.0)
    shares = tuple(np.linspace(0.1, 1, len(until)))
    s = ld.Stream(5000, ld.Phases(until, shares), total)
    edges = [0, *(round(u * total) for u in until)]
    lengths = {i: b - a for i, (a, b) in enumerate(itertools.pairwise(edges)) if b > a}
    assert np.diff(np.append(s.schedule.start, total)).tolist() == list(lengths.values())
    sizes = [shares[i] * 5000 for i in lengths]
    assert np.abs(s.schedule.subset[:, 0] - sizes).max() <= 1


@pytest.mark.parametrize("replacement", [False, True])
def test_batches_hold_their_expectation_or_are_drawn(replacement):
    """A frequent skill's count in a batch hardly varies; with replacement it does, as independent draws do."""
    s = stream("power law", replacement=replacement)
    batches = GROUPS.cell[s.at(np.arange(TOTAL // 256 * 256))].reshape(-1, 256)
    for cell in np.argsort(-s.schedule.weight[0])[:3]:
        p = s.schedule.weight[0][cell]
        share = (batches == cell).sum(1).var() / (256 * p * (1 - p))
        assert 0.8 < share < 1.2 if replacement else share < 0.2


@given(st.integers(1, 3000), st.integers(1, 9000), st.integers(0, 2**60))
def test_without_skills_every_example_comes_once_an_epoch(examples, total, seed):
    visits = np.bincount(ld.Stream(examples, ld.Uniform(), total, seed).at(np.arange(total)), minlength=examples)
    assert visits.max() - visits.min() <= 1


def test_visits_of_a_skills_examples_differ_by_at_most_one():
    found = stream("power law").at(np.arange(TOTAL))
    for until in (777, 5000, 16_400, 50_001, TOTAL):
        visits = np.bincount(found[:until], minlength=GROUPS.n_examples)
        for cell in range(0, GROUPS.n_cells, 7):
            mine = visits[GROUPS.cell == cell]
            assert mine.max() - mine.min() <= 1


def test_subsets_are_nested_and_used_up():
    s = stream("phases")
    found = s.at(np.arange(TOTAL))
    parts = [set(found[a:b].tolist()) for a, b in ((0, 20_000), (20_000, 80_000), (80_000, TOTAL))]
    assert parts[0] < parts[1] < parts[2]
    for part, size in zip(parts, s.schedule.subset.sum(1), strict=True):
        assert 0.8 * size < len(part) <= size  # of a rare skill not every example comes
    other = ld.Stream(GROUPS, SHAPES["phases"], TOTAL, seed=6)
    assert len(parts[0] & set(other.at(np.arange(20_000)).tolist())) < 0.9 * len(parts[0])


def test_epochs_are_shuffled_anew():
    s = ld.Stream(1000, ld.Uniform(), 5000)
    epochs = s.at(np.arange(5000)).reshape(5, 1000)
    assert all((a == b).sum() < 10 for a, b in itertools.pairwise(epochs))


@pytest.mark.parametrize("name", ["power law", "annealed", "annealed phases", "uniform"])
def test_a_cap_is_kept(name):
    s = stream(name, cap=30)
    assert np.bincount(s.at(np.arange(TOTAL))).max() <= 30 + 2 * len(set(s.schedule.phase.tolist()))
    assert s.schedule.epochs().max() <= 30 * (1 + 1e-6)


def test_numbers_of_numpy_are_numbers():
    groups = ld.Groups(np.arange(60) % 6)
    for shape in (ld.PowerLaw(np.float32(1)), ld.Binned(np.int64(1), np.int64(3)), ld.Temperature(np.float64(2))):
        ld.Stream(groups, shape, np.int64(100)).at(0)
    assert ld.Stream(np.int64(10), ld.AsIs(), 10).n_examples == 10
    same = [ld.Stream(groups, ld.PowerLaw(alpha), 100).at(np.arange(100)) for alpha in (1.0, np.float32(1))]
    assert (same[0] == same[1]).all()
    sampler = ld.SelfAnneal(groups, 100, np.int64(10))
    next(iter(sampler))
    json.dumps(sampler.state_dict())


def test_huge_weights_are_weights():
    s = ld.Stream(ld.Groups([0, 1, 2]), ld.Weights([1e308] * 3), 99)
    assert np.bincount(s.at(np.arange(99))).tolist() == [33, 33, 33]


def test_with_replacement_counts_are_multinomial():
    s = stream("power law", replacement=True)
    counts = np.bincount(GROUPS.cell[s.at(np.arange(TOTAL))], minlength=GROUPS.n_cells)
    assert (s.schedule.expected() > 20).all()
    assert chisquare(counts, s.schedule.expected()).pvalue > 1e-4


@pytest.mark.parametrize("progress", [0.0, 0.1, 0.35, 0.6, 0.95])
def test_the_laws_are_those_of_the_laboratory(progress):
    """The same words mean the same frequencies as in specs."""
    n = GROUPS.n_skills
    by_rank = np.argsort(-GROUPS.size, kind="stable")
    pairs = (
        (ld.PowerLaw(1.2), PowerLaw(alpha=1.2)),
        (ld.Binned(1.5, 5), BinnedPowerLaw(alpha=1.5, bins=5)),
        (ld.Anneal(1.5, 0.5, 0.2, 0.7), Annealed(start=1.5, end=0.5, begin=0.2, finish=0.7)),
    )
    for ours, theirs in pairs:
        s = ld.Stream(GROUPS, ours, 10**7)
        stage = int(np.searchsorted(s.schedule.start, int(progress * 10**7), side="right")) - 1
        middle = np.append(s.schedule.start, 10**7)[stage : stage + 2].mean() / 10**7
        expected = theirs.schedule(n).probabilities(middle)
        np.testing.assert_allclose(s.schedule.weight[stage][by_rank], expected, rtol=2e-3)


def test_samples_have_the_frequencies_of_the_laboratorys_batches():
    """Chi-square of skills drawn by `lop.batches` from a power law against a stream's."""
    import lopsided as lop

    task = lop.tasks.StateTracking(group="S3", hops=2)
    drawn = lop.batches(task, lop.plans.Online(batch=512), lop.skills.PowerLaw(alpha=1.0), steps=20)
    counts = np.bincount(np.concatenate([b.skills.ravel() for b in drawn]), minlength=6)
    groups = ld.Groups(np.repeat(np.arange(6), 50))
    s = ld.Stream(groups, ld.PowerLaw(1.0, by="given"), int(counts.sum()))
    assert chisquare(counts, np.bincount(groups.cell[s.at(np.arange(s.total))])).pvalue > 1e-4


def test_several_skills_for_an_example():
    lists = [RNG.choice(20, size=RNG.integers(1, 4), replace=False).tolist() for _ in range(4000)]
    groups = ld.Groups(lists)
    s = ld.Stream(groups, ld.PowerLaw(1.0, by="given"), 100_000)
    found = np.bincount(np.concatenate([lists[i] for i in s.at(np.arange(100_000))]), minlength=20)
    law = 1 / np.arange(1, 21)
    np.testing.assert_allclose(found / found.sum(), law / law.sum(), atol=2e-3)
    assert "by at most 0.000 (total variation)" in s.describe()
    always_both = ld.Stream(ld.Groups([["a", "b"]] * 50), ld.Weights({"a": 0.9, "b": 0.1}), 1000)
    assert "by at most 0.400 (total variation)" in always_both.describe()  # neither comes without the other


SOURCES = {"web": (8000, 50), "code": (3000, 400), "books": (200, 9000)}
HAVE = np.array([1.8e6, 1.2e6, 0.4e6])  # tokens of books, code, web
OF_TOKENS = {
    "fixed": (ld.Weights({"web": 0.5, "code": 0.4, "books": 0.1}), [0.1, 0.4, 0.5]),
    "as is": (ld.AsIs(), HAVE),
    "phases": (ld.Phases((0.5, 1), (0.1, 1)), HAVE),
    "uniform": (ld.Uniform(), [1, 1, 1]),
    "power law": (ld.PowerLaw(1.0), [1, 1 / 2, 1 / 3]),  # ranks by tokens; by examples they are the other way round
}


@pytest.mark.parametrize("law", OF_TOKENS)
def test_shares_are_of_tokens_where_lengths_are_given(law):
    shape, wanted = OF_TOKENS[law]
    random = np.random.default_rng(0)
    labels = np.repeat(list(SOURCES), [n for n, _ in SOURCES.values()])
    lengths = np.concatenate([random.integers(mean // 2, 3 * mean // 2 + 1, n) for n, mean in SOURCES.values()])
    groups = ld.Groups(labels, lengths=lengths)
    s = ld.Stream(groups, shape, ld.samples_for(30_000_000, groups, shape))
    drawn = s.at(np.arange(s.total))
    tokens = np.bincount(groups.cell[drawn], lengths[drawn])
    assert tokens.sum() == pytest.approx(30_000_000, rel=0.05)  # the tenth of the books has a mean of its own
    assert s.tokens == pytest.approx(30_000_000, rel=0.001)
    np.testing.assert_allclose(tokens / tokens.sum(), np.asarray(wanted) / np.sum(wanted), atol=0.02)
    assert "tokens; shapes are shares of them" in s.describe()
    assert s.fingerprint != ld.Stream(ld.Groups(labels), shape, s.total).fingerprint


def test_skills_without_examples_never_come():
    s = ld.Stream(ld.Groups([5, 5, 9]), ld.Weights({5: 1.0, 9: 0.0}), 100)
    assert set(s.at(np.arange(100)).tolist()) == {0, 1}


def test_the_exponent_of_data_is_found():
    counts = np.random.default_rng(0).multinomial(10**6, (p := np.arange(1, 501) ** -1.1) / p.sum())
    assert ld.exponent(counts) == pytest.approx(1.1, abs=0.02)
    assert ld.exponent(np.ones(50)) == pytest.approx(0, abs=1e-6)


def test_a_run_is_described_before_it_is_trained():
    said = stream("uniform").describe()
    for words in ("200,000 samples", "exponent of the data as it is", "most visits", "come most"):
        assert words in said
    assert "warning" in ld.Stream(GROUPS, ld.PowerLaw(8.0, by="random"), 10**6).describe()
    assert ld.effective_share(ld.Stream(GROUPS, ld.AsIs(), TOTAL)) == pytest.approx(1, abs=0.01)
    assert ld.effective_share(ld.Stream(1000, ld.Phases((0.5, 1.0), (0.1, 1.0)), 10**4)) == pytest.approx(
        0.3077, abs=0.01
    )


def test_a_state_is_a_position_and_knows_its_stream():
    s = stream("annealed")
    state = s.state(640)
    assert state == {"position": 640, "stream": s.fingerprint, "order": 4}
    assert stream("annealed").position_of(state) == 640
    for other in (
        stream("annealed", seed=6),
        stream("uniform"),
        stream("annealed", total=TOTAL + 1),
        stream("annealed", cap=99),
    ):
        with pytest.raises(InputError, match="of another stream"):
            other.position_of(state)
        assert other.position_of(state, allow_other=True) == 640
    relabelled = ld.Groups(np.where(LABELS == 3, 4, LABELS))
    assert ld.Stream(relabelled, SHAPES["annealed"], TOTAL, 5).fingerprint != s.fingerprint


def test_the_name_of_a_stream_is_of_its_numbers_not_of_what_holds_them():
    groups = ld.Groups(np.arange(6000) % 3)
    names = {ld.Stream(groups, ld.Weights(w), 100).fingerprint for w in (
        [0.1, 0.2, 0.7], (0.1, 0.2, 0.7), np.array([0.1, 0.2, 0.7]), [np.float64(0.1), 0.2, 0.7],
    )}  # fmt: skip
    assert len(names) == 1
    one, two = (ld.Stream(groups, ld.Weights(w), 100).fingerprint for w in ({0: 1, 2: 3}, {2: 3.0, 0: 1.0}))
    assert one == two
    texts = ld.Groups(["a", "b"])
    one, two = (ld.Stream(texts, ld.Weights(w), 10).fingerprint for w in ({"a": 1, "b": 2}, {np.str_("a"): 1, "b": 2}))
    assert one == two
    two_skills = [["a", "b"], ["c", "d"]], [["a", "c"], ["b", "d"]]
    one, two = (ld.Stream(ld.Groups(s), ld.AsIs(), 9).fingerprint for s in two_skills)
    assert one != two
    near = ld.Stream(groups, ld.Curriculum((0.5, 1), np.array([[0.1, 0.2, 0.7], [1, 1, 1]])), 100)
    nearer = ld.Stream(groups, ld.Curriculum((0.5, 1), np.array([[0.1 + 1e-12, 0.2, 0.7], [1, 1, 1]])), 100)
    assert near.fingerprint != nearer.fingerprint
    many = ld.Groups(np.arange(6000))
    weights = np.ones((2, 6000))
    other = weights.copy()
    other[1, 3000] = 2
    assert len({ld.Stream(many, ld.Curriculum((0.5, 1), w), 100).fingerprint for w in (weights, other)}) == 2


def test_weights_may_be_tensors_and_columns():
    torch, pandas = pytest.importorskip("torch"), pytest.importorskip("pandas")
    groups = ld.Groups(np.arange(60) % 3)
    held = [torch.tensor([1.0, 2, 3]), pandas.Series([1, 2, 3]), [Fraction(n) for n in (1, 2, 3)], range(1, 4)]
    assert {ld.Stream(groups, ld.Weights(w), 100).fingerprint for w in held} == {
        ld.Stream(groups, ld.Weights((1, 2, 3)), 100).fingerprint
    }
    other = ld.Weights(torch.tensor([9.0, 2, 3]))
    assert ld.Stream(groups, other, 100).fingerprint != ld.Stream(groups, ld.Weights(held[0]), 100).fingerprint


BAD = {
    "a law without skills": (lambda: ld.Stream(100, ld.AsIs() & ld.PowerLaw(1.5), 10), "a law over skills"),
    "self-annealing without skills": (lambda: ld.SelfAnneal(100, 10, 1), "a law over skills"),
    "a temperature without skills": (lambda: ld.Stream(100, ld.Temperature(2.0), 10), "a law over skills"),
    "an infinite length": (lambda: ld.Groups([1, 2], lengths=[1, np.inf]), "above 0"),
    "a temperature of text": (lambda: ld.Temperature("a"), "T = 'a'"),
    "until is a number": (lambda: ld.Curriculum(0.5, [[1.0]]), "a list of shares"),
    "lengths of others": (lambda: ld.Groups([1, 2], lengths=[1.0]), "for each of the 2 examples"),
    "a length of zero": (lambda: ld.Groups([1, 2], lengths=[1, 0]), "above 0"),
    "lengths of several": (lambda: ld.Groups([[1, 2], [1]], lengths=[1, 2]), "one skill"),
    "tokens without lengths": (lambda: ld.samples_for(100, GROUPS, ld.AsIs()), "lengths="),
    "no tokens": (lambda: ld.samples_for(0, ld.Groups([1, 2], lengths=[3, 3]), ld.AsIs()), "at least those of one"),
    "labels in place of groups": (lambda: ld.Stream([1, 2, 3], ld.Uniform(), 10), "valid are Groups"),
    "skills of floats": (lambda: ld.Groups([0.5, np.nan]), "labels"),
    "skills of dates": (lambda: ld.Groups(np.array(["2026-01-01"], "M8[D]")), "labels"),
    "skills of fractions": (lambda: ld.Groups([[1.5], [2.0]]), "1.5 is a float"),
    "a skill called unknown": (lambda: ld.Groups([["unknown"], [], ["x"]]), "name yours differently"),
    "no skills": (lambda: ld.Groups([]), "labels"),
    "NaN weights": (lambda: ld.Stream(GROUPS, ld.Weights(np.full(GROUPS.n_skills, np.nan)), 10), "weights"),
    "negative weights": (lambda: ld.Stream(GROUPS, ld.Weights(-np.ones(GROUPS.n_skills)), 10), "weights"),
    "no weight left": (lambda: ld.Stream(GROUPS, ld.Weights({}), 10), "no skill that has examples has a weight"),
    "too few weights": (lambda: ld.Stream(GROUPS, ld.Weights([1.0, 2.0]), 10), "2"),
    "unknown name": (lambda: ld.Stream(GROUPS, ld.Weights({"x": 1.0}), 10), "no skill is named 'x'"),
    "cap too small": (lambda: stream("uniform", cap=1), "cannot be met"),
    "cap zero": (lambda: stream("uniform", cap=0), "cap = 0"),
    "total zero": (lambda: stream("uniform", total=0), "total"),
    "total too large": (lambda: stream("uniform", total=2**62), "2\\^50"),
    "too many examples": (lambda: ld.Stream(2**31, ld.Uniform(), 10), "2\\^31"),
    "position below": (lambda: stream("uniform").at([-1]), "position -1"),
    "position above": (lambda: stream("uniform").at([3, TOTAL]), f"position {TOTAL}"),
    "position of floats": (lambda: stream("uniform").at([0.5]), "integers"),
    "no shape": (lambda: ld.Stream(GROUPS, 1.0, 10), "shape"),
    "negative exponent": (lambda: ld.PowerLaw(-1.0), "alpha"),
    "strange ranks": (lambda: ld.PowerLaw(1.0, by="size"), "by"),
    "until does not end": (lambda: ld.Phases((0.1, 0.5), (0.1, 1.0)), "until"),
    "shares fall": (lambda: ld.Phases((0.1, 1.0), (0.5, 0.1)), "shares"),
    "bins": (lambda: ld.Stream(GROUPS, ld.Binned(1.0, 10**4), 10), "bins"),
    "a state of something else": (lambda: stream("uniform").position_of({"step": 3}), "state"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=said) as error:
        call()
    assert "\n" not in str(error.value)


def test_importing_it_loads_neither_jax_nor_torch():
    code = "import sys, lopsided.data; print({'jax', 'torch', 'scipy', 'pydantic', 'grain'} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "set()"
    )


@pytest.mark.parametrize("replacement", [False, True])
def test_threads_may_share_a_stream(replacement):
    """Grain reads with threads: 24 of 44,000 calls raised `dictionary changed size during iteration` or KeyError."""
    shared = ld.Stream(ld.Groups(np.arange(2_000) % 7), ld.Anneal(1.5, 0), 400_000, replacement=replacement)
    expected = shared.at(np.arange(400_000))
    before, failed = sys.getswitchinterval(), []

    def work(number):
        g = np.random.default_rng(number)
        try:
            for _ in range(300):
                n = g.integers(0, 400_000 - 64) + np.arange(g.integers(1, 64))
                assert (shared.at(n) == expected[n]).all()
        except Exception as error:
            failed.append(error)

    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(before)
    assert failed == []


def test_streams_of_one_seed_share_the_order_of_their_examples():
    """A law in 31 steps held 31 equal copies: 12 GB of 100 million examples."""
    groups = ld.Groups(np.arange(1_000) % 10)
    sampler = ld.SelfAnneal(groups, 10_000, 10)
    for each in sampler.streams:
        each.at(np.arange(2_000))
    assert len({id(each.segments[0].epochs(0).members.example) for each in sampler.streams}) == 1

"""Streams whose law, data or length changes on the way: what was before stays, and nothing is lost or repeated."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lopsided.data as ld
from lopsided.core.errors import InputError

LAWS = {
    "uniform": ld.Uniform(),
    "as is": ld.AsIs(),
    "power law": ld.PowerLaw(1.3),
    "annealed": ld.Anneal(1.5, 0.0),
    "phases": ld.AsIs() & ld.Phases((0.3, 1.0), (0.2, 1.0)),
}
each_law = st.sampled_from(sorted(LAWS))


def groups_of(seed, n=300, skills=12):
    return ld.Groups(np.random.default_rng(seed).zipf(1.6, n).clip(max=skills))


def all_of(stream):
    return stream.at(np.arange(stream.total))


@given(
    st.integers(0, 99), st.integers(1, 2000), st.integers(1, 3000), st.sampled_from(["uniform", "power law", "as is"])
)
def test_streams_are_equal_while_their_laws_agree_whatever_their_totals(seed, a, b, law):
    groups = groups_of(seed)
    short, long = (all_of(ld.Stream(groups, LAWS[law], total, seed)) for total in sorted((a, b)))
    assert (long[: len(short)] == short).all()


def test_a_longer_run_is_the_shorter_one_gone_on():
    """Of 5,000 positions 0.8 % agreed, when the total was 20,000 and not 10,000."""
    groups = ld.Groups(np.random.default_rng(0).zipf(1.3, 3000).clip(max=200))
    one, two = (ld.Stream(groups, ld.PowerLaw(1.0), total) for total in (10_000, 20_000))
    assert (all_of(one) == two.at(np.arange(10_000))).all()
    assert (all_of(one.then(at=7_777, total=20_000)) == all_of(two)).all()


@given(st.integers(0, 99), st.integers(1, 1999), each_law, each_law, st.booleans())
def test_what_was_before_a_change_stays(seed, at, law, after, replacement):
    old = ld.Stream(groups_of(seed), LAWS[law], 2000, seed, replacement=replacement)
    new = old.then(LAWS[after], at=at, total=2500)
    assert (new.at(np.arange(at)) == old.at(np.arange(at))).all()
    assert len(all_of(new)) == 2500
    some = np.random.default_rng(1).integers(0, 2500, 50)
    assert (pickle.loads(pickle.dumps(new)).at(some) == all_of(new)[some]).all()


@given(st.integers(0, 99), st.integers(1, 1999), st.sampled_from(["uniform", "power law", "as is"]))
def test_a_change_to_the_same_law_changes_nothing(seed, at, law):
    old = ld.Stream(groups_of(seed), LAWS[law], 2000, seed)
    assert (all_of(old.then(LAWS[law], at=at)) == all_of(old)).all()
    without = ld.Stream(77, ld.AsIs(), 2000, seed)
    assert (all_of(without.then(at=at)) == all_of(without)).all()


@pytest.mark.slow
@given(st.integers(0, 99), st.lists(st.integers(1, 1999), min_size=1, max_size=3), each_law)
def test_visits_go_on(seed, changes, law):
    """With constant subsets: a skill's examples never differ by more than one visit, whatever changes."""
    groups = groups_of(seed)
    stream = ld.Stream(groups, ld.Uniform(), 2000, seed)
    for i, at in enumerate(sorted(set(changes))):
        stream = stream.then(LAWS["power law" if i % 2 else "annealed"], at=at)
    drawn = all_of(stream)
    for until in (333, *changes, 2000):
        visits = np.bincount(drawn[:until], minlength=300)
        assert (stream.visits(until) == visits).all()
        for cell in range(groups.n_cells):
            assert np.ptp(visits[groups.cell == cell]) <= 1


@given(st.integers(0, 99), st.integers(1, 1500), st.integers(1, 200), st.sampled_from(["as is", "phases"]))
def test_new_examples_join_the_epoch_that_is_on(seed, at, more, law):
    before = np.random.default_rng(seed).zipf(1.6, 300).clip(max=12)
    labels = np.append(before, np.random.default_rng(seed + 1).zipf(1.6, more).clip(max=15))
    groups = ld.Groups(labels)
    old = ld.Stream(ld.Groups(before), LAWS[law], 2000, seed)
    new = old.then(ld.AsIs(), at=at, groups=groups, total=at + 1500)
    rest = new.at(np.arange(at, at + 1500))
    assert (new.at(np.arange(at)) == old.at(np.arange(at))).all()
    assert (new.visits(at + 1500) == np.bincount(np.append(old.at(np.arange(at)), rest), minlength=len(labels))).all()
    since = np.bincount(rest, minlength=len(labels))
    for cell in range(groups.n_cells):  # those that the old epoch had not reached come once more, at most
        assert np.ptp(since[groups.cell == cell]) <= 2
        assert since[300:][groups.cell[300:] == cell].min(initial=10**9) >= since[groups.cell == cell].max() - 1


def test_a_change_leaves_no_example_unseen_and_none_twice():
    """After a change at 1,000 of 2,000 positions, 551 of 2,000 examples were never seen, 498 twice or more."""
    groups = ld.Groups(np.random.default_rng(0).integers(0, 20, 2000))
    stream = ld.Stream(groups, ld.AsIs(), 2000).then(ld.Uniform(), at=1000)
    visits = np.bincount(all_of(stream), minlength=2000)
    assert (visits == 0).sum() == (visits > 1).sum() <= 150  # 20 skills' sizes differ
    level = ld.Stream(ld.Groups(np.arange(2000) % 20), ld.AsIs(), 2000).then(ld.Uniform(), at=1000)
    assert np.abs(np.bincount(all_of(level), minlength=2000) - 1).sum() <= 20


def test_sources_come_and_go():
    """A source that is dropped, one that is new, and indices that move with them."""
    old = ld.Stream(ld.Groups(["a"] * 100 + ["b"] * 50), ld.AsIs(), 3000, seed=4)
    labels = ["b"] * 50 + ["c"] * 30
    new = old.then(
        ld.Weights({"b": 1, "c": 2}), at=1100, groups=ld.Groups(labels), total=2000, same=[*range(100, 150), *[-1] * 30]
    )
    drawn = new.at(np.arange(1100, 2000))
    assert 290 <= (drawn < 50).sum() <= 310
    of_b = np.bincount(old.at(np.arange(1100)), minlength=150)[100:] + np.bincount(drawn, minlength=80)[:50]
    assert np.ptp(of_b) <= 1
    assert new.visits(2000)[:50].tolist() == of_b.tolist()


def test_the_run_of_a_skill_does_not_depend_on_what_else_there_is():
    """A source of weight 0 beside the others: the same examples, by their number in their source."""
    one = ld.Stream(ld.Groups(["b"] * 60 + ["c"] * 40), ld.Weights({"b": 1, "c": 1}), 500, seed=2)
    two = ld.Stream(ld.Groups(["a"] * 9 + ["b"] * 60 + ["c"] * 40), ld.Weights({"b": 1, "c": 1}), 500, seed=2)
    assert (all_of(one) + 9 == all_of(two)).all()


def test_branches_from_one_checkpoint():
    groups = ld.Groups(np.arange(600) % 6)
    trunk = ld.Stream(groups, ld.Uniform(), 10_000, seed=1)
    state = trunk.state(8000)
    for law in (ld.PowerLaw(1.0, by="given"), ld.Weights([1, 1, 1, 0, 0, 0])):
        branch = trunk.then(law, at=8000, total=9000)
        assert branch.position_of(state) == 8000
        assert (branch.at(np.arange(8000)) == trunk.at(np.arange(8000))).all()
        share = np.bincount(groups.cell[branch.at(np.arange(8000, 9000))], minlength=6) / 1000
        wanted = law.weights(groups, 0, 1, 1)
        assert np.abs(share - wanted / wanted.sum()).max() < 0.005


def test_a_state_of_the_stream_before_is_taken_up_to_the_change():
    groups = ld.Groups(np.arange(60) % 6)
    old = ld.Stream(groups, ld.Uniform(), 1000)
    new = old.then(ld.PowerLaw(1.0), at=500)
    again = new.then(ld.Uniform(), at=700)
    assert len({s.fingerprint for s in (old, new, again)}) == 3
    assert again.position_of(old.state(500)) == 500
    assert again.position_of(new.state(700)) == 700
    with pytest.raises(InputError, match="position 501: a whole number from 0 to 500"):
        again.position_of(old.state(501))
    with pytest.raises(InputError, match="of another stream"):
        old.position_of(new.state(600))
    sampler = ld.BatchSampler(new, 50)
    sampler.load_state_dict(old.state(450))
    assert next(iter(sampler)) == old.at(np.arange(450, 500)).tolist()


def test_a_state_of_an_older_order_is_refused():
    stream = ld.Stream(ld.Groups([1, 2]), ld.Uniform(), 10)
    with pytest.raises(InputError, match="is of order 3 of samples, and this version of lopsided has order 4"):
        stream.position_of({"position": 3, "stream": stream.fingerprint})


def test_a_run_whose_cap_is_used_up_goes_on_with_a_larger_one():
    """At the end of such a run no turn ever comes after: its last block was looked for without end."""
    full = ld.Stream(groups_of(59, 200, 8), ld.PowerLaw(0.4), 400, 59, cap=2)
    with pytest.raises(InputError, match=r"cap = 2: .* 3 can be met"):
        full.then(ld.Uniform(), at=400, total=450)
    more = full.then(ld.Uniform(), at=400, total=450, cap=3)
    visits = np.bincount(all_of(more), minlength=200)
    assert (visits.min(), visits.max(), visits.sum()) == (2, 3, 450)
    assert (more.at(np.arange(400)) == all_of(full)).all()


@given(st.integers(0, 60), st.integers(2, 6), st.integers(50, 400))
@example(59, 2, 400)
def test_a_cap_holds_over_a_change(seed, cap, at):
    groups = groups_of(seed, 200, 8)
    try:
        stream = ld.Stream(groups, ld.PowerLaw(0.4), 400, seed, cap=cap).then(ld.Uniform(), at=at, total=450)
    except InputError:
        return  # it cannot be met
    assert np.bincount(all_of(stream)).max() <= cap


@given(st.integers(0, 60), st.integers(3, 9))
def test_a_cap_is_exact_with_phases(seed, cap):
    shape = ld.PowerLaw(0.3) & ld.Phases((0.2, 0.5, 1.0), (0.2, 0.5, 1.0))
    try:
        stream = ld.Stream(groups_of(seed, 400, 6), shape, 300, seed, cap=cap)
    except InputError:
        return  # it cannot be met
    assert np.bincount(all_of(stream)).max() <= cap


def test_a_blend_goes_from_one_law_to_the_other():
    groups = ld.Groups(np.repeat(np.arange(4), [400, 200, 100, 100]))
    fade = ld.Blend(ld.AsIs(), ld.Uniform(), begin=0.25, finish=0.75)
    drawn = groups.cell[all_of(ld.Stream(groups, fade, 8000))]
    for part, f in ((slice(0, 2000), 0.0), (slice(3900, 4100), 0.5), (slice(6000, 8000), 1.0)):
        law = np.array([0.5, 0.25, 0.125, 0.125]) ** (1 - f)
        assert np.abs(np.bincount(drawn[part], minlength=4) / len(drawn[part]) - law / law.sum()).max() < 0.02
    same = [all_of(ld.Stream(groups, law, 5000)) for law in (
        ld.Anneal(1.5, 0.5, 0.2, 0.8), ld.Blend(ld.PowerLaw(1.5), ld.PowerLaw(0.5), 0.2, 0.8))]  # fmt: skip
    assert (same[0] == same[1]).all()


def test_a_blend_takes_any_course_and_new_skills():
    groups = ld.Groups(np.repeat(np.arange(2), 100))
    only = ld.Weights([1, 0]), ld.Weights([0, 1])
    late = ld.Blend(*only, course=lambda x: float(x > 0.9), linear=True)
    drawn = groups.cell[all_of(ld.Stream(groups, late, 1000))]
    assert drawn[:890].max() == 0
    assert drawn[910:].min() == 1
    assert ld.Stream(groups, late, 10).fingerprint != ld.Stream(groups, ld.Blend(*only, linear=True), 10).fingerprint
    half = groups.cell[all_of(ld.Stream(groups, ld.Blend(*only, linear=True), 1000))]
    assert abs(half[:500].mean() - 0.25) < 0.02


BAD = {
    "before the last change": (lambda s: s.then(at=500).then(ld.Uniform(), at=400), "last change is at 500"),
    "behind the end": (lambda s: s.then(ld.Uniform(), at=1001), "ends at 1,000"),
    "at nothing": (lambda s: s.then(ld.Uniform(), at=0), "the run begins at 0"),
    "no position": (lambda s: s.then(ld.Uniform(), at=0.5), "at = 0.5"),
    "a total that is over": (lambda s: s.then(ld.Uniform(), at=500, total=500), "above at = 500"),
    "no shape": (lambda s: s.then(1.0, at=500), "shape"),
    "no groups": (lambda s: s.then(at=500, groups=[1, 2]), "valid are Groups"),
    "a source that vanished": (
        lambda s: s.then(ld.Weights({"a": 1, "b": 1}), at=500, groups=ld.Groups(["a"] * 9)),
        "no skill is named 'b'",
    ),
    "weights that leave nothing": (lambda s: s.then(ld.Weights({}), at=500), "no skill that has examples"),
    "too few indices": (lambda s: s.then(at=500, groups=ld.Groups(["a"] * 9), same=[1]), "for each of the 9 examples"),
    "an index twice": (lambda s: s.then(at=500, groups=ld.Groups(["a"] * 2), same=[1, 1]), "two examples"),
    "a blend of subsets": (lambda s: ld.Blend(ld.Uniform(), ld.Phases((1.0,), (0.5,))), "no law over skills"),
    "a blend of nothing": (lambda s: ld.Blend(ld.Uniform(), 3), "no law over skills"),
    "a way back": (lambda s: ld.Blend(ld.Uniform(), ld.AsIs(), 0.5, 0.2), "begin < finish"),
    "a course that leaves": (lambda s: ld.Blend(ld.Uniform(), ld.AsIs(), course=lambda x: 2 * x), "course"),
    "a cap that is over": (lambda s: s.then(at=900, cap=1), "cap = 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_changes_are_one_line(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=said) as error:
        call(ld.Stream(ld.Groups(["a"] * 60 + ["b"] * 40), ld.Uniform(), 1000))
    assert "\n" not in str(error.value)


def test_a_trial_repeats_every_example_as_often_as_the_run_will():
    """A trial of 2 % of the samples over all examples repeats rare ones 50 times less."""
    groups = ld.Groups(np.repeat(np.arange(3), [9000, 900, 100]))
    for shape in (ld.Uniform(), ld.PowerLaw(0.5), ld.Uniform() & ld.Phases((0.4, 1.0), (0.2, 1.0))):
        whole = ld.Stream(groups, shape, 50_000, seed=1)
        small = ld.proxy(whole, 0.05)
        assert small.total == 2500
        np.testing.assert_allclose(small.schedule.epochs(), whole.schedule.epochs(), rtol=0.3)
    for bad in (0, 1.5, 1e-9):
        with pytest.raises(InputError, match="fraction"):
            ld.proxy(whole, bad)
    with pytest.raises(InputError, match="without changes"):
        ld.proxy(whole.then(at=7), 0.5)


def test_a_law_that_anneals_itself_keeps_the_visits():
    """It switched between streams of their own, so that some examples came again before others had come once."""
    groups = ld.Groups(np.arange(4000) % 40)
    sampler = ld.SelfAnneal(groups, total=64 * 300, batch=64, seed=3)
    visits, changes = np.zeros(4000, int), 0
    for step, indices in enumerate(sampler):
        np.add.at(visits, indices, 1)
        sampler.follow(sampler.report(0.9 if 50 <= step < 150 else 0.0))
        changes = max(changes, len(sampler.log))
    assert changes > 20
    assert max(np.ptp(visits[groups.cell == cell]) for cell in range(40)) <= 1


def test_one_question_may_come_several_times_in_a_row():
    """Samplers that draw eight answers for one question read positions 0, 0, 0, ..., 1, 1, ..."""
    view = ld.View(list(range(50)), ld.Stream(50, ld.AsIs(), 50), 10)
    positions = np.repeat(np.arange(50), 8)
    assert [view[int(n)] for n in positions] == view.stream.at(positions).tolist()
    with pytest.raises(InputError, match="out of order"):
        view.__getitems__([3, 3, 2])


def test_what_never_comes_is_named_before_training():
    groups = ld.Groups(["a"] * 50 + ["b"] * 50 + ["c"] * 50)
    said = ld.Stream(groups, ld.Weights({"a": 1, "c": 1e-9}), 100).describe()
    assert "1 of 3 skills never come: b" in said
    assert "1 of 3 skills are expected less than once: c" in said
    assert "the weights do not name b" in said
    source = list(range(9))
    with pytest.raises(InputError, match="'x' and 'y' are one source"):
        ld.interleave({"x": source, "y": source}, ld.Uniform(), 10)


@pytest.mark.slow
def test_a_million_skills_have_turns():
    groups = ld.Groups(np.arange(1_000_000))
    stream = ld.Stream(groups, ld.PowerLaw(1.0, by="given"), 10**9)
    first = stream.at(np.arange(10_000))
    assert (stream.at(np.arange(5000, 5100)) == first[5000:5100]).all()
    assert 500 < (first == 0).sum() < 900  # 10,000 / 14.4


def test_a_state_of_a_change_is_known_though_the_stream_before_was_asked_for_its_own():
    """The name of the chain was kept from the stream before, so that the old stream took states of the new one."""
    groups = ld.Groups(["a", "b"] * 50)
    law = ld.Weights({"a": 0.9, "b": 0.1})
    asked, fresh = ld.Stream(groups, ld.Uniform(), 1000), ld.Stream(groups, ld.Uniform(), 1000)
    asked.state(0)
    changed = asked.then(law, at=500)
    assert changed.fingerprint == fresh.then(law, at=500).fingerprint != asked.fingerprint
    assert changed.position_of(changed.state(700)) == 700
    assert changed.position_of(asked.state(300)) == 300
    with pytest.raises(InputError, match="another stream"):
        asked.position_of(changed.state(700))


def test_what_was_left_behind_is_not_read():
    stream = ld.Stream(ld.Groups(["a", "b"] * 50), ld.Uniform(), 1000).then(ld.AsIs(), at=500)
    assert (stream.from_last().at([500, 999]) == stream.at([500, 999])).all()
    with pytest.raises(InputError, match="position 0: 500 to 999"):
        stream.from_last().at([0])

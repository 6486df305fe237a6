"""Documents packed into sequences: no token lost or repeated, wherever it is stopped and whoever goes on."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided.data as ld
from lopsided.core.errors import InputError


def made(tokens, length, window, long="split", batch=1, rank=0, world=1, total=None, seed=0):
    stream = ld.Stream(len(tokens), ld.AsIs(), total or len(tokens), seed=seed)
    return ld.Packed(stream, tokens, length, batch, rank, world, window, long)


def words(steps):
    """(example, place) of every token, in order."""
    return [
        (piece.example, i)
        for step in steps
        for sequence in step
        for piece in sequence.pieces
        for i in range(piece.start, piece.stop)
    ]


LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=60)


@given(LENGTHS, st.integers(1, 20), st.sampled_from([1, 2, 7, 64]), st.sampled_from(["split", "truncate"]))
def test_every_token_comes_once_and_no_sequence_is_too_long(tokens, length, window, long):
    packed = made(tokens, length, window, long)
    steps = list(packed)
    assert len(packed) == len(steps)
    kept = ld.packed_lengths(tokens, length, long)
    assert sorted(words(steps)) == [(i, j) for i, n in enumerate(kept) for j in range(n)]
    for (sequence,) in steps:
        assert sum(piece.stop - piece.start for piece in sequence.pieces) <= length
        assert len(sequence.documents) == len(sequence.positions) == length


@given(LENGTHS, st.integers(1, 20), st.integers(1, 30))
def test_cutting_leaves_no_gap_and_fitting_splits_only_what_is_too_long(tokens, length, window):
    cut = [sequence for (sequence,) in made(tokens, length, 1)]
    assert len(cut) == -(-sum(tokens) // length)
    for (sequence,) in made(tokens, length, window + 1):
        for piece in sequence.pieces:
            assert piece.stop - piece.start == length or piece.stop == tokens[piece.example]
            assert tokens[piece.example] > length or piece.start == 0


@pytest.mark.filterwarnings("ignore:pass 2 begins")
@given(LENGTHS, st.integers(1, 20), st.sampled_from([1, 5, 64]), st.integers(0, 40), st.sampled_from([1, 2, 3]))
def test_who_goes_on_with_other_ranks_reads_what_is_left(tokens, length, window, stopped, world):
    whole, packed = words(made(tokens, length, window)), made(tokens, length, window)
    before = list(islice(packed, stopped))
    state = packed.state_dict()
    ranks = [made(tokens, length, window, batch=world, rank=r, world=world) for r in range(world)]
    for rank in ranks:
        rank.load_state_dict(state)
    after = [step for steps in zip(*ranks, strict=True) for step in steps]
    found = words([*before, *after])
    assert found == whole[: len(found)]
    lost = sum(1 for _ in made(tokens, length, window)) - len(before) - len(after)
    assert 0 <= lost < world  # the last step that is not whole


def test_one_by_hand():
    packed = made([3, 5, 2, 6, 11], 8, 64)
    examples = packed.stream.at(np.arange(5)).tolist()
    sizes = dict(zip(range(5), [3, 5, 2, 6, 11], strict=True))
    room, bins = [], []
    for example in examples:
        parts = [8, 3] if example == 4 else [sizes[example]]
        for part in parts:
            i = next((i for i, free in enumerate(room) if free >= part), len(room))
            if i == len(room):
                room.append(8)
                bins.append([])
            room[i] -= part
            bins[i].append(example)
    assert [[piece.example for piece in sequence.pieces] for (sequence,) in packed] == bins
    (first,) = next(iter(made([3, 5], 8, 64)))
    assert first.documents.tolist() in ([0] * 3 + [1] * 5, [0] * 5 + [1] * 3)
    assert sorted(first.positions.tolist()) == [0, 0, 1, 1, 2, 2, 3, 4]
    tokens = {0: [10, 11, 12], 1: [20, 21, 22, 23, 24]}
    assert set(first.filled(tokens.__getitem__).tolist()) == {10, 11, 12, 20, 21, 22, 23, 24}
    (padded,) = next(iter(made([3], 8, 64)))
    assert padded.filled(tokens.__getitem__, empty=-1).tolist() == [10, 11, 12, -1, -1, -1, -1, -1]
    assert padded.boundaries.tolist() == [0, 3]
    assert padded.documents.tolist() == [0, 0, 0, -1, -1, -1, -1, -1]


def test_shares_are_of_trained_tokens():
    """Half of the tokens that are trained on belong to each skill, although one has documents ten times as long."""
    tokens = np.array([5000] * 100 + [500] * 100)
    labels = np.array([0] * 100 + [1] * 100)
    groups = ld.Groups(labels, lengths=ld.packed_lengths(tokens, 2048, "truncate"))
    packed = ld.Packed(ld.Stream(groups, ld.Uniform(), 2000), tokens, 2048, long="truncate")
    trained = np.zeros(2)
    for (sequence,) in packed:
        for piece in sequence.pieces:
            trained[labels[piece.example]] += piece.stop - piece.start
    np.testing.assert_allclose(trained / trained.sum(), 0.5, atol=0.01)


BAD = {
    "no room": (lambda: made([3], 0, 4), "length = 0"),
    "empty document": (lambda: made([3, 0], 8, 4), "at least 1"),
    "another number": (lambda: ld.Packed(ld.Stream(3, ld.AsIs(), 3), [1, 2], 8), "2 lengths; the stream is of 3"),
    "ranks that share nothing": (lambda: made([3], 8, 4, batch=3, world=2), "a multiple of world"),
    "fractions": (lambda: made([1.5], 8, 4), "whole numbers"),
    "another way": (lambda: made([3], 8, 4, long="drop"), "'split' or 'truncate'"),
    "another packing": (lambda: made([3], 8, 4).load_state_dict(made([3], 9, 4).state_dict()), "of another packing"),
    "no state": (lambda: made([3], 8, 4).load_state_dict({}), "of another packing"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=said):
        call()


# Batches of one length.

ANY = st.lists(st.integers(1, 100), min_size=2, max_size=80)


@given(ANY, st.integers(1, 6), st.integers(1, 5), st.integers(0, 3))
def test_windows_hold_what_they_held_and_batches_are_of_neighbours(lengths, batch, batches, seed):
    lengths = np.array(lengths)
    stream = ld.Stream(len(lengths), ld.AsIs(), 3 * len(lengths), seed=seed)
    bucketed = ld.Bucketed(stream, lengths, batch, batches)
    positions = np.arange(stream.total)
    old, new = stream.at(positions), bucketed.at(positions)
    window = batch * batches
    for a in range(0, stream.total, window):
        assert sorted(old[a : a + window]) == sorted(new[a : a + window])
        within = [lengths[new[b : b + batch]] for b in range(a, min(a + window, stream.total), batch)]
        ordered = sorted(within, key=lambda its: (its.min(), its.max()))
        assert all(one.max() <= two.min() for one, two in pairwise(ordered))
    backwards = np.concatenate([bucketed.at(positions[i : i + 1]) for i in positions[::-1]])
    assert (backwards[::-1] == new).all()


def test_loaders_take_buckets_and_go_on():
    lengths = np.random.default_rng(0).integers(1, 500, 1000)
    stream = ld.Bucketed(ld.Stream(1000, ld.AsIs(), 2000, seed=1), lengths, 8)
    whole = list(ld.BatchSampler(stream, 8))
    sampler = ld.BatchSampler(stream, 8)
    reading = iter(sampler)
    head = [next(reading) for _ in range(30)]
    ranks = [ld.BatchSampler(stream, 8, rank, 2) for rank in (0, 1)]
    for rank in ranks:
        rank.load_state_dict(sampler.state_dict())
    tail = [one + two for one, two in zip(*ranks, strict=True)]
    assert head + tail == whole
    spread = np.mean([lengths[batch].max() / lengths[batch].mean() for batch in whole])
    plain = ld.BatchSampler(stream.stream, 8)
    assert spread < 1.2 < np.mean([lengths[batch].max() / lengths[batch].mean() for batch in plain])
    view = ld.View(list(range(1000)), stream, 8)
    assert view.__getitems__(range(8)) == whole[0]
    with pytest.raises(InputError, match="of another stream"):
        ld.BatchSampler(stream.stream, 8).load_state_dict(sampler.state_dict())
    with pytest.raises(InputError, match="999; the stream is of 1,000"):
        ld.Bucketed(stream.stream, lengths[1:], 8)


# Keys for augmentation.


class Noisy:
    """Data that is augmented by the key it is given."""

    def __len__(self):
        return 50

    def __getitem__(self, index):
        raise AssertionError

    def at(self, index, key):
        return index + np.random.default_rng(key).random()


def test_a_run_that_goes_on_augments_as_one_that_was_never_stopped():
    stream = ld.Stream(50, ld.AsIs(), 150, seed=3)
    whole = ld.View(Noisy(), stream, 10, keys=True).__getitems__(range(150))
    assert ld.View(Noisy(), stream, 10, keys=True).__getitems__(range(90, 150)) == whole[90:]
    assert ld.View(Noisy(), stream, 10, keys=True)[90] == whole[90]
    assert len(set(whole)) == 150  # the same example is augmented otherwise when it comes again
    assert len(set(stream.keys(np.arange(150)).tolist())) == 150
    assert (stream.keys(np.arange(9)) != ld.Stream(50, ld.AsIs(), 150, seed=4).keys(np.arange(9))).all()
    with pytest.raises(InputError, match="method at"):
        ld.View(list(range(50)), stream, 10, keys=True)


@pytest.mark.filterwarnings("ignore:pass 2 begins")
def test_buckets_may_be_packed_and_have_keys():
    lengths = np.random.default_rng(0).integers(1, 50, 200)
    stream = ld.Stream(200, ld.AsIs(), 400)
    bucketed = ld.Bucketed(stream, lengths, 8)
    packed = ld.Packed(bucketed, lengths, 64)
    whole, reading = words(packed), iter(packed)
    head = [next(reading) for _ in range(20)]
    other = ld.Packed(ld.Bucketed(ld.Stream(200, ld.AsIs(), 400), lengths, 8), lengths, 64)
    other.load_state_dict(packed.state_dict())
    assert words(head) + words(other) == whole
    assert (bucketed.keys(np.arange(9)) == stream.keys(np.arange(9))).all()
    with pytest.raises(InputError, match="made for batches of 8"):
        ld.BatchSampler(bucketed, 12)
    with pytest.raises(InputError, match="made for batches of 8"):
        ld.View(list(range(200)), bucketed, 12)
    for asked in (1.5, -1, 400):
        with pytest.raises(InputError, match="position"):
            bucketed.at(asked)
        with pytest.raises(InputError, match="position"):
            stream.keys(asked)
    for arguments in (([5, 6], 3, "trunc"), ([5, 6], 0)):
        with pytest.raises(InputError, match=r"long|length"):
            ld.packed_lengths(*arguments)

"""Streaming mixtures by ranks and workers: their union is the mixture, and nobody begins anew to go on."""

from collections import Counter
from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")
datasets = pytest.importorskip("datasets")
stateful = pytest.importorskip("torchdata.stateful_dataloader")

import lopsided.data as ld  # noqa: E402
from lopsided.core.errors import InputError  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]
BATCH, TOTAL = 12, 250


class Counted:
    """A source that only iterates, and counts what was read of it in this process."""

    def __init__(self, name, size):
        self.name, self.size, self.read = name, size, 0

    def __iter__(self):
        for i in range(self.size):
            self.read += 1
            yield f"{self.name}{i}"


def hugging_face(name, size):
    return datasets.Dataset.from_dict({"x": [f"{name}{i}" for i in range(size)]}).to_iterable_dataset()


def mixed(make=Counted):
    """Two that stream, of which the small one is begun again and again, and one that is read by position."""
    sources = {"a": make("a", 1000), "b": make("b", 7), "c": [f"c{i}" for i in range(40)]}
    return ld.interleave(sources, ld.Weights({"a": 0.6, "b": 0.3, "c": 0.1}), TOTAL, seed=5)


def text(sample):
    return sample["x"] if isinstance(sample, dict) else sample


def read(feed, workers=0, loader=torch.utils.data.DataLoader, **options):
    share = feed.batch // feed.world
    return [[text(s) for s in batch] for batch in loader(feed, share, num_workers=workers, collate_fn=list, **options)]


def whole(make=Counted):
    return [text(sample) for sample in mixed(make)][: TOTAL // BATCH * BATCH]


@pytest.mark.parametrize(("world", "workers"), [(1, 0), (1, 3), (2, 2), (3, 0), (4, 3)])
@pytest.mark.parametrize("make", [Counted, hugging_face])
def test_the_union_over_ranks_and_workers_is_the_mixture(make, world, workers):
    ranks = [read(ld.Feed(mixed(make), BATCH, rank, world), workers) for rank in range(world)]
    assert [s for step in zip(*ranks, strict=True) for share in step for s in share] == whole(make)


@pytest.mark.parametrize(("world", "workers"), [(1, 0), (2, 2), (3, 1)])
@pytest.mark.parametrize("make", [Counted, hugging_face])
def test_others_go_on_where_some_stopped(make, world, workers):
    feeds = [ld.Feed(mixed(make), BATCH, rank, world) for rank in range(world)]
    for feed in feeds:
        feed.begin = 9 * BATCH
        assert len(feed) == (TOTAL // BATCH - 9) * BATCH // world
    ranks = [read(feed, workers) for feed in feeds]
    assert [s for step in zip(*ranks, strict=True) for share in step for s in share] == whole(make)[9 * BATCH :]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [Counted, hugging_face])
def test_a_stateful_loader_goes_on_exactly(make, workers):
    loader = stateful.StatefulDataLoader(ld.Feed(mixed(make), BATCH), BATCH, num_workers=workers, collate_fn=list)
    reading = iter(loader)
    head = [text(s) for _ in range(7) for s in next(reading)]
    state = loader.state_dict()
    del reading
    other = stateful.StatefulDataLoader(ld.Feed(mixed(make), BATCH), BATCH, num_workers=workers, collate_fn=list)
    other.load_state_dict(state)
    assert head + [text(s) for batch in other for s in batch] == whole(make)


class Remembering(Counted):
    """A source that can go on where it was, as those of Hugging Face can."""

    counts: ClassVar = Counter()

    def __init__(self, name, size):
        super().__init__(name, size)
        self.at = 0

    def __iter__(self):
        while self.at < self.size:
            self.at += 1
            self.counts[self.name] += 1
            yield f"{self.name}{self.at - 1}"
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def test_a_source_that_remembers_is_not_read_again():
    feed = ld.Feed(mixed(Remembering), BATCH)
    reading = iter(feed)
    head = [next(reading) for _ in range(9 * BATCH)]
    state = feed.state_dict()
    went_on = ld.Feed(mixed(Remembering), BATCH)
    went_on.load_state_dict(state)
    Remembering.counts.clear()
    tail = list(went_on)
    assert Remembering.counts.total() == sum(s[0] in "ab" for s in tail)
    assert head + tail == whole(Remembering)
    for rank in (0, 1):  # others use the state of one process, if it is not ahead of them
        other = ld.Feed(mixed(Remembering), BATCH, rank, 2)
        other.load_state_dict(state)
        Remembering.counts.clear()
        assert len(other) == len(tail) // 2
        half = slice(6 * rank, 6 * rank + 6)
        assert list(other) == [s for a in range(0, len(tail), BATCH) for s in tail[a : a + BATCH][half]]
        assert Remembering.counts["a"] <= sum(s[0] == "a" for s in tail)


def test_a_state_ahead_of_what_is_asked_is_left_out():
    feed = ld.Feed(mixed(Remembering), BATCH)
    list(feed)
    state = feed.state_dict()
    back = ld.Feed(mixed(Remembering), BATCH)
    back.load_state_dict(state)
    back.begin = 3 * BATCH
    assert list(back) == whole(Remembering)[3 * BATCH :]


@pytest.mark.parametrize("workers", [0, 2, 4])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_state_at_the_very_beginning_and_one_of_a_resumed_loader(workers, steps):
    """Fewer steps than workers, and a state that is taken before the first batch after a resume."""

    def loader():
        feed = ld.Feed(mixed(hugging_face), BATCH)
        return stateful.StatefulDataLoader(feed, BATCH, num_workers=workers, collate_fn=list)

    first = loader()
    reading = iter(first)
    head = [text(s) for _ in range(steps) for s in next(reading)]
    state = first.state_dict()
    del reading
    for _ in range(2):
        again = loader()
        again.load_state_dict(state)
        reading = iter(again)
        state = again.state_dict()
        del reading
    last = loader()
    last.load_state_dict(state)
    assert head + [text(s) for batch in last for s in batch] == whole(hugging_face)


def test_a_rare_source_that_was_not_asked_for_since_is_where_it_was():
    def rare():
        sources = {"a": hugging_face("a", 300), "c": hugging_face("c", 9)}
        return ld.interleave(sources, ld.Weights({"a": 0.98, "c": 0.02}), 240, seed=5)

    feed = ld.Feed(rare(), 8)
    every = [text(s) for s in feed]
    feed.begin = 80
    reading = iter(feed)
    part = [text(next(reading)) for _ in range(8)]
    other = ld.Feed(rare(), 8)
    other.load_state_dict(feed.state_dict())
    assert part + [text(s) for s in other] == every[80:]


def test_a_shuffled_stream_goes_on_exactly():
    def shuffled(name, size):
        return hugging_face(name, size).shuffle(seed=3, buffer_size=10)

    feed = ld.Feed(mixed(shuffled), BATCH)
    reading = iter(feed)
    head = [text(next(reading)) for _ in range(5 * BATCH)]
    other = ld.Feed(mixed(shuffled), BATCH)
    other.load_state_dict(feed.state_dict())
    assert head + [text(s) for s in other] == whole(shuffled)


def test_persistent_workers_hear_where_a_pass_begins():
    feed = ld.Feed(mixed(), BATCH)
    loader = torch.utils.data.DataLoader(feed, BATCH, num_workers=2, collate_fn=list, persistent_workers=True)
    assert [s for batch in loader for s in batch] == whole()
    feed.begin = 10 * BATCH
    assert [s for batch in loader for s in batch] == whole()[10 * BATCH :]


def test_the_pass_after_a_resumed_one_is_whole():
    feed = ld.Feed(mixed(), BATCH)
    reading = iter(feed)
    head = [next(reading) for _ in range(BATCH)]
    other = ld.Feed(mixed(), BATCH)
    other.load_state_dict(feed.state_dict())
    assert head + list(other) == whole() == list(other)


def test_a_state_of_workers_is_not_taken_for_one_of_all():
    feed = ld.Feed(mixed(), BATCH)
    feed.load_state_dict({**feed.state_dict(), "worker": 1, "workers": 2})
    with pytest.raises(InputError, match="worker 2 of 2, and is read by 1"):
        next(iter(feed))


BAD = {
    "positions": (lambda: ld.Feed(ld.interleave({"a": [1, 2]}, ld.Uniform(), 4), 2), "mixed.view"),
    "ranks": (lambda: ld.Feed(mixed(), 5, 0, 2), "a multiple of world"),
    "state": (lambda: ld.Feed(mixed(), BATCH).load_state_dict({"position": 3}), "state"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=said):
        call()


def test_a_begin_between_batches_is_one_line():
    feed = ld.Feed(mixed(), BATCH)
    feed.begin = 5
    with pytest.raises(InputError, match="begin = 5"):
        next(iter(feed))


def test_a_generator_that_ended_is_one_line():
    feed = ld.Feed(ld.interleave({"a": (i for i in range(3)), "b": Counted("b", 9)}, ld.Uniform(), 40), 4)
    with pytest.raises(InputError, match="'a': ended, and cannot be begun again"):
        list(feed)

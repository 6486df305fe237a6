"""Several sources mixed by a law over their names: by position, streaming, and some of each."""

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.core.errors import InputError

ROWS = {"zebra": [f"zebra {i}" for i in range(600)], "code": [f"code {i}" for i in range(300)],
        "arxiv": [f"arxiv {i}" for i in range(20)]}  # fmt: skip
SIZES = {name: len(rows) for name, rows in ROWS.items()}


class Streaming:
    """Can only be iterated, as often as one likes."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def counts(mixed):
    found = [text.split()[0] for text in mixed]
    return {name: found.count(name) for name in ROWS}


LAWS = {"as is": ld.AsIs(), "temperature": ld.Temperature(2.0), "power law": ld.PowerLaw(1.0)}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("which", [("code",), tuple(ROWS)])
def test_a_law_that_reads_sizes_is_the_same_with_streams(law, which):
    mapped = ld.interleave(ROWS, LAWS[law], 1000)
    some = {name: Streaming(rows) if name in which else rows for name, rows in ROWS.items()}
    with pytest.raises(InputError, match="nobody knows its size"):
        ld.interleave(some, LAWS[law], 1000)
    streamed = ld.interleave(some, LAWS[law], 1000, sizes={name: SIZES[name] for name in which})
    want = counts(mapped)
    assert all(abs(n - want[name]) <= 2 for name, n in counts(streamed).items())


def test_sizes_may_be_tokens():
    mixed = ld.interleave(ROWS, ld.AsIs(), 1000, sizes={"zebra": 100, "code": 300, "arxiv": 600})
    assert counts(mixed) == {"zebra": 100, "code": 300, "arxiv": 600}
    phased = ld.interleave(ROWS, ld.Phases((0.5, 1), (0.5, 1)), 1000, sizes={"zebra": 100, "code": 300, "arxiv": 600})
    assert all(abs(n - m) <= 2 for n, m in zip(counts(phased).values(), (100, 300, 600), strict=True))
    assert mixed.stream.fingerprint != ld.interleave(ROWS, ld.AsIs(), 1000).stream.fingerprint


def test_sources_with_items_are_read_at_random_beside_streams():
    some = {"zebra": ROWS["zebra"], "code": Streaming(ROWS["code"])}
    whole = list(ld.interleave(some, ld.Uniform(), 1400, seed=3))
    zebras, codes = ([t for t in whole if t.startswith(name)] for name in some)
    assert codes[:50] == ROWS["code"][:50]
    assert zebras[:50] != ROWS["zebra"][:50]
    assert set(zebras[:600]) == set(ROWS["zebra"])  # each once, before any comes again
    assert list(ld.interleave(some, ld.Uniform(), 1400, seed=3).iterate(500)) == whole[500:]


def test_a_loader_reads_a_view_in_order():
    mixed = ld.interleave(ROWS, ld.Uniform(), 90)
    view = mixed.view(batch=30)
    assert view.__getitems__(range(30)) == [mixed[n] for n in range(30)]
    assert mixed.__getitems__([5, 3]) == [mixed[5], mixed[3]]
    with pytest.raises(InputError, match="something shuffles"):
        view.__getitems__([40, 35])


def test_pytorchs_iterable_data_sets_stream():
    torch = pytest.importorskip("torch")

    class Iterable(torch.utils.data.IterableDataset):
        def __len__(self):
            return 20

        def __iter__(self):
            return iter(ROWS["arxiv"])

    assert ld.interleave({"arxiv": Iterable()}, ld.Uniform(), 30).streaming


BAD = {
    "no source": (lambda: ld.interleave({}, ld.Uniform(), 10), "at least one"),
    "an empty one": (lambda: ld.interleave({"a": [1], "b": []}, ld.Uniform(), 10), "'b': is empty"),
    "an empty stream": (lambda: list(ld.interleave({"a": Streaming([])}, ld.Uniform(), 10)), "'a': is empty"),
    "a generator": (lambda: list(ld.interleave({"a": iter([1])}, ld.Uniform(), 10)), "cannot be begun again"),
    "phases of a stream": (
        lambda: ld.interleave({"a": Streaming([1])}, ld.Phases((0.5, 1), (0.1, 1)), 10),
        "no subsets",
    ),
    "a strange size": (lambda: ld.interleave(ROWS, ld.AsIs(), 10, sizes={"web": 3}), "sizes: a number above 0"),
    "a size of text": (lambda: ld.interleave(ROWS, ld.AsIs(), 10, sizes={"code": "x"}), "sizes: a number above 0"),
    "no size": (lambda: ld.interleave(ROWS, ld.AsIs(), 10, sizes={"code": 0}), "sizes: a number above 0"),
    "a stream by position": (lambda: ld.interleave({"a": Streaming([1])}, ld.Uniform(), 10)[0], "by iteration"),
    "a stream's cap": (lambda: ld.interleave({"a": Streaming([1])}, ld.Uniform(), 10, cap=2), "cap"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case):
    call, said = BAD[case]
    with pytest.raises(InputError, match=said):
        call()


def test_random_numbers_of_sources_share_nothing():
    some = {"a": list(range(1000)), "b": list(range(1000)), "c": Streaming([0])}
    mixed = ld.interleave(some, ld.Uniform(), 3000)
    a, b = ([next(it) for _ in range(500)] for it in (mixed._from(0, 0), mixed._from(1, 0)))
    assert (np.array(a) == np.array(b)).sum() < 10

"""How long a mixture lasts, against counting, and against the library whose words these are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided.data as ld
from lopsided.core.errors import InputError


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.floats(0, 2), st.booleans())
def test_counted(sizes, alpha, moves):
    groups = ld.Groups(np.repeat(np.arange(len(sizes)), sizes))
    shape = ld.Anneal(alpha, 0) if moves else ld.PowerLaw(alpha)
    first, every = ld.until_first_ends(groups, shape), ld.until_all_seen(groups, shape)
    if first >= 20 * len(sizes):  # a stream is within one sample of its law, not on it
        before = np.bincount(ld.Stream(groups, shape, first - 3 * len(sizes)).at(np.arange(first - 3 * len(sizes))))
        assert before.max() == 1
    after = int(every * 1.1) + 3 * len(sizes) ** 2
    seen = np.unique(ld.Stream(groups, shape, after).at(np.arange(after)))
    assert len(seen) == sum(sizes)
    assert first <= sum(sizes) <= every


def test_interleave_datasets_means_the_same():
    datasets = pytest.importorskip("datasets")
    sizes, share = {"a": 900, "b": 300}, {"a": 0.5, "b": 0.5}
    sources = [datasets.Dataset.from_dict({"x": list(range(n))}) for n in sizes.values()]
    for strategy, total in (("first_exhausted", ld.until_first_ends), ("all_exhausted", ld.until_all_seen)):
        theirs = [
            len(datasets.interleave_datasets(sources, list(share.values()), seed, stopping_strategy=strategy))
            for seed in range(20)
        ]
        assert np.mean(theirs) == pytest.approx(total(sizes, ld.Weights(share)), rel=0.05)


def test_sources_larger_than_memory():
    sizes = {"web": 7 * 10**12, "code": 10**12}
    law = ld.Weights({"web": 0.8, "code": 0.2})
    assert ld.until_first_ends(sizes, law) == 5 * 10**12
    assert ld.until_all_seen(sizes, law) == 8_750_000_000_000
    with pytest.raises(InputError, match="at least 1"):
        ld.until_all_seen({"web": 0}, law)

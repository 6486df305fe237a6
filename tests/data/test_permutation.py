"""Permutations that are never stored: bijections, uniform over all permutations, keys that share nothing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chisquare

from lopsided.data.permutation import EXACT, permuted, permuted_by_one
from lopsided.data.words import U, below, bits, key, unit, word

DRAWS = 40_000


def all_of(words, size):
    """(keys, size) the whole permutation of each key."""
    n = len(words)
    position = np.tile(np.arange(size, dtype=np.uint32), n)
    return permuted(np.repeat(words, size), position, np.full(n * size, size, np.uint32)).reshape(n, size)


@given(st.integers(1, 5000), st.integers(0, 2**62))
def test_every_position_lands_somewhere_else(size, seed):
    found = permuted_by_one(word(key(seed, "x"), 1), np.arange(size, dtype=np.uint32), size)
    assert sorted(found.tolist()) == list(range(size))


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30), st.integers(0, 2**62))
def test_each_element_has_a_permutation_of_its_own(sizes, seed):
    """One call over many sizes and keys is what one call for each gives."""
    words = bits(key(seed, "y"), np.arange(len(sizes), dtype=U))
    position = np.array([s - 1 for s in sizes], np.uint32)
    together = permuted(words, position, np.array(sizes, np.uint32))
    alone = [permuted_by_one(w, p[None], s)[0] for w, p, s in zip(words, position, sizes, strict=True)]
    assert together.tolist() == [int(a) for a in alone]


@pytest.mark.parametrize("size", range(2, 8))
def test_all_permutations_are_equally_likely(size):
    """Chi-square over all of them, up to 7 elements."""
    found = all_of(bits(key(size, "keys"), np.arange(DRAWS, dtype=U)), size)
    number = {p: i for i, p in enumerate(itertools.permutations(range(size)))}
    counts = np.bincount([number[tuple(p)] for p in found.tolist()], minlength=math.factorial(size))
    assert chisquare(counts).pvalue > 1e-4


def test_pairs_are_equally_likely_for_every_size_to_128():
    """Where the first two elements go: one chi-square for each size, and one for all of them together."""
    values, freedom = 0.0, 0
    for size in range(2, 129):
        draws = 4000
        words = bits(key(size, "pairs"), np.arange(draws, dtype=U))
        n = np.full(draws, size, np.uint32)
        first, second = (permuted(words, np.full(draws, p, np.uint32), n).astype(int) for p in (0, 1))
        classes = min(size, 12)  # of places, so that every pair of classes is expected often enough
        table = np.zeros((classes, classes))
        np.add.at(table, (first * classes // size, second * classes // size), 1)
        a = np.bincount(np.arange(size) * classes // size, minlength=classes).astype(float)
        expected = (np.outer(a, a) - np.diag(a)) / (size * (size - 1)) * draws
        held = expected > 0
        value = ((table - expected)[held] ** 2 / expected[held]).sum()
        assert chi2.sf(value, held.sum() - 1) > 1e-5, size
        values, freedom = values + value, freedom + held.sum() - 1
    assert chi2.sf(values, freedom) > 1e-3


def test_large_ranges_are_covered_evenly():
    size = 2**31 - 1
    found = permuted_by_one(word(key(0, "large"), 0), np.arange(200_000, dtype=np.uint32), size)
    assert len(set(found.tolist())) == 200_000
    assert chisquare(np.bincount(found.astype(np.int64) * 64 // size, minlength=64)).pvalue > 1e-4


def test_neighbouring_keys_share_nothing():
    a, b = (
        permuted_by_one(word(key(seed, "epoch", 0), 0), np.arange(10_000, dtype=np.uint32), 10_000) for seed in (0, 1)
    )
    assert (a == b).sum() < 12
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.05
    epoch_1_of_seed_0 = permuted_by_one(word(key(0, "epoch", 0), 1), np.arange(10_000, dtype=np.uint32), 10_000)
    assert (epoch_1_of_seed_0 == b).sum() < 12  # torch and Grain add seed and epoch; nothing is added here


def test_words_are_uniform():
    w = bits(key(3, "words"), np.arange(200_000, dtype=U))
    assert chisquare(np.bincount((w >> U(56)).astype(int), minlength=256)).pvalue > 1e-4
    assert chisquare(np.bincount((w & U(255)).astype(int), minlength=256)).pvalue > 1e-4
    assert 0 <= unit(w).min() <= unit(w).max() < 1
    assert chisquare(np.bincount(below(w, 7))).pvalue > 1e-4
    assert EXACT == 16

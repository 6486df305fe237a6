import itertools
import math

import jax
import jax.extend
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as sps
from scipy.stats import chi2, chisquare

from lopsided.core.keys import below, normal, shuffled, stream, unit, words
from lopsided.numerics.threefry import threefry2x32


def test_generator_has_the_bits_of_jax():
    key = jnp.array([0x12345678, 0x9ABCDEF0], jnp.uint32)
    counters = jnp.arange(64, dtype=jnp.uint32)
    ours = jnp.concatenate(threefry2x32(key[0], key[1], counters[:32], counters[32:]))
    assert (ours == jax.extend.random.threefry_2x32(key, counters)).all()


def draw(key, n=100_000):
    return np.asarray(jax.vmap(lambda i: words(key, i))(jnp.arange(n, dtype=jnp.uint32))).astype(np.uint64)


def as_numbers(pairs):
    return set((pairs[:, 0] << np.uint64(32) | pairs[:, 1]).tolist())


@pytest.mark.parametrize("other", [(1, "train"), (0, "test"), (2**32, "train"), (0, "train", "train")])
def test_streams_share_nothing(other):
    """10⁵ samples of two streams (neighbouring seeds, train and test) have no 64-bit word in common."""
    assert not as_numbers(draw(stream(0, "train"))) & as_numbers(draw(stream(*other)))


def test_words_and_fold_in_share_nothing():
    key = stream(3, "train")
    folded = jax.vmap(lambda i: jax.random.key_data(jax.random.fold_in(key, i)))(jnp.arange(100_000))
    assert not as_numbers(draw(key)) & as_numbers(np.asarray(folded).astype(np.uint64))


def test_seed_rides_inside_a_program():
    from lopsided.core.keys import seed_words

    for seed in (0, 1, 2**40 + 5):
        traced = jax.jit(lambda s: jax.random.key_data(stream(s, "a")))(jnp.array(seed_words(seed), jnp.uint32))
        assert (traced == jax.random.key_data(stream(seed, "a"))).all()


@pytest.mark.slow
@given(st.integers(1, 2**31 - 1), st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20))
def test_below_is_the_high_word(size, bits):
    ours = below(jnp.array(bits, jnp.uint32), size)
    assert np.asarray(ours).tolist() == [b * size >> 32 for b in bits]


@given(st.integers(1, 3000), st.integers(0, 2**32 - 1))
def test_shuffled_is_a_permutation(size, seed):
    word = jnp.array([seed, seed ^ 0x5555], jnp.uint32)
    assert sorted(np.asarray(SHUFFLE(word, size))[:size].tolist()) == list(range(size))


# One compilation for all sizes: places beyond the size are computed and ignored.
SHUFFLE = jax.jit(
    lambda word, size: jax.vmap(lambda p: shuffled(word, jnp.minimum(p, size - 1), size))(
        jnp.arange(3000, dtype=jnp.uint32)
    )
)


@pytest.mark.slow
def test_shuffled_mixes():
    """Over many keys, every place receives every element about equally often (chi-square)."""
    from scipy.stats import chisquare

    size, keys = 24, 6000
    word = jax.vmap(lambda i: words(stream(0, "shuffle"), i))(jnp.arange(keys, dtype=jnp.uint32))
    out = jax.vmap(lambda w: jax.vmap(lambda p: shuffled(w, p, size))(jnp.arange(size, dtype=jnp.uint32)))(word)
    p = [chisquare(np.bincount(np.asarray(out)[:, place], minlength=size)).pvalue for place in range(size)]
    assert min(p) > 1e-5


def test_unit_is_below_one():
    assert float(unit(jnp.array([2**32 - 1], jnp.uint32))[0]) < 1.0


@pytest.mark.slow
def test_normal_numbers_are_the_quantiles_of_their_words():
    bits = np.linspace(0, 2**32 - 1, 100_001).astype(np.uint32)
    u = ((bits >> 9) + 0.5) / 2**23
    np.testing.assert_allclose(np.asarray(normal(jnp.asarray(bits))), sps.norm.ppf(u), atol=5e-5)
    drawn = np.asarray(jax.vmap(lambda i: normal(words(stream(0, "n"), i, 10)))(jnp.arange(20_000))).ravel()
    assert sps.kstest(drawn, "norm").pvalue > 1e-3


def _permutations(size, draws):
    """(draws, size) whole permutations of `shuffled`."""
    position = jnp.arange(size, dtype=jnp.uint32)
    key = stream(3, "permutations")
    whole = jax.jit(
        jax.vmap(lambda e: jax.vmap(lambda p: shuffled(words(key, e), p, jnp.uint32(size)))(position)),
    )
    return np.asarray(whole(jnp.arange(draws, dtype=jnp.uint32))).astype(int)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
def test_all_permutations_of_a_small_set_are_equally_likely(size):
    """Six rounds of mixing gave permutations of six elements .83 to 1.46 of their share."""
    found = _permutations(size, 30_000)
    number = {p: i for i, p in enumerate(itertools.permutations(range(size)))}
    counts = np.bincount([number[tuple(p)] for p in found.tolist()], minlength=math.factorial(size))
    assert chisquare(counts).pvalue > 1e-4


def test_pairs_are_equally_likely_for_every_size_to_128():
    draws, key = 3000, stream(4, "pairs")

    @jax.jit
    def first_two(size):
        return jax.vmap(
            lambda e: jax.vmap(lambda p: shuffled(words(key, e), p, size))(jnp.arange(2, dtype=jnp.uint32))
        )(jnp.arange(draws, dtype=jnp.uint32))

    values = freedom = 0
    for size in range(2, 129):
        first, second = np.asarray(first_two(jnp.uint32(size))).astype(int).T
        classes = min(size, 10)
        table = np.zeros((classes, classes))
        np.add.at(table, (first * classes // size, second * classes // size), 1)
        share = np.bincount(np.arange(size) * classes // size, minlength=classes).astype(float)
        expected = (np.outer(share, share) - np.diag(share)) / (size * (size - 1)) * draws
        held = expected > 0
        value = ((table - expected)[held] ** 2 / expected[held]).sum()
        assert chi2.sf(value, held.sum() - 1) > 1e-5, size
        values, freedom = values + value, freedom + held.sum() - 1
    assert chi2.sf(values, freedom) > 1e-3

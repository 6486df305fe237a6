"""Random words as a function of a named key and a counter, in NumPy: two keyed rounds of SplitMix64.

Nothing is ever added to a seed: `key(0, "epoch")` and `key(1, "epoch")` are hashes and share nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

U = np.uint64
ODD = U(0x9E3779B97F4A7C15)
"""The golden ratio of 2^64: steps of SplitMix64's counter."""
CHUNK = 1 << 13
"""Elements worked on at a time, so that temporaries stay in the cache."""


class Key(NamedTuple):
    """Two 64-bit words."""

    first: np.uint64
    second: np.uint64


def key(seed: int, *names: object) -> Key:
    """The key of a named stream."""
    digest = hashlib.blake2b(repr((int(seed), *names)).encode(), digest_size=16).digest()
    return Key(U(int.from_bytes(digest[:8], "little")), U(int.from_bytes(digest[8:], "little")))


def bits(k: Key, counter: np.ndarray) -> np.ndarray:
    """(n,) uint64: 64 random bits at every counter (n,)."""
    counter = np.asarray(counter, U)
    out = np.empty(counter.shape, U)
    spare = np.empty(min(CHUNK, counter.size), U)
    for a in range(0, counter.size, CHUNK):
        x = out[a : a + CHUNK]
        np.multiply(counter[a : a + CHUNK], ODD, out=x)
        x += k.first
        finish(x, spare[: x.size])
        x ^= k.second
        finish(x, spare[: x.size])
    return out


def finish(x: np.ndarray, spare: np.ndarray) -> None:
    """SplitMix64's finaliser (Stafford's mix 13), in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        np.right_shift(x, U(shift), out=spare)
        x ^= spare
        x *= U(factor)
    np.right_shift(x, U(31), out=spare)
    x ^= spare


def word(k: Key, counter: int) -> np.uint64:
    """The 64 bits at one counter."""
    return bits(k, np.array([counter], U))[0]


def words_of(names: Sequence[object]) -> np.ndarray:
    """(n,) uint64: a word for each integer or text, whatever the others are."""
    if all(type(name) is int and -(2**63) <= name < 2**63 for name in names):
        return bits(key(0, "integer"), np.array(names, np.int64).view(U))
    return np.array([_word_of(name) for name in names], U)


def _word_of(name: object) -> int:
    if isinstance(name, int) and -(2**63) <= name < 2**63:
        return int(bits(key(0, "integer"), np.array([name], np.int64).view(U))[0])
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=8).digest(), "little")


def unit(words: np.ndarray) -> np.ndarray:
    """Numbers in [0, 1), multiples of 2^-53."""
    return (words >> U(11)).astype(np.float64) * 2.0**-53


def below(words: np.ndarray, size: np.ndarray | int) -> np.ndarray:
    """Integers in [0, size), size < 2^32; a value's probability is off by less than size / 2^32 of itself."""
    return (((words >> U(32)) * np.asarray(size, U)) >> U(32)).astype(np.int64)

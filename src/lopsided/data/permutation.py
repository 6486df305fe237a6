"""Random permutations of range(n) that are never stored: where a position lands, for each element its own key and n.

Up to 16 elements the digits of the factorial number system are decoded, exactly uniform over all n! permutations.
Above, eight rounds of odd multiplication, addition and xor-shift mix the smallest power of two >= n; a result outside
the range walks on until it is inside. All are bijections, so every example of an epoch comes exactly once."""

from __future__ import annotations

import numpy as np

from lopsided.data.words import CHUNK, U, bits, key

Word = np.uint32
LARGEST = 2**31  # a power of two >= n has to fit into a 32-bit word
# So many examples are permuted exactly, by a number below 16! < 2^64; more go through rounds of a mixing function.
EXACT = 16
ROUNDS = 8
_CONSTANTS = bits(key(0, "permutation rounds"), np.arange(ROUNDS, dtype=U))
_ADD = [Word(int(c) & 0xFFFFFFFF) for c in _CONSTANTS]
_XOR = [Word(int(c) >> 32) for c in _CONSTANTS]
# The multipliers of lowbias32 (C. Wellons, hash prospector), an integer hash found by search for low bias.
_A, _B = Word(0x7FEB352D), Word(0x846CA68B)


def permuted(words: np.ndarray, position: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(n,) uint32. `words` (n,) uint64: the key of each element's permutation; `position`, `size` (n,) uint32, size
    at most 2^31."""
    out = np.empty(position.shape, Word)
    for a in range(0, position.size, CHUNK):
        part = slice(a, a + CHUNK)
        w, p, n = words[part], position[part], size[part]
        small = n <= EXACT
        if small.any():
            few, many = np.flatnonzero(small), np.flatnonzero(~small)
            chunk = np.empty(p.shape, Word)
            chunk[few] = _decoded(w[few], p[few], n[few])
            if many.size:
                chunk[many] = _mixed(_round_keys(w[many]), p[many], n[many])
            out[part] = chunk
        else:
            out[part] = _mixed(_round_keys(w), p, n)
    return out


def permuted_by_one(word: np.uint64, position: np.ndarray, size: int) -> np.ndarray:
    """`permuted` with one key and one size for all positions."""
    words, n = np.array([word], U), np.array([size], Word)
    if size <= EXACT:
        return _decoded(np.repeat(words, position.size), position, np.repeat(n, position.size))
    keys = _round_keys(words)
    out = np.empty(position.shape, Word)
    for a in range(0, position.size, CHUNK):
        out[a : a + CHUNK] = _mixed(keys, position[a : a + CHUNK], n)
    return out


def _round_keys(words: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(odd multiplier, offset) of each round."""
    low, high = words.astype(Word), (words >> U(32)).astype(Word)
    state = low ^ (high >> Word(15))
    spare = np.empty_like(state)
    keys = []
    for i in range(ROUNDS):
        state += high if i % 2 else low
        state += _ADD[i]
        for shift, factor in ((16, _A), (15, _B)):
            np.right_shift(state, Word(shift), out=spare)
            state ^= spare
            state *= factor
        np.right_shift(state, Word(16), out=spare)
        state ^= spare
        keys.append((state | Word(1), (state ^ _XOR[i]) * _A))
    return keys


def _mixed(keys: list[tuple[np.ndarray, np.ndarray]], position: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Keys and sizes are one each, or one for each position."""
    n_bits = np.frexp((np.maximum(size, Word(2)) - Word(1)).astype(np.float64))[1].astype(U)
    mask = ((U(1) << n_bits) - U(1)).astype(Word)
    shift = ((n_bits + U(1)) >> U(1)).astype(Word)
    x = position.astype(Word)
    spare = np.empty_like(x)
    for multiplier, offset in keys:
        x *= multiplier
        x += offset
        x &= mask
        np.right_shift(x, shift, out=spare)
        x ^= spare
    outside = np.flatnonzero(x >= size)
    while outside.size:
        y = x[outside]
        its = [_of(a, outside) for a in (mask, shift, size)]
        for multiplier, offset in keys:
            y *= _of(multiplier, outside)
            y += _of(offset, outside)
            y &= its[0]
            y ^= y >> its[1]
        x[outside] = y
        outside = outside[y >= its[2]]
    return x


def _of(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    return values if values.size == 1 else values[which]


def _decoded(words: np.ndarray, position: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Digit j of the factorial number system is uniform on range(size - j); the digits say which of the values that
    are left comes at each place."""
    top = int(size.max())
    state, spare = words.copy(), np.empty_like(words)
    digits = []
    for j in range(top):
        state *= U(0xD1342543DE82EF95)
        state += U(0x9E3779B97F4A7C15)
        np.right_shift(state, U(29), out=spare)
        state ^= spare
        left = np.where(size > j, size - Word(j), Word(1)).astype(U)
        digits.append((((state >> U(32)) * left) >> U(32)).astype(Word))
    x = np.zeros(position.shape, Word)
    for j in range(top - 1, -1, -1):
        digit = digits[j]
        x = np.where(position == j, digit, x + ((x >= digit) & (position > j)).astype(Word))
    return x.astype(Word)

"""Named key streams: every random draw of the project starts here.

`stream(seed, "train")` and `stream(seed, "test")` share nothing, and neither do two neighbouring seeds: names and both
halves of the seed go through the counter-based generator (Threefry) one after the other, nothing is ever added to a
seed or an index. A draw inside a stream is the stream's key folded with an index.
"""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Integer, PRNGKeyArray, UInt32

from lopsided.numerics.threefry import threefry2x32

Key = PRNGKeyArray


def name_word(name: str) -> int:
    """32 bits of the SHA-256 of a stream's name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def seed_words(seed: int) -> tuple[int, int]:
    """The low and high 32 bits of a seed in [0, 2^64)."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed lies in [0, 2^64), got {seed}")
    return seed & 0xFFFFFFFF, seed >> 32


def stream(seed: int | UInt32[Array, 2], *names: str) -> Key:
    """The key of a named stream. `seed` is an int, or its two words where it rides inside a compiled program."""
    low, high = seed_words(seed) if isinstance(seed, int) else (seed[0], seed[1])
    key = jax.random.fold_in(jax.random.key(0, impl="threefry2x32"), jnp.uint32(low))
    key = jax.random.fold_in(key, jnp.uint32(high))
    for name in names:
        key = jax.random.fold_in(key, jnp.uint32(name_word(name)))
    return key


def words(key: Key, index: Any, count: int = 2) -> UInt32[Array, " count"]:
    """`count` random words of `key` at `index`, two for each evaluation of the generator (the cheapest draw there is).

    Their counters (index, 2^31 + j) never meet those of `fold_in` on the same key, which are (0, data).
    """
    k0, k1 = jax.random.key_data(key)
    block = jnp.uint32(2**31) + jnp.arange((count + 1) // 2, dtype=jnp.uint32)
    index = jnp.broadcast_to(jnp.asarray(index).astype(jnp.uint32), block.shape)
    bits = jnp.stack(threefry2x32(k0, k1, index, block), axis=-1).reshape(-1)[:count]
    # Without the barrier XLA recomputes the generator for every element that is unpacked from one word.
    return jax.lax.optimization_barrier(bits)


def unit(bits: UInt32[Array, "*n"]) -> Float[Array, "*n"]:
    """Random words to numbers in [0, 1): multiples of 2^-24, so that every value is exact in float32."""
    return (bits >> 8).astype(jnp.float32) * jnp.float32(2.0**-24)


def normal(bits: UInt32[Array, "*n"]) -> Float[Array, "*n"]:
    """Random words to standard normal numbers by inversion (23 bits of each word; the largest is 5.3).

    The inverse error function is Giles's (2010), which `jax.lax.erf_inv` has too; written out, XLA fuses it with the
    generator in a quarter of the time (2^14 x 20 numbers on one CPU core: 1.6 against 6.7 ms). Good to 3e-5.
    """
    u = ((bits >> 9).astype(jnp.float32) + 0.5) * jnp.float32(2.0**-22) - 1  # exact, in (-1, 1)
    w = -jnp.log((1 - u) * (1 + u))
    centre, tail = _polynomial(_GILES_CENTRE, w - 2.5), _polynomial(_GILES_TAIL, jnp.sqrt(w) - 3)
    return jnp.float32(2**0.5) * u * jnp.where(w < 5, centre, tail)


# M. Giles, "Approximating the erfinv function" (2010): coefficients in single precision, highest power first.
_GILES_CENTRE = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_GILES_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Horner's rule, highest power first."""
    total = jnp.float32(coefficients[0])
    for c in coefficients[1:]:
        total = jnp.float32(c) + total * x
    return total


def below(bits: UInt32[Array, "*n"], size: Integer[Array, ""] | int) -> UInt32[Array, "*n"]:
    """Random words to integers in [0, size), size < 2^31, as the high word of `bits * size`.

    Exact for powers of two; otherwise every value's probability is off by less than size / 2^32 of itself.
    """
    size = jnp.asarray(size).astype(jnp.uint32)
    low, high = bits & 0xFFFF, bits >> 16
    s_low, s_high = size & 0xFFFF, size >> 16
    middle = (low * s_low >> 16) + (high * s_low & 0xFFFF) + (low * s_high & 0xFFFF)
    return high * s_high + (high * s_low >> 16) + (low * s_high >> 16) + (middle >> 16)


def shuffled(word: UInt32[Array, 2], position: UInt32[Array, ""], size: Integer[Array, ""] | int) -> UInt32[Array, ""]:
    """Where `position` lands in a random permutation of range(size) that is never stored; size < 2^31.

    Up to EXACT elements the digits of the factorial number system are decoded, uniform over all permutations. Above,
    multiplications by odd numbers, additions and xor-shifts are bijections of the n-bit words; keyed by `word` and
    repeated they mix the smallest power of two >= size, and a result outside the range walks on until it is inside
    (fewer than two rounds on average). Pure: any position can be asked for on its own.
    """
    if isinstance(size, int):
        return _mixed(word, position, size) if size > EXACT else _decoded(word, position, size)
    return jnp.where(size <= EXACT, _decoded(word, position, size), _mixed(word, position, size))


EXACT = 16
"""Largest number of elements whose permutations are all equally likely: they are decoded digit by digit, in a loop that
is unrolled as it is traced, so that it cannot be long."""


def _scrambled(k: UInt32[Array, ""]) -> UInt32[Array, ""]:
    """Every bit of a key reaches the low bits, all that a small range sees."""
    k = (k ^ (k >> 16)) * jnp.uint32(0x7FEB352D)
    k = (k ^ (k >> 15)) * jnp.uint32(0x846CA68B)
    return k ^ (k >> 16)


def _decoded(word: UInt32[Array, 2], position: UInt32[Array, ""], size: Integer[Array, ""] | int) -> UInt32[Array, ""]:
    """Digit j is uniform on range(size - j), and says which of the values that are left comes at place j."""
    position, size = position.astype(jnp.uint32), jnp.asarray(size).astype(jnp.uint32)
    state, digits = word[0], []
    for j in range(EXACT):
        state = _scrambled((state ^ word[1]) + jnp.uint32(0x9E3779B9 * (j + 1) % 2**32))
        digits.append(below(state, jnp.where(size > j, size - j, 1)))
    x = jnp.uint32(0)
    for j in range(EXACT - 1, -1, -1):
        x = jnp.where(position == j, digits[j], x + ((x >= digits[j]) & (position > j)).astype(jnp.uint32))
    return x


def _mixed(word: UInt32[Array, 2], position: UInt32[Array, ""], size: Integer[Array, ""] | int) -> UInt32[Array, ""]:
    """Six rounds, for more than EXACT elements."""
    size = jnp.asarray(size).astype(jnp.uint32)
    bits = (32 - jax.lax.clz(jnp.maximum(size - 1, 1))).astype(jnp.uint32)
    mask = (jnp.uint32(1) << bits) - 1
    shift = (bits + 1) // 2

    keys = [_scrambled(word[r % 2] + jnp.uint32(0x9E3779B9 * (r + 1) % 2**32)) for r in range(12)]

    def once(x):
        for multiplier, offset in zip(keys[::2], keys[1::2], strict=True):
            x = (x * (multiplier | 1) + offset) & mask
            x = x ^ (x >> shift)
        return x

    start = once(position.astype(jnp.uint32) & mask)
    return jax.lax.while_loop(lambda x: x >= size, once, start)

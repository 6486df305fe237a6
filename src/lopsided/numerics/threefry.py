"""Threefry-2x32 with 20 rounds (Salmon et al., 2011), written out so that it fuses into what consumes its bits.

JAX's own lowering on CPUs is a rolled loop over buffers, which costs more than a small network's whole step. The bits
are the same (a test compares them with `jax.extend.random.threefry_2x32`).
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, UInt32

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
"""Rotations of Threefry-2x32 (Salmon et al. 2011, table 2)."""
_PARITY = 0x1BD11BDA
"""The constant of the key schedule of Threefish, for words of 32 bits."""


def threefry2x32(
    k0: UInt32[Array, ""], k1: UInt32[Array, ""], x0: UInt32[Array, "*n"], x1: UInt32[Array, "*n"]
) -> tuple[UInt32[Array, "*n"], UInt32[Array, "*n"]]:
    """Two random words for key (k0, k1) at counter (x0, x1)."""
    keys = (k0, k1, k0 ^ k1 ^ jnp.uint32(_PARITY))
    x0, x1 = x0 + k0, x1 + k1
    for block in range(5):
        for rotation in _ROTATIONS[block % 2]:
            x0 = x0 + x1
            x1 = ((x1 << rotation) | (x1 >> (32 - rotation))) ^ x0
        x0 = x0 + keys[(block + 1) % 3]
        x1 = x1 + keys[(block + 2) % 3] + jnp.uint32(block + 1)
    return x0, x1

"""A hash that decides what is held out: the same on any machine, in JAX and in NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np


def hashed(numbers: Iterable[Any]) -> Any:
    """32 bits of a sequence of integers (arrays of one shape, or Python ints), mixed one after the other."""
    state: Any = None
    with np.errstate(over="ignore"):
        for number in numbers:
            array = np if isinstance(number, (int, np.ndarray, np.generic)) else jnp
            word = array.asarray(number).astype(array.uint32) + np.uint32(1)
            state = _mixed(word if state is None else state * np.uint32(31) + word)
    return state


def _mixed(h: Any) -> Any:
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    return h ^ (h >> 16)

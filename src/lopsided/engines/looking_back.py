"""Checkpoints that ride in a member's state, for probes that look back over the whole of training."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

from lopsided.core.spec import Spec


def stretches(spec: Spec) -> int:
    """Equal stretches of training after which parameters are kept; 0: none are."""
    return max((probe.stretches for probe in spec.probes), default=0)


def begin(spec: Spec, params: Any) -> Any:
    """(C, P) checkpoints with the first one filled in, or nothing."""
    count = stretches(spec)
    if not count:
        return ()
    flat = ravel_pytree(params)[0]
    return jnp.zeros((count + 1, flat.size), flat.dtype).at[0].set(flat)


def record(spec: Spec, kept: Any, params: Any, t: Int[Array, ""]) -> Any:
    """Checkpoints after step `t`, whose parameters are kept if a stretch ends there."""
    if isinstance(kept, tuple):
        return kept
    length = spec.steps // stretches(spec)
    write = lambda rows: rows.at[(t + 1) // length].set(ravel_pytree(params)[0])  # noqa: E731
    return jax.lax.cond((t + 1) % length == 0, write, lambda rows: rows, kept)

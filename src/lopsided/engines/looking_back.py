"""Checkpoints that ride in a member's state, for probes that look back over the whole of training."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

from lopsided.core.errors import InputError
from lopsided.core.spec import Spec


def check(spec: Spec) -> None:
    """Raise `InputError` unless checkpoints fall on whole steps of members that stay to the end."""
    for probe in spec.probes:
        if not probe.n_checkpoints:
            continue
        if spec.until is not None:
            raise InputError(f"probe {probe.name!r}: only for plans that draw samples, without `until`")
        if spec.steps % probe.n_checkpoints:
            raise InputError(
                f"probe {probe.name!r}: {probe.n_checkpoints} stretches do not divide steps = {spec.steps}"
            )
        if any(other.n_checkpoints not in (0, probe.n_checkpoints) for other in spec.probes):
            raise InputError(f"probe {probe.name!r}: all probes that look back take the same number of checkpoints")


def refuse(spec: Spec) -> None:
    """Raise `InputError` if a probe looks back, for engines that keep no checkpoints."""
    for probe in spec.probes:
        if probe.n_checkpoints:
            raise InputError(f"probe {probe.name!r}: only for plans that draw samples, without `until`")


def n_checkpoints(spec: Spec) -> int:
    """Equal stretches of training after each of which parameters are kept; 0: none are."""
    return max((probe.n_checkpoints for probe in spec.probes), default=0)


def begin(spec: Spec, params: Any) -> Any:
    """(C, P) checkpoints with the first one filled in, or nothing."""
    count = n_checkpoints(spec)
    if not count:
        return ()
    flat = ravel_pytree(params)[0]
    return jnp.zeros((count + 1, flat.size), flat.dtype).at[0].set(flat)


def record(spec: Spec, kept: Any, params: Any, t: Int[Array, ""]) -> Any:
    """Checkpoints after step `t`, whose parameters are kept if a stretch ends there."""
    if isinstance(kept, tuple):
        return kept
    length = spec.steps // n_checkpoints(spec)
    write = lambda rows: rows.at[(t + 1) // length].set(ravel_pytree(params)[0])
    return jax.lax.cond((t + 1) % length == 0, write, lambda rows: rows, kept)

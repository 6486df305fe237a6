"""How far each teacher direction is learned, by whom, and what the other neurons do (paper B, theorem 2.1)."""

from __future__ import annotations

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array

from lopsided.core.model import Model
from lopsided.core.probe import Probe, ProbeContext
from lopsided.core.task import Task
from lopsided.numerics.hermite import exponent_of
from lopsided.probes._shares import LEARNED, check, shares


class Directions(Probe):
    """Metrics of P numbers, one for each direction p, with strengths s_k, overlaps c_kp and J the link's information
    exponent:

    `strength`  learned share sum_k s_k c_kp^J / a_p: the student's tensor at (e_p, ..., e_p) over the teacher's
    `overlap`   largest c_kp² of any neuron
    `neuron`    the neuron k that contributes most, s_k |c_kp|^J
    `directions/learned`  share of directions with strength of at least one half
    `directions/found`    share of directions with a neuron at overlap² of at least one half
    `norm/used-min`, `norm/unused-max`  smallest and largest strength s_k of neurons that do and do not hold a learned
                                        direction (NaN if there is none)
    `norm/unused-share`  the strength of all neurons that hold no learned direction, as a share of the whole
    `overlap/irrelevant`  largest c_kp² over pairs other than (neuron of p, p)
    """

    name: Literal["directions"] = "directions"

    def check(self, task: Task, model: Model) -> None:
        check(self.name, task, model)

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        weights = context.latent.weights
        strengths, directions, link = context.params.ridges()
        degree = exponent_of(link)
        n = weights.shape[0]
        c = directions[:, :n]
        parts = strengths[:, None] * c**degree
        share = shares(strengths, c, weights, degree)
        neuron = jnp.abs(parts).argmax(0)
        learned = share >= LEARNED
        used = jnp.zeros(c.shape[0], bool).at[neuron].max(learned)
        square = c**2
        others = square.at[neuron, jnp.arange(n)].set(0.0)
        return {
            "strength": share,
            "overlap": square.max(0),
            "neuron": neuron.astype(share.dtype),
            "directions/learned": learned.mean(dtype=share.dtype),
            "directions/found": (square.max(0) >= LEARNED).mean(dtype=share.dtype),
            "norm/used-min": _or_nan(jnp.where(used, strengths, jnp.inf).min()),
            "norm/unused-max": _or_nan(jnp.where(used, -jnp.inf, strengths).max()),
            "norm/unused-share": jnp.where(used, 0.0, strengths).sum() / strengths.sum(),
            "overlap/irrelevant": others.max(),
        }


def _or_nan(value: Array) -> Array:
    return jnp.where(jnp.isfinite(value), value, jnp.nan)

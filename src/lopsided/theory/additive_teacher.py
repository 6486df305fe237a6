"""The idealised run of `additive-teacher`: every direction learned at its predicted time by its predicted neuron."""

from __future__ import annotations

import numpy as np

from lopsided.core.hermite import Link, exponent_of
from lopsided.theory.greedy_selection import gaps, greedy_selection, selection_matrix
from lopsided.theory.transitions import escape_time, idealised_loss, norm_growth_time


def idealised(
    weights: np.ndarray, strengths: np.ndarray, overlaps: np.ndarray, link: Link, rate: float, steps: np.ndarray
) -> dict[str, np.ndarray]:
    """Metrics (T,) at `steps` (T,) of a member with teacher weights (P,), initial strengths (m,), overlaps (m, P).

    `population/loss` and `test/loss`: idealised loss; `strength/p` (directions count from 1): 0 or 1; `neuron/p`; the
    same at every step: `predicted/time/p` in steps with the growth of the norm, `predicted/bare-time/p` without,
    inf (stored as NaN) where no neuron is left; `gap/row`, `gap/column`, `gap/threshold`: the smallest of the member.
    """
    degree, coefficient = exponent_of(link), link[0][1]
    matrix = selection_matrix(weights, overlaps, degree)
    chosen = greedy_selection(matrix)
    bare = np.full(len(weights), np.inf)
    full = np.full(len(weights), np.inf)
    a, k = weights[chosen.direction], chosen.neuron
    bare[chosen.direction] = escape_time(a, overlaps[k, chosen.direction], degree, coefficient) / rate
    full[chosen.direction] = bare[chosen.direction] + norm_growth_time(a, np.sqrt(strengths[k])) / rate
    loss = idealised_loss(steps, weights, full)
    found = {"population/loss": loss, "test/loss": loss, "train/loss": loss}
    for p, (time, bare_time, neuron) in enumerate(zip(full, bare, chosen.neuron_of(len(weights)), strict=True), 1):
        found[f"strength/{p}"] = (steps >= time).astype(float)
        found[f"neuron/{p}"] = np.full(len(steps), float(neuron))
        found[f"predicted/time/{p}"] = np.full(len(steps), time)
        found[f"predicted/bare-time/{p}"] = np.full(len(steps), bare_time)
    found["directions/learned"] = (steps[:, None] >= full).mean(1)
    smallest = {name: v.min(initial=np.inf) for name, v in gaps(matrix, chosen)._asdict().items()}
    found |= {f"gap/{name}": np.full(len(steps), v) for name, v in smallest.items()}
    return {name: np.where(np.isfinite(v), v, np.nan) for name, v in found.items()}

"""Rank orders (who holds rank 1, 2, ...) and rank bins. Separate from the distribution, recorded with every run."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from lopsided.core.keys import stream
from lopsided.core.task import RankOrder


def skill_at_rank(order: RankOrder, n_skills: int, seed: Any) -> Int[Array, " R"]:
    """The skill that holds each rank; `random` is drawn from the run's own stream "rank-order"."""
    ids = jnp.arange(n_skills, dtype=jnp.int32)
    if order == "lexicographic":
        return ids
    if order == "reversed":
        return ids[::-1]
    return jax.random.permutation(stream(seed, "rank-order"), ids)


def rank_bins(n_skills: int, bins: int) -> list[np.ndarray]:
    """Ranks (0-based) of each of `bins` nearly equal bins, most frequent first."""
    return np.array_split(np.arange(n_skills), bins)


def bin_probabilities(n_skills: int, bins: int) -> np.ndarray:
    """(bins, R): row b is uniform over the ranks of bin b and zero elsewhere."""
    rows = np.zeros((bins, n_skills))
    for b, ranks in enumerate(rank_bins(n_skills, bins)):
        rows[b, ranks] = 1.0 / len(ranks)
    return rows

"""Runs per second of the `init-scale` heat map: one row of it, members leaving when they are solved."""

from __future__ import annotations

import time

from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.pool import Pool
from lopsided.recipes.init_scale import SETTING, recipe

SEEDS = 3


def _flop(n: int) -> int:
    """Matrix products of one member-step on n samples: forward, weight gradients, gradients of hidden layers."""
    d, _, _, width, _ = SETTING["laptop"]
    return 2 * n * (2 * d * width + 3 * width * width + 3 * width)


def _row(size: str) -> list[Spec]:
    arms = recipe.arms_at("laptop").values()
    return [each.spec for each in arms if each.coordinates["data"] == size and each.coordinates["first"] == 1.0]


def measure(size: str) -> tuple[float, float]:
    """(runs per second, FLOP/s) of the row with default first-layer scale."""
    row = _row(size)
    pool = Pool([Member(spec, seed) for spec in row for seed in range(SEEDS)])
    pool.compile()
    began, member_steps = time.perf_counter(), 0
    for stretch in pool.run():
        member_steps += len(stretch.diverged) * pool.spec.evaluation.every
    seconds = time.perf_counter() - began
    n = row[0].plan.batch_size
    return len(pool.members) / seconds, member_steps * _flop(n) / seconds


def rows(peak: float) -> list[tuple[str, ...]]:
    found = []
    for size in ("all", "small"):
        runs, flops = measure(size)
        n = _row(size)[0].plan.batch_size
        found.append(
            (
                f"heat map, N = {n:,}",
                f"{runs:.1f} runs/s, {flops / 1e9:.0f} GFLOP/s",
                f"GEMM peak {peak / 1e9:.0f}",
                f"{flops / peak:.0%}",
                "–",
            )
        )
    return found

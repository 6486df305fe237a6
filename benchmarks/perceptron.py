"""(20, 6)-parity, width 64, batch 128: an ensemble and a single member against a plain PyTorch loop."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.alternatives import mlp
from benchmarks.measure import paired, rate
from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble

FLOP = 2 * mlp.BATCH * (2 * mlp.D * mlp.WIDTH + 3 * mlp.WIDTH)
"""Matrix products of one member-step: forward, weight gradients, gradient of the hidden layer."""


def ours(members: int, steps: int) -> Callable[[], float]:
    spec = Spec.parse(mlp.spec(0.1))
    ensemble = Ensemble([Member(spec, seed) for seed in range(members)])
    return lambda: rate(lambda: ensemble.advance(ensemble.step + steps), members * steps)


def torch_loop(steps: int) -> Callable[[], float]:
    """`alternatives.mlp.torch_loop` with one member and the best thread count."""
    work = mlp.torch_loop([0.1])

    def best() -> float:
        rates = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            rates.append(rate(lambda: work(steps), steps))
        return max(rates)

    return best


def rows(peak: float) -> list[tuple[str, ...]]:
    loop = torch_loop(800)
    many = paired(ours(256, 400), loop)
    one = paired(ours(1, 20_000), loop)
    flops = many.a * FLOP
    return [
        (
            "parity MLP, 256 members",
            f"{many.a:,.0f} member-steps/s",
            f"PyTorch loop {many.b:,.0f}/s",
            many.text(),
            "60",
        ),
        (
            "  the same in FLOP/s",
            f"{flops / 1e9:.0f} GFLOP/s",
            f"GEMM peak {peak / 1e9:.0f}",
            f"{flops / peak:.0%}",
            "50 %",
        ),
        ("parity MLP, 1 member", f"{one.a:,.0f} steps/s", f"PyTorch loop {one.b:,.0f}/s", one.text(), "15"),
    ]

"""(20, 6)-parity, width 64, batch 128: an ensemble and a single member against a plain PyTorch loop."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.measure import paired, rate
from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble

D, K, WIDTH, BATCH, SIZE = 20, 6, 64, 128, 2**14
FLOP = 2 * BATCH * (2 * D * WIDTH + 3 * WIDTH)
"""Matrix products of one member-step: forward, weight gradients, gradient of the hidden layer."""


def ours(members: int, steps: int) -> Callable[[], float]:
    spec = Spec.parse(
        {
            "task": {"name": "sparse-parity", "d": D, "k": K},
            "model": {"name": "mlp", "width": WIDTH},
            "plan": {"name": "fixed", "size": SIZE, "batch": BATCH},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": 10**7,
        }
    )
    ensemble = Ensemble([Member(spec, seed) for seed in range(members)])
    return lambda: rate(lambda: ensemble.advance(ensemble.step + steps), members * steps)


def torch_loop(steps: int) -> Callable[[], float]:
    """What one writes first: a data set in memory, an index per step, loss, backward, step. Best thread count."""
    torch.manual_seed(0)
    x = torch.randint(0, 2, (SIZE, D)).float() * 2 - 1
    y = x[:, :K].prod(1)
    net = torch.nn.Sequential(torch.nn.Linear(D, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def work() -> None:
        for _ in range(steps):
            index = torch.randint(0, SIZE, (BATCH,))
            loss = 0.5 * ((net(x[index])[:, 0] - y[index]) ** 2).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    def best() -> float:
        rates = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            rates.append(rate(work, steps))
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

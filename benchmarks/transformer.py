"""State tracking on S4 with 4 hops, 2 layers, width 64, batch 256: against eager PyTorch on as many threads."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
import torch

from benchmarks.measure import paired, rate
from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.tasks.state_tracking import StateTracking

GROUP, HOPS, LAYERS, WIDTH, HEADS, BATCH = "S4", 4, 2, 64, 4, 256


def ours(members: int, steps: int) -> Callable[[], float]:
    spec = Spec.parse(
        {
            "task": {"name": "state-tracking", "group": GROUP, "hops": HOPS},
            "model": {"name": "transformer", "layers": LAYERS, "width": WIDTH, "heads": HEADS},
            "plan": {"name": "online", "batch": BATCH},
            "optimizer": {"name": "adamw", "lr": 1e-3, "schedule": "cosine", "warmup": 100},
            "loss": "cross-entropy",
            "steps": 10**6,
        }
    )
    ensemble = Ensemble([Member(spec, seed) for seed in range(members)])
    return lambda: rate(lambda: ensemble.advance(ensemble.step + steps), members * steps)


class Network(torch.nn.Module):
    """The same network from PyTorch's own parts; the answer is read at the last position."""

    def __init__(self, order: int):
        super().__init__()
        self.embed = torch.nn.Embedding(order + 1, WIDTH)
        self.position = torch.nn.Parameter(torch.randn(HOPS, WIDTH) * 0.02)
        layer = torch.nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, 0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.body(self.embed(x) + self.position)[:, -1]))


def torch_loop(threads: int, steps: int) -> Callable[[], float]:
    torch.manual_seed(0)
    table = torch.tensor(np.array(StateTracking(group=GROUP, hops=HOPS).algebra.table), dtype=torch.long)
    net = Network(len(table))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def work() -> None:
        for _ in range(steps):
            x = torch.randint(0, len(table), (BATCH, HOPS))
            y = x[:, 0]
            for hop in range(1, HOPS):
                y = table[y, x[:, hop]]
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    def measured() -> float:
        torch.set_num_threads(threads)
        return rate(work, steps)

    return measured


def rows() -> list[tuple[str, ...]]:
    cores = len(jax.devices())
    one = paired(ours(1, 100), torch_loop(1, 60))
    many = paired(ours(4 * cores, 25), torch_loop(cores, 60))
    alone = paired(ours(4 * cores, 25), ours(1, 100))
    return [
        ("transformer, 1 member, 1 thread", f"{one.a:.0f} steps/s", f"eager PyTorch {one.b:.0f}/s", one.text(), "1.5"),
        (
            f"transformer, {4 * cores} members, {cores} threads",
            f"{many.a:.0f} member-steps/s",
            f"eager PyTorch {many.b:.0f}/s",
            many.text(),
            "1.5",
        ),
        (
            f"transformer, {4 * cores} members",
            f"{alone.a:.0f} member-steps/s",
            f"1 member on 1 core {alone.b:.0f}/s",
            alone.text(),
            f"{cores} wished",
        ),
    ]

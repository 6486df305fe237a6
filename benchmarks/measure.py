"""Timing: two things in turn, A B A B, so that a drifting machine slows both; medians of ratios pair by pair."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

ROUNDS = 5


class Pair(NamedTuple):
    """Medians of two rates and of their ratio, with the ratio's range."""

    a: float
    b: float
    ratio: float
    low: float
    high: float

    def text(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f} … {self.high:.2f})"


def paired(a: Callable[[], float], b: Callable[[], float], rounds: int = ROUNDS) -> Pair:
    """`a` and `b` each do some work and return a rate; one uncounted round first."""
    a(), b()
    found = []
    for _ in range(rounds):
        time.sleep(0.3)  # the other library's idle threads spin for a while before they sleep
        first = a()
        time.sleep(0.3)
        found.append((first, b()))
    rates = np.array(found)
    ratio = rates[:, 0] / rates[:, 1]
    return Pair(*np.median(rates, axis=0), float(np.median(ratio)), float(ratio.min()), float(ratio.max()))


def rate(work: Callable[[], object], amount: float) -> float:
    """`amount` per second of one call."""
    began = time.perf_counter()
    work()
    return amount / (time.perf_counter() - began)


def gemm_peak() -> float:
    """FLOP/s of the best square float32 matrix product, one per core at once."""
    devices = jax.devices()
    mesh = Mesh(np.array(devices), ("core",))
    product = jax.jit(
        jax.shard_map(lambda x: x @ x, mesh=mesh, in_specs=PartitionSpec("core"), out_specs=PartitionSpec("core"))
    )
    best = 0.0
    for n in (512, 1024, 2048):
        x = jax.device_put(jnp.ones((len(devices), n, n)), NamedSharding(mesh, PartitionSpec("core")))
        product(x).block_until_ready()
        for _ in range(5):
            repeats = max(1, 2**31 // n**3)

            def work(x: jax.Array = x, repeats: int = repeats) -> None:
                for _ in range(repeats):
                    product(x).block_until_ready()

            best = max(best, rate(work, 2.0 * n**3 * len(devices) * repeats))
    return best

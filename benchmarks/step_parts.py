"""What the parts of a step cost on one core, in GFLOP/s and in nanoseconds a sample, written in the ways at hand.

taskset -c 0 python -m benchmarks.step_parts        (two minutes)

First the products of a layer with K rows, M inputs and N outputs: forward, and the weight gradient in three ways. Then
the parts of a perceptron's step (batch 512, width 64), from which follows the share of the peak that these products
allow. Then sums over short rows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false --xla_cpu_experimental_ynn_fusion_type="
)

import jax
import jax.numpy as jnp
import numpy as np

REPEATS, TURNS = 2000, 5
LAYERS = ((512, 14, 64), (512, 20, 64), (512, 64, 64), (320, 32, 128), (320, 128, 32), (320, 32, 32), (1280, 64, 256))
ROWS = ((1280, 10), (320, 32), (1280, 64))
"""(number of rows, length)."""


def seconds(part: Callable[..., jax.Array], first: jax.Array, *others: jax.Array) -> float:
    """Of one call inside a compiled loop; each call depends on the one before. The best turn."""

    def body(_: int, x: jax.Array) -> jax.Array:
        return x.at[0, 0].add(1e-9 * part(x, *others).ravel()[0])

    run = jax.jit(lambda x: jax.lax.fori_loop(0, REPEATS, body, x))
    jax.block_until_ready(run(first))
    best = np.inf
    for _ in range(TURNS):
        began = time.perf_counter()
        jax.block_until_ready(run(first))
        best = min(best, time.perf_counter() - began)
    return float(best) / REPEATS


def over_rows(a: jax.Array, b: jax.Array) -> jax.Array:
    return jax.lax.dot_general(a, b, (((0,), (0,)), ((), ())))


def from_inputs(a: jax.Array, b: jax.Array) -> jax.Array:
    return jax.lax.optimization_barrier(a.T) @ b


def from_outputs(a: jax.Array, b: jax.Array) -> jax.Array:
    return jax.lax.optimization_barrier(jax.lax.optimization_barrier(b.T) @ a).T


def main() -> None:
    """Print the tables, each row as soon as it is measured."""
    rng = np.random.default_rng(0)
    drawn = lambda *shape: jnp.asarray(rng.standard_normal(shape).astype(np.float32))  # noqa: E731
    square = drawn(1024, 1024)
    print(f"peak: {2 * 1024**3 / seconds(jnp.matmul, square, square) / 1e9:.0f} GFLOP/s (1024 x 1024 products)\n")
    print("| rows, inputs, outputs | forward | gradient over rows | inputs transposed | gradient transposed |")
    print("|---|---:|---:|---:|---:|", flush=True)
    for k, m, n in LAYERS:
        a, b, w = drawn(k, m), drawn(k, n), drawn(m, n)
        took = [seconds(jnp.matmul, a, w), *(seconds(f, a, b) for f in (over_rows, from_inputs, from_outputs))]
        print(f"| {k}, {m}, {n} | " + " | ".join(f"{2 * k * m * n / t / 1e9:.0f}" for t in took) + " |", flush=True)
    k, d, width = 512, 20, 64
    x, h, w, out = drawn(k, d), drawn(k, width), drawn(d, width), drawn(width)
    parts = {
        "x W": (jnp.matmul, x, w),
        "x^T dz": (over_rows, x, h),
        "relu(z + b) w": (lambda h, w: jnp.maximum(h + 1, 0) @ w, h, out),
        "dz = 1[z > 0] do w, and its sum": (lambda h, w: jnp.where(h > 0, h[:, :1] * w, 0).sum(0), h, out),
        "h^T do": (lambda h, o: o @ h, h, drawn(k)),
    }
    print("\n| part of a perceptron's step, d = 20, width 64 | ns a sample |\n|---|---:|", flush=True)
    for name, (part, first, *others) in parts.items():
        print(f"| {name} | {seconds(part, first, *others) / k * 1e9:.1f} |", flush=True)
    print("\n| rows, length | sum, ns a row | product with ones, ns a row |\n|---|---:|---:|", flush=True)
    for rows, length in ROWS:
        x, ones = drawn(rows, length), jnp.ones(length)
        summed, product = seconds(lambda x: x.sum(-1), x), seconds(jnp.matmul, x, ones)
        print(f"| {rows}, {length} | {summed / rows * 1e9:.1f} | {product / rows * 1e9:.1f} |", flush=True)


if __name__ == "__main__":
    main()

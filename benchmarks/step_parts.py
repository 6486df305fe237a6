"""What a step is made of, on one core: the products of a layer in GFLOP/s, and sums over short rows.

taskset -c 0 python -m benchmarks.step_parts        (two minutes)

Products of a layer with K rows, M inputs and N outputs: forward, and the weight gradient in three ways (over the rows
of both factors, from a transposed copy of the inputs, from one of the outputs' gradient). Sums: as such, and as
products with ones.
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
    print("\n| rows, length | sum, ns a row | product with ones, ns a row |\n|---|---:|---:|", flush=True)
    for rows, length in ROWS:
        x, ones = drawn(rows, length), jnp.ones(length)
        summed, product = seconds(lambda x: x.sum(-1), x), seconds(jnp.matmul, x, ones)
        print(f"| {rows}, {length} | {summed / rows * 1e9:.1f} | {product / rows * 1e9:.1f} |", flush=True)


if __name__ == "__main__":
    main()

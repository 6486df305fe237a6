"""One exact population step at paper B's largest size against its two matrix products alone, and its peak memory.

Runs in a process of its own: here one member uses all cores, and the peak memory is this work's only.
"""

from __future__ import annotations

import json
import subprocess
import sys

P, D, M = 1000, 2048, 4096
BITS = (32, 64)


def rows() -> list[tuple[str, ...]]:
    """One row per precision."""
    found = []
    for bits in BITS:
        command = [sys.executable, "-m", "benchmarks.population", str(bits)]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        step, products = answer["step"], answer["products"]
        ratio = f"{answer['ratio']:.2f} ({answer['low']:.2f} … {answer['high']:.2f})"
        size = f"population step, P = {P:,}, d = {D:,}, m = {M:,}, {bits} bits"
        found.append(
            (size, f"{step:.2f} s, {answer['gib']:.2f} GiB", f"its matrix products, {products:.2f} s", ratio, "≤ 1.5")
        )
    return found


def measure(bits: int) -> None:
    import resource

    import jax
    import jax.numpy as jnp

    from benchmarks.measure import paired
    from lopsided.core.engine import Member
    from lopsided.core.spec import Spec
    from lopsided.engines.population import PopulationEnsemble

    spec = Spec.parse(
        {
            "task": {"name": "additive-teacher", "d": D, "directions": P},
            "model": {"name": "student", "width": M},
            "plan": {"name": "population", "precision": bits},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": 100,
        }
    )
    ensemble = PopulationEnsemble([Member(spec, 0)])
    with jax.enable_x64(bits == 64):
        u = jax.random.normal(jax.random.key(0), (M, D), jnp.float64 if bits == 64 else jnp.float32)
    gram = jax.jit(lambda u: u @ u.T)
    back = jax.jit(lambda h, u: h @ u)

    def step() -> float:
        before = ensemble.seconds
        ensemble.advance(ensemble.step + 1)
        return ensemble.seconds - before

    def products() -> float:
        from time import perf_counter

        began = perf_counter()
        with jax.enable_x64(bits == 64):
            jax.block_until_ready(back(gram(u), u))
        return perf_counter() - began

    pair = paired(step, products)
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        json.dumps(
            {"step": pair.a, "products": pair.b, "ratio": pair.ratio, "low": pair.low, "high": pair.high, "gib": gib}
        )
    )


if __name__ == "__main__":
    measure(int(sys.argv[1]))

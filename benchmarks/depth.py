"""Compile time of a causal transformer's training step by depth: layers are scanned, 12 cost little more than 2.

python -m benchmarks.depth
"""

from __future__ import annotations

import time

import jax

from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import _COMPILED, Ensemble

LAYERS = (2, 3, 12, 48)


def spec(layers: int) -> Spec:
    return Spec.parse(
        {
            "task": {"name": "modular-addition", "n": 5000, "p": 113, "base": 8},
            "model": {"name": "transformer", "layers": layers, "width": 64, "attention": "causal"},
            "plan": {"name": "online", "batch": 64},
            "optimizer": {"name": "adamw", "lr": 0.001},
            "loss": "cross-entropy",
            "steps": 1000,
        }
    )


def seconds(layers: int) -> float:
    """Compile time of the step alone, nothing cached."""
    _COMPILED.clear()
    jax.clear_caches()
    ensemble = Ensemble([Member(spec(layers), 0)])
    lowered = ensemble.lowered()
    began = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - began


def rows() -> list[tuple[str, ...]]:
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        seconds(1)  # uncounted: the compiler itself warms up
        found = {layers: min(seconds(layers) for _ in range(3)) for layers in LAYERS}
    finally:
        jax.config.update("jax_enable_compilation_cache", True)
    two = found[LAYERS[0]]
    return [
        (f"compile, {n} layers", f"{found[n]:.2f} s", f"2 layers {two:.2f} s", f"{found[n] / two:.2f}", "≤ 1.3")
        for n in LAYERS[1:]
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")

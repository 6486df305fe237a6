"""`run` (rows, provenance, commits) against the bare engine loop with the same evaluations."""

from __future__ import annotations

import tempfile
import time

from benchmarks.measure import paired
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.program import Member
from lopsided.run import run
from lopsided.store.parts import Store

MEMBERS, STEPS, EVERY = 256, 4000, 400


def spec() -> Spec:
    return Spec.parse(
        {
            "task": {"name": "sparse-parity"},
            "model": {"name": "mlp", "width": 64},
            "plan": {"name": "fixed", "size": 2**14, "batch": 128},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": STEPS,
            "evaluation": {"every": EVERY, "samples": 1024},
        }
    )


def with_store() -> float:
    """Member-steps per second from the first evaluation to the end, commits included."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run([spec()], MEMBERS, Store(folder), lambda p: times.append(time.perf_counter()))
    return MEMBERS * (STEPS - EVERY) / (times[-1] - times[1])


def bare() -> float:
    """The same without a store."""
    ensemble = Ensemble([Member(spec(), seed) for seed in range(MEMBERS)])
    ensemble.compile()
    times = [time.perf_counter() for _ in ensemble.run()]
    return MEMBERS * (STEPS - EVERY) / (times[-1] - times[0])


def rows() -> list[tuple[str, ...]]:
    pair = paired(with_store, bare, rounds=3)
    return [("run with store", f"{pair.a:,.0f} member-steps/s", f"bare engine {pair.b:,.0f}/s", pair.text(), "0.95")]

"""`run` (rows, provenance, commits) against the bare engine loop with the same evaluations."""

from __future__ import annotations

import tempfile

from benchmarks.measure import paired, rate
from lopsided.core.engine import Member
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.store.parts import Store
from lopsided.work.worker import run

MEMBERS, STEPS, EVERY = 256, 8000, 400


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
    """Member-steps per second of a whole `run` into an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        return rate(lambda: run([spec()], MEMBERS, Store(folder), lambda progress: None), MEMBERS * STEPS)


def bare() -> float:
    """The same ensemble and evaluations without jobs, rows and store."""

    def work() -> None:
        for _ in Ensemble([Member(spec(), seed) for seed in range(MEMBERS)]).run():
            pass

    return rate(work, MEMBERS * STEPS)


def rows() -> list[tuple[str, ...]]:
    pair = paired(with_store, bare, rounds=3)  # the uncounted first round compiles
    return [("run with store", f"{pair.a:,.0f} member-steps/s", f"bare engine {pair.b:,.0f}/s", pair.text(), "0.95")]

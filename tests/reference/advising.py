"""How often the advisor is right: simulated races, and whole races on tasks whose best shape is known.

python -m tests.reference.advising           the table of docs/advice.md, simulated (seconds)
python -m tests.reference.advising tasks     ten races on each of three tasks (minutes)
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter

import numpy as np

from lopsided.core.spec import Spec
from lopsided.results.stored import load
from lopsided.runs.advice import shapes_of
from lopsided.runs.worker import run
from lopsided.stats.race import Plan, race
from lopsided.stats.times import Times
from lopsided.store.parts import Store

SHAPES = ("uniform", *(f"shape {i}" for i in range(1, 8)))
BEST = "shape 3"
BASE = {"plan": {"name": "online", "batch": 64}, "evaluation": {"every": 50, "samples": 1024}}
TASKS = {
    "(20, 6)-parity": (
        {
            "task": {"name": "sparse-parity", "d": 20, "k": 6},
            "model": {"name": "mlp", "width": 64},
            "plan": {"name": "online", "batch": 128},
            "optimizer": {"name": "sgd", "lr": 4.0},
            "loss": "logistic",
            "steps": 3000,
            "evaluation": {"every": 25, "samples": 1024},
        },
        0.95,
    ),
    "(20, 1)-parity, of one bit": (
        {
            "task": {"name": "sparse-parity", "d": 20, "k": 1},
            "model": {"name": "mlp", "width": 64},
            "plan": {"name": "online", "batch": 32},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "logistic",
            "steps": 400,
            "evaluation": {"every": 5, "samples": 1024},
        },
        0.95,
    ),
    "2-composition, d = 32": (
        {
            **BASE,
            "task": {"name": "k-composition", "d": 32, "k": 2},
            "model": {"name": "product", "r": 0.3},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "square",
            "steps": 6000,
        },
        0.95,
    ),
}
EXHAUSTIVE, RACES = 64, 10


def rates(effect: float, correlation: float, races: int) -> Counter[str]:
    """Outcomes of races between shapes of which one is better by `effect` standard deviations of a member, whose
    members of one seed are correlated. `right`: the better one was recommended."""
    random, found = np.random.default_rng(0), Counter[str]()
    for _ in range(races):
        known: dict[int, dict[str, float]] = {}

        def measure(names, seeds, known=known):
            for seed in seeds:
                if seed not in known:
                    common = random.normal()
                    own = {name: random.normal() for name in SHAPES}
                    known[seed] = {
                        name: correlation**0.5 * common + (1 - correlation) ** 0.5 * own[name] + effect * (name == BEST)
                        for name in SHAPES
                    }
            return {name: np.array([known[seed][name] for seed in seeds]) for name in names}

        advice = race(Plan(SHAPES, ("uniform",)), measure)
        found[advice.outcome] += 1
        found["right"] += advice.outcome == "use" and advice.winner == BEST
        found["runs"] += advice.runs
    return found


def on_task(data: dict, accuracy: float) -> dict:
    """Ten whole races, each on seeds of its own, against the exhaustive grid."""
    shapes = shapes_of(Spec.parse(data))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)

        def times(names, seeds) -> dict[str, Times]:
            specs = {name: shapes[name] for name in names}
            run(list(specs.values()), seeds, store)
            found = load(store.as_of_now(), "x", "x", specs, dict.fromkeys(specs, tuple(seeds)))
            assert found is not None
            return {name: arm.times("test/accuracy", accuracy) for name, arm in found.arms.items()}

        every = {name: each.median for name, each in times(tuple(shapes), range(EXHAUSTIVE)).items()}
        best, regrets, runs, said = min(every.values()), [], [], Counter[str]()
        for i in range(RACES):
            measure = lambda names, seeds, i=i: times(names, [1000 * (i + 1) + s for s in seeds])  # noqa: E731
            advice = race(Plan(tuple(shapes), ("uniform",)), measure)
            chosen = advice.winner if advice.outcome == "use" else "uniform"
            said[f"{advice.outcome}: {chosen}"] += 1
            regrets.append(every[chosen] / best - 1)
            runs.append(advice.runs)
    share = float(np.mean(runs)) / (len(shapes) * EXHAUSTIVE)
    medians = {name: round(each) for name, each in every.items() if np.isfinite(each)}
    return {"medians": medians, "said": said, "regret": float(np.mean(regrets)), "share of the grid's runs": share}


if __name__ == "__main__":
    if sys.argv[1:] == ["tasks"]:
        for name, (data, accuracy) in TASKS.items():
            print(name, json.dumps(on_task(data, accuracy), indent=1), flush=True)
    else:
        print("| better by | correlation | recommends | the right one | runs |\n|---|---|---|---|---|")
        for effect in (0.0, 0.5, 1.0):
            for correlation in (0.0, 0.5, 0.8):
                n = 2000 if effect == 0 else 400
                found = rates(effect, correlation, n)
                shares = " | ".join(f"{found[key] / n:.3f}" for key in ("use", "right"))
                print(f"| {effect:g} | {correlation:g} | {shares} | {found['runs'] / n:.0f} |", flush=True)

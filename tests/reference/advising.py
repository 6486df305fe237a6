"""How often the advisor is right: simulated races, and whole races on tasks whose best shape is known.

python -m tests.reference.advising                 the first table of docs/advice.md, simulated (seconds)
python -m tests.reference.advising tasks           ten races on each of four small tasks (minutes)
python -m tests.reference.advising equal           races between equal shapes, from trained members (minutes)
python -m tests.reference.advising A5 --out DIR    races from 16 members of every shape (an hour; goes on in DIR)
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from lopsided.advising.advice import shapes_of
from lopsided.core.spec import Spec
from lopsided.recipes._frequency import UNIFORM
from lopsided.recipes.state_tracking import spec as tracking
from lopsided.results.stored import load
from lopsided.stats.race import SCREENING, Advice, RacePlan, race
from lopsided.stats.times import Times
from lopsided.store.parts import Store
from lopsided.work.worker import run

SHAPES = ("uniform", *(f"shape {i}" for i in range(1, 8)))
BEST = "shape 3"
BASE = {"plan": {"name": "online", "batch": 64}, "evaluation": {"every": 50, "samples": 1024}}
PERCEPTRON = {"model": {"name": "mlp", "width": 64}, "plan": {"name": "online", "batch": 32}}
TASKS = {
    "(20, 6)-parity": (
        {
            **PERCEPTRON,
            "task": {"name": "sparse-parity", "d": 20, "k": 6},
            "plan": {"name": "online", "batch": 128},
            "optimizer": {"name": "sgd", "lr": 4.0},
            "loss": "logistic",
            "steps": 3000,
            "evaluation": {"every": 25, "samples": 1024},
        },
        ("test/accuracy", 0.95),
    ),
    "(20, 1)-parity, of one bit": (
        {
            **PERCEPTRON,
            "task": {"name": "sparse-parity", "d": 20, "k": 1},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "logistic",
            "steps": 400,
            "evaluation": {"every": 5, "samples": 1024},
        },
        ("test/accuracy", 0.95),
    ),
    "linear regression, 20 weights": (
        {
            **PERCEPTRON,
            "task": {"name": "single-index", "d": 20, "link": "h1"},
            "optimizer": {"name": "sgd", "lr": 0.02},
            "loss": "square",
            "steps": 1000,
            "evaluation": {"every": 5, "samples": 1024},
        },
        ("test/loss", 0.05),
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
        ("test/accuracy", 0.95),
    ),
}
EXHAUSTIVE, RACES = 64, 10
A5 = (
    tracking("laptop", UNIFORM).replace({"until": {"metric": "test/accuracy", "at_least": 0.9}}),
    ("test/accuracy", 0.9),
)
POOL, FROM_POOL, SHORT = 16, 200, (8,)
"""Members of every shape of A5, races between them, and their look: 6 + 8 of the 16 seeds."""
EQUAL_MEMBERS, EQUAL_SHAPES, EQUAL_RACES = 4096, 8, 2000


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

        advice = race(RacePlan(SHAPES, ("uniform",)), measure)
        found[advice.outcome] += 1
        found["right"] += advice.outcome == "use" and advice.winner == BEST
        found["runs"] += advice.runs
    return found


Goal = tuple[str, float]


class Members:
    """Costs until the goal of the members of some specs, trained when they are asked for."""

    def __init__(self, specs: Mapping[str, Spec], goal: Goal, folder: str) -> None:
        self.specs, self.goal, self.store = specs, goal, Store(folder)

    def times(self, names: Sequence[str], seeds: Sequence[int]) -> dict[str, Times]:
        specs = {name: self.specs[name] for name in names}
        run(list(specs.values()), seeds, self.store)
        found = load(self.store.as_of_now(), "x", "x", specs, dict.fromkeys(specs, tuple(seeds)))
        assert found is not None
        return {name: arm.times(*self.goal, "samples") for name, arm in found.arms.items()}


def some(times: Times, which: Sequence[int]) -> Times:
    return Times(times.time[list(which)], times.censored[list(which)])


def judged(said: Counter[str], medians: Mapping[str, float], runs: list[int], grid: int) -> dict:
    """What races said, and how many more samples that takes than the best shape: by medians of the whole grid."""
    best, races = min(medians.values()), said.total()
    regret = sum(n * (medians[each.split(": ")[1]] / best - 1) for each, n in said.items()) / races
    known = {name: round(each) for name, each in medians.items() if np.isfinite(each)}
    return {"medians": known, "said": said, "regret": regret, "share of the grid's runs": float(np.mean(runs)) / grid}


def spoken(advice: Advice) -> str:
    return f"{advice.outcome}: {advice.winner if advice.outcome == 'use' else 'uniform'}"


def on_task(data: dict, goal: Goal) -> dict:
    """Ten whole races, each on seeds of its own, against the exhaustive grid."""
    shapes = shapes_of(Spec.parse(data))
    with tempfile.TemporaryDirectory() as folder:
        members = Members(shapes, goal, folder)
        medians = {name: each.median for name, each in members.times(tuple(shapes), range(EXHAUSTIVE)).items()}
        said, runs = Counter[str](), []
        for i in range(RACES):
            measure = lambda names, seeds, i=i: members.times(names, [1000 * (i + 1) + s for s in seeds])
            advice = race(RacePlan(tuple(shapes), ("uniform",)), measure)
            said[spoken(advice)] += 1
            runs.append(advice.runs)
    return judged(said, medians, runs, len(shapes) * EXHAUSTIVE)


def from_pool(spec: Spec, goal: Goal, folder: str) -> dict:
    """Races between members that were trained once: every race takes the same seeds in an order of its own."""
    shapes, random = shapes_of(spec), np.random.default_rng(0)
    every = Members(shapes, goal, folder).times(tuple(shapes), range(POOL))
    said, runs = Counter[str](), []
    for _ in range(FROM_POOL):
        order = random.permutation(POOL)
        measure = lambda names, seeds, order=order: {name: some(every[name], order[list(seeds)]) for name in names}
        advice = race(RacePlan(tuple(shapes), ("uniform",), looks=SHORT), measure)
        said[spoken(advice)] += 1
        runs.append(advice.runs)
    return judged(said, {name: each.median for name, each in every.items()}, runs, len(shapes) * POOL)


def equal(data: dict, goal: Goal) -> dict:
    """Races between shapes that are all uniform, each with members of its own: how often one is recommended."""
    random, needed = np.random.default_rng(0), sum(SCREENING) + RacePlan(("a", "b"), ("a",)).looks[-1]
    names = ("uniform", *(f"uniform again {i}" for i in range(1, EQUAL_SHAPES)))
    with tempfile.TemporaryDirectory() as folder:
        times = Members({"uniform": Spec.parse(data)}, goal, folder).times(("uniform",), range(EQUAL_MEMBERS))[
            "uniform"
        ]
    said = Counter[str]()
    for _ in range(EQUAL_RACES):
        drawn = random.permutation(EQUAL_MEMBERS)[: needed * EQUAL_SHAPES].reshape(EQUAL_SHAPES, needed)
        measure = lambda asked, seeds, drawn=drawn: {
            name: some(times, drawn[names.index(name)][list(seeds)]) for name in asked
        }
        said[race(RacePlan(names, ("uniform",)), measure).outcome] += 1
    return {"never learn": float(times.censored.mean()), "recommended": said["use"] / said.total()}


def simulated() -> None:
    print("| better by | correlation | recommends | the right one | runs |\n|---|---|---|---|---|")
    for effect in (0.0, 0.5, 1.0):
        for correlation in (0.0, 0.5, 0.8):
            n = 2000 if effect == 0 else 400
            found = rates(effect, correlation, n)
            shares = " | ".join(f"{found[key] / n:.3f}" for key in ("use", "right"))
            print(f"| {effect:g} | {correlation:g} | {shares} | {found['runs'] / n:.0f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("simulated", "tasks", "equal", "A5"), default="simulated")
    parser.add_argument("--out", default="lopsided-runs/advising")
    asked = parser.parse_args()
    if asked.what == "simulated":
        simulated()
    elif asked.what == "A5":
        print(json.dumps(from_pool(*A5, asked.out), indent=1))
    else:
        ask = on_task if asked.what == "tasks" else equal
        for name, (data, goal) in TASKS.items():
            print(name, json.dumps(ask(data, goal), indent=1), flush=True)

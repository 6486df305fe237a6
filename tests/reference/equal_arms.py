"""How often two arms that are equal are told apart, through the command line's own path: training, sweeps that bracket,
folds that choose, tests, looks.

python -m tests.reference.equal_arms 200     # the numbers of docs/deciding.md, section "Equal arms"

A trial is a recipe file of its own, run by `lopsided run FILE --json`. Its two sides learn sparse parity from two sets
that no member ever sees twice, of 2^20 + 2t and 2^20 + 2t + 1 samples, at swept rates: the same distribution, other
samples. Sizes differ between trials, so no two trials train on the same samples in the same order.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lopsided.cli import main

RECIPE = """
from lopsided.recipe import OWN, Ahead, Figure, Recipe, Statement, swept
from lopsided.core.spec import Spec

STEPS = 3000

def spec(size, lr):
    return Spec.parse({
        "task": {"name": "sparse-parity", "d": 14, "k": 4},
        "model": {"name": "mlp", "width": 32},
        "plan": {"name": "fixed", "batch": 32, "size": size},
        "optimizer": {"name": "sgd", "lr": lr},
        "loss": "logistic",
        "steps": STEPS,
        "evaluation": {"every": 20, "samples": 256},
        "until": {"metric": "test/accuracy", "at_least": 0.95},
    })

def arms(scale):
    for side, size in SIZES.items():
        yield from swept(lambda lr: spec(size, lr), {"lr": (0.8, 1.2, 1.8)}, side=side)

A, B = {"side": "A"}, {"side": "B"}

def figure(r):
    return Figure("Equal", [tuned_curves(bests(r), "test/accuracy", "steps", "A and B")])

recipe = Recipe(
    name=NAME, paper="ours", figure_number="none", question="Are equal arms equal?", about="A/A", threshold=0.95,
    scales={"smoke": (6, 1), "laptop": (SEEDS, 1)}, arms=arms, figure=figure,
    claims=[Statement("A needs fewer steps than B", OWN, Ahead(A, of=B))],
)
"""
SEEDS = 12


def verdict(folder: Path, trial: int, *, until_decided: bool) -> str:
    """What the command line prints of the claim of one trial."""
    sizes = {"A": 2**20 + 2 * trial, "B": 2**20 + 2 * trial + 1}
    file = folder / f"equal_{trial:03d}.py"
    file.write_text(f"NAME, SIZES, SEEDS = {f'equal-{trial:03d}'!r}, {sizes!r}, {SEEDS}\n{RECIPE}")
    out = io.StringIO()
    options = ["--until-decided"] if until_decided else []
    silent = contextlib.redirect_stderr(io.StringIO())
    with contextlib.redirect_stdout(out), silent, contextlib.suppress(SystemExit):
        main(["run", str(file), "--json", "--out", str(folder / "rows"), *options])
    (claim,) = json.loads(out.getvalue())["claims"]
    return claim["verdict"]


if __name__ == "__main__":
    trials, looks = int(sys.argv[1]), "--until-decided" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        found: Counter[str] = Counter()
        for trial in range(trials):
            found[verdict(Path(folder), trial, until_decided=looks)] += 1
            print(trial + 1, dict(found), flush=True)

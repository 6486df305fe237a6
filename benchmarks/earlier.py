"""Seconds that the same members take with the code of an earlier commit and with today's.

python -m benchmarks.earlier COMMIT [RECIPE ...]        (as long as the recipes take, twice)

The members are those of the recipe at laptop scale as the earlier commit has it: same specs, same seeds, sweeps not
extended. Each turn is a process of its own with an empty folder and nothing compiled before; the two take turns, and
which one begins alternates. Seconds count everything from the start of Python to the last commit.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECIPES = (
    "bias-removal",
    "online-sgd",
    "set-size",
    "scaling-width",
    "composition-rate",
    "stages",
    "random-labels-transformer",
    "layer-lr",
    "curriculum",
    "complexity-transformer",
)
"""Of every paper and kind of network; they took 40 to 400 s each when they were written."""
SPECS = """
import sys
from lopsided.core.registry import registered
recipe = registered("recipe")[sys.argv[1]]
recipe = recipe() if isinstance(recipe, type) else recipe
print(recipe.scales["laptop"].seeds, *(spec.canonical_json() for spec in recipe.specs("laptop").values()), sep="\\n")
"""
TRAIN = """
import importlib.util, sys
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from pathlib import Path
if importlib.util.find_spec("lopsided.study"):
    from lopsided.work.worker import run
else:
    from lopsided.run import run
seeds, *specs = Path(sys.argv[1]).read_text().splitlines()
run([Spec.model_validate_json(spec) for spec in specs], int(seeds), Store(Path(sys.argv[2])))
"""


def python(code: str, source: Path, *arguments: str, **environment: str) -> str:
    """What `code` prints, run with the package at `source`."""
    command = [sys.executable, "-c", code, *arguments]
    env = {**os.environ, "PYTHONPATH": str(source), **environment}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env, cwd=source).stdout


def seconds(source: Path, members: Path) -> float:
    """From the start of Python to the last commit, nothing compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        python(TRAIN, source, str(members), f"{folder}/store", LOPSIDED_CACHE=f"{folder}/cache")
        return time.perf_counter() - began


def checked_out(commit: str, folder: str) -> Path:
    """The sources of `commit`."""
    root = Path(__file__).parents[1]
    subprocess.run(["git", "clone", "--quiet", str(root), folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
    (Path(folder) / "src/lopsided/__init__.py").touch()  # a namespace package would give way to the installed one
    return Path(folder) / "src"


def main(commit: str, recipes: tuple[str, ...]) -> None:
    """Print a row for each recipe as soon as it is measured, and the sum."""
    now = Path(__file__).parents[1] / "src"
    with tempfile.TemporaryDirectory() as folder:
        before = checked_out(commit, f"{folder}/code")
        members, sums = Path(folder) / "members", [0.0, 0.0]
        print(f"| recipe | {commit}, seconds | now, seconds | ratio |\n|---|---:|---:|---:|", flush=True)
        for i, name in enumerate(recipes):
            members.write_text(python(SPECS, before, name))
            turns = (before, now) if i % 2 == 0 else (now, before)
            took = {source: seconds(source, members) for source in turns}
            old, new = took[before], took[now]
            sums = [sums[0] + old, sums[1] + new]
            print(f"| {name} | {old:.0f} | {new:.0f} | {new / old:.2f} |", flush=True)
        print(f"| all | {sums[0]:.0f} | {sums[1]:.0f} | {sums[1] / sums[0]:.2f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], tuple(sys.argv[2:]) or RECIPES)

"""Trains a recipe from nothing, as its published rows were made, and compares the verdicts with theirs.

    make reproduce RECIPE=deflation

What the folder build/reproduce/RECIPE has from a run that was stopped is not trained again. Exits with 1 if a verdict
is another one.
"""

import subprocess
import sys
from pathlib import Path

from lopsided.core.errors import InputError
from lopsided.report.words import effect_text
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find
from lopsided.study.until_decided import read

ROOT = Path(__file__).parents[1]


def main(name: str) -> int:
    """Train, print each claim's new and published verdict, and return the exit code."""
    folder = ROOT / "build/reproduce" / name
    before, options = as_published(name)
    command = [sys.executable, "-m", "lopsided", "run", name, *options, "--out", str(folder)]
    if code := subprocess.run(command).returncode:
        return code
    store = Store(folder)
    after = claims_of(find(name), recorded(store), store).claims
    for old, new in zip(before, after, strict=True):
        print(f"{new.claim}: {new.verdict}, {effect_text(new)}; published: {old.verdict}, {effect_text(old)}")
    same = sum(old.verdict == new.verdict for old, new in zip(before, after, strict=True))
    print(f"{name}: {same} of {len(after)} verdicts come out again")
    return int(same < len(after))


def as_published(name: str) -> tuple[list[Claim], list[str]]:
    """Claims of a recipe's published rows, and the options of `lopsided run` that trained them."""
    with published(ROOT / "results", [name]) as stores:
        store = stores[name]
        found = claims_of(find(name), recorded(store), store)
        assert found.run is not None  # `publish` refuses others
        plan = read(found.run, store)
    seeds = ["--seeds", str(found.run.seeds)]
    return list(found.claims), seeds if plan is None else [*seeds, "--until-decided", "--looks", *map(str, plan.looks)]


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2] or [""]))
    except InputError as error:
        sys.exit(f"reproduce: {error}")

"""Trains a recipe from nothing, as its published rows were made, and compares the verdicts with theirs:
`python packaging/reproduce.py NAME FOLDER`. Exits with 1 if a verdict is another one."""

import subprocess
import sys
from pathlib import Path

from lopsided.report.words import effect_text
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find
from lopsided.study.until_decided import read

ROWS = Path(__file__).parents[1] / "results"


def main(name: str, folder: Path) -> int:
    """Train what the folder lacks, print each claim's published and new verdict; how many differ."""
    recipe = find(name)
    with published(ROWS, [name]) as stores:
        before = claims_of(recipe, recorded(stores[name]), stores[name])
        assert before.run is not None
        plan = read(before.run, stores[name])
        asked = ["--seeds", str(before.run.seeds), "--out", str(folder)]
    if plan is not None:
        asked += ["--until-decided", "--looks", *map(str, plan.looks)]
    subprocess.run([sys.executable, "-m", "lopsided", "run", name, *asked], check=True)
    store = Store(folder)
    after = claims_of(recipe, recorded(store), store)
    different = 0
    for old, new in zip(before.claims, after.claims, strict=True):
        different += old.verdict != new.verdict
        now = "" if old.verdict == new.verdict else f" (published: {old.verdict})"
        print(f"{new.claim}: {new.verdict}{now}, {effect_text(new)}; published {effect_text(old)}")
    print(f"{name}: {len(after.claims) - different} of {len(after.claims)} verdicts come out again")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))

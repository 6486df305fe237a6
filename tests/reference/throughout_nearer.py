"""Steps to low accuracies of a small set and of all inputs: `python -m tests.reference.throughout_nearer`.

`bias-removal` has an eighth of (14, 6)-parity's inputs, the paper a 64th of (20, 6)'s. `biased-descent` has a sixteenth
of (16, 6)'s by the same method, so that its published rows say whether a small set is ahead throughout there.
"""

from pathlib import Path

import numpy as np

from lopsided.recipe import best
from lopsided.recipes._repetition import SOLVED, THROUGHOUT
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find

NAME = "biased-descent"
ROWS = Path(__file__).parents[2] / "results"


def first(arm, accuracy: float) -> np.ndarray:
    """First evaluation of each member that is at least so accurate, in steps; infinite where none is."""
    reached = arm.curve("test/accuracy") >= accuracy
    return np.where(reached.any(1), np.asarray(arm.arm.steps)[reached.argmax(1)], np.inf)


def main() -> None:
    """Print the medians over members at each arm's best rate."""
    with published(ROWS, [NAME]) as stores:
        run = claims_of(find(NAME), recorded(stores[NAME]), stores[NAME]).run
        assert run is not None
        results = run.results(stores[NAME])
        small, every = (best(results, data=data, bias_of=None) for data in ("small set", "all inputs"))
    for accuracy in (*THROUGHOUT, SOLVED):
        print(f"{accuracy}: {np.median(first(small, accuracy)):.0f} against {np.median(first(every, accuracy)):.0f}")


if __name__ == "__main__":
    main()

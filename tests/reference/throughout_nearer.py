"""Whether a small set is ahead throughout, nearer to the paper: `python -m tests.reference.throughout_nearer`.

`bias-removal` has an eighth of (14, 6)-parity's inputs, the paper a 64th of (20, 6)'s. `biased-descent` has a sixteenth
of (16, 6)'s by the same method, so that its published rows decide that claim of `bias-removal` there.
"""

from pathlib import Path

import numpy as np

from lopsided.recipe import AheadThroughout, best
from lopsided.recipes._repetition import THROUGHOUT
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find

NAME = "biased-descent"
ROWS = Path(__file__).parents[2] / "results"
SMALL, ALL = ({"data": data, "bias_of": None} for data in ("small set", "all inputs"))


def main() -> None:
    """Print the median steps to each accuracy at both arms' best rates, and the decision."""
    with published(ROWS, [NAME]) as stores:
        run = claims_of(find(NAME), recorded(stores[NAME]), stores[NAME]).run
        assert run is not None
        results = run.results(stores[NAME])
        for accuracy in THROUGHOUT:
            small, every = (np.median(best(results, **at).times(at=accuracy).ordinal) for at in (SMALL, ALL))
            print(f"{accuracy}: {small:.0f} against {every:.0f}")
        found = AheadThroughout(SMALL, of=ALL, at=THROUGHOUT).decide(results)
        print(f"{found.verdict}, {found.effect:.2f} {[round(end, 2) for end in found.interval]}")


if __name__ == "__main__":
    main()

"""How low the loss lies on the plane near the start of training: `python -m tests.reference.landscape_region`.

From the published rows of `landscape`: the loss after the first stretch, when the answers' frequencies are known, minus
the lowest loss on the plane within a fifth of the way from the start. Negative: no point there is as low.
"""

from pathlib import Path

import numpy as np

from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.targets import find

ROWS = Path(__file__).parents[2] / "results"
NEAR = 0.2
"""Share of the way from the start to the end."""


def lowest_near_the_start(arm, member: int) -> float:
    """The lowest loss of the stored grids within `NEAR` of the way."""
    reach = NEAR * np.hypot(arm.final("landscape/x")[member, -1], arm.final("landscape/y")[member, -1])
    losses = []
    for grid in ("near", "whole"):
        values = arm.final(f"landscape/{grid}")[member]
        x, y = (
            np.linspace(*(arm.final(f"landscape/{grid}/{axis}-{end}")[member] for end in ("low", "high")), len(values))
            for axis in "xy"
        )
        losses.append(values[np.hypot(*np.meshgrid(x, y)) <= reach])
    return float(np.nanmin(np.concatenate(losses)))


def main() -> None:
    """Print the median over members for each arm that has a surface."""
    with published(ROWS, ["landscape"]) as stores:
        store = stores["landscape"]
        run = claims_of(find("landscape"), recorded(store), store).run
        results = None if run is None else run.results(store)
        assert results is not None
        for arm in results.where(model="transformer"):
            after = arm.final("landscape/loss")[:, 1]
            lower = [after[m] - lowest_near_the_start(arm, m) for m in range(len(after))]
            print(f"{arm.name}: {np.median(lower):.3f}")


if __name__ == "__main__":
    main()

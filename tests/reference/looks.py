"""How often claims that are looked at while seeds come in are decided wrongly, and with how many seeds rightly.

python -m tests.reference.looks      # the numbers of docs/deciding.md, section "Until it is decided"
"""

from __future__ import annotations

import numpy as np

from lopsided.stats import decisions
from lopsided.stats.sequential import LOOKS, level
from lopsided.stats.times import Times
from tests.reference.calibration import SPREAD, UNEQUAL, arms


def decided(rng: np.random.Generator, ratio: float, spread: tuple[float, float], never: float) -> tuple[str, int]:
    """Verdict on two arms, and the seeds that were there."""
    slow, fast = arms(rng, LOOKS[-1], ratio, spread, never)
    verdict = "inconclusive"
    for look, n in enumerate(LOOKS):
        with decisions.at_level(level(look)):
            first = [Times(t.time[:n], t.censored[:n]) for t in (slow, fast)]
            verdict = decisions.faster(*first, "steps").verdict
        if verdict != "inconclusive":
            return verdict, n
    return verdict, LOOKS[-1]


if __name__ == "__main__":
    for truth, ratio, spread, never, trials in (
        ("equal", 1.0, SPREAD, 0, 1500),
        ("1.25 times", 1.25, SPREAD, 0, 300),
        ("1.5 times", 1.5, SPREAD, 0, 300),
        ("equal, 30 % never", 1.0, SPREAD, 0.3, 200),
        ("equal medians, unequal spread", 1.0, UNEQUAL, 0, 600),
    ):
        rng = np.random.default_rng(5)
        found = [decided(rng, ratio, spread, never) for _ in range(trials)]
        holds, wrong = (np.mean([v == which for v, _ in found]) for which in ("holds", "contradicted"))
        seeds = np.mean([n for _, n in found])
        print(f"{truth}: holds {holds:.1%}, contradicted {wrong:.1%}, {seeds:.0f} seeds ({trials} trials)", flush=True)

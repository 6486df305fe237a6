"""Do exponents 1.5 and 1 learn A5 with three hops in 20,000 steps? `python -m tests.reference.longer_tracking [STEPS]`

A trial of `state-tracking` with five times its steps, on seeds from 100: final uniform-test accuracies of six members.
"""

import sys
import tempfile

import lopsided as lop
from lopsided.recipes._frequency import power_law
from lopsided.recipes.state_tracking import spec


def main(steps: int) -> None:
    evaluation = {"every": max(1, steps // 40), "samples": 2048}
    arms = {
        f"exponent {alpha:g}": spec("laptop", power_law(alpha)).replace(steps=steps, evaluation=evaluation)
        for alpha in (1.5, 1.0)
    }
    with tempfile.TemporaryDirectory() as out:
        found = lop.run(arms, seeds=range(100, 106), out=out)
        for name in arms:
            print(name, *found[name].metric("test/accuracy")[:, -1].round(3))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)

"""Is it the law of the skills, or the order in which they are drawn? Stratified draws against independent ones.

pip install "lopsided[data-test]"
python examples/order_of_draws.py train --jobs 2      # about 25 minutes on two cores; goes on where it stopped
python examples/order_of_draws.py report > docs/order-of-draws.md
"""

from __future__ import annotations

from pathlib import Path

import digits_sum
import numpy as np
from arms import Study, main

import lopsided.data as ld

ABOUT = """
`examples/order_of_draws.py`, in plain PyTorch: [the sum of three digits](digits-sum.md) once more. Our recipes draw
skills independently, as the papers do; `ld.Stream` gives a *stratified* order, in which every digit comes as evenly as
its law allows (a digit of frequency p comes n p times in n samples, give or take one). So the findings are about one
order, and the advice about another. Three orders of each law (uniform; a power law of exponent 1; annealed from 1.5):

- apart: as `ld.Stream` has it, the three images of a sample a batch apart, where nothing is left of the stratification
  between them;
- adjacent: the same stream, the three images of a sample neighbours in it. A stratified order hardly ever puts one
  digit beside itself, so that sums of two or three equal digits are rare, though no digit is;
- independent: each image drawn anew, with replacement, by the law of the moment.

Every arm's rate is the best of five on seeds 100 to 102; seeds 0 to 11 are judged at that rate, after 1,500 steps of
256 samples. A difference that is certainly below 0.05 is negligible. Written by
`python examples/order_of_draws.py report` from the runs in `examples/order_of_draws.jsonl`.

**Found.**
Where a law is lopsided, the order hardly matters: stratified or independent, power law and annealed end within 0.05 of
each other, in the same number of samples.
So what recipes find with independent draws carries over to `ld.Stream`.
Where the law is uniform, it matters very much how the draws of *one sample* go together: with neighbours for its three
images (equal digits meet in 1 % of pairs, not in 10 %) uniform digits are learned (0.75), apart or independent they
are not (0.20, 0.15).
No digit is rare there; that some pairs are is asymmetry enough.

(Adjacent was what `digits_sum.py` did until this page was made, and what the orders were first compared by.)
"""
LAWS = ("power law", "annealed", "uniform")
AROUND = 10 * digits_sum.BATCH * digits_sum.K
"""Independent draws are places of the stream, at random with replacement, among the ten steps before and after:
its law there, which a schedule moves by less than 1 % meanwhile."""
ARMS = tuple(f"{law}, {order}" for law in LAWS for order in ("apart", "adjacent", "independent"))


def batches(arm: str, labels: np.ndarray, seed: int):
    """As `digits_sum.batches`, in one of the three orders."""
    law, _, order = arm.partition(", ")
    apart = digits_sum.batches(law, labels, seed)
    if order == "apart":
        return apart
    each, size = digits_sum.K, digits_sum.BATCH * digits_sum.K
    total = digits_sum.STEPS * size
    stream = ld.Stream(ld.Groups(labels), digits_sum.LAWS[law], total=total, seed=seed)
    random = np.random.default_rng((seed, 3))

    def adjacent(step: int) -> np.ndarray:
        return stream.at(np.arange(step * size, (step + 1) * size)).reshape(-1, each)

    def independent(step: int) -> np.ndarray:
        begin = min(max(step * size - AROUND, 0), total - 2 * AROUND)
        return stream.at(begin + random.integers(2 * AROUND, size=size)).reshape(-1, each)

    return adjacent if order == "adjacent" else independent, apart[1]


def train(arm: str, rate: float, seed: int) -> list[float]:
    """Accuracy on held-out sums at twenty times."""
    return digits_sum.train(arm, rate, seed, batches)


STUDY = Study(
    train=train,
    arms=ARMS,
    rates=(3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    choose=range(100, 103),
    judge=range(12),
    axis=digits_sum.STUDY.axis,
    metric="accuracy",
    goal=0.5,
    file=Path(__file__).with_suffix(".jsonl"),
    pairs=[
        (f"{law}, {of}", f"{law}, {order}")
        for law in LAWS
        for of, order in (("independent", "apart"), ("apart", "adjacent"))
        if (law, order) != (LAWS[0], "adjacent")
    ],
)

if __name__ == "__main__":
    main(STUDY, ABOUT, "The order of draws")

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
order, and the advice about another.

- stratified: digits and their images as `ld.Stream` has them, for uniform digits, a power law (exponent 1) and an
  annealed one (1.5 to 0);
- independent: each image drawn anew, with replacement, by the law of the moment.

Every arm's rate is the best of five on seeds 100 to 102; seeds 0 to 11 are judged at that rate, after 1,500 steps of
256 samples. A difference that is certainly below 0.05 is negligible. Written by
`python examples/order_of_draws.py report` from the runs in `examples/order_of_draws.jsonl`.
"""
LAWS = ("power law", "annealed", "uniform")
AROUND = 10 * digits_sum.BATCH * digits_sum.K
"""Independent draws are places of the stream, at random with replacement, among the ten steps before and after:
its law there, which a schedule moves by less than 1 % meanwhile."""
ARMS = tuple(f"{law}, {order}" for law in LAWS for order in ("stratified", "independent"))


def batches(arm: str, labels: np.ndarray, seed: int):
    """As `digits_sum.batches`, in either order."""
    law, _, order = arm.partition(", ")
    stratified = digits_sum.batches(law, labels, seed)
    if order == "stratified":
        return stratified
    size, total = digits_sum.BATCH * digits_sum.K, digits_sum.STEPS * digits_sum.BATCH * digits_sum.K
    stream = ld.Stream(ld.Groups(labels), digits_sum.LAWS[law], total=total, seed=seed)
    random = np.random.default_rng((seed, 3))

    def batch(step: int) -> np.ndarray:
        begin = min(max(step * size - AROUND, 0), total - 2 * AROUND)
        return stream.at(begin + random.integers(2 * AROUND, size=size)).reshape(digits_sum.BATCH, digits_sum.K)

    return batch, stratified[1]


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
    pairs=[(f"{law}, stratified", f"{law}, independent") for law in LAWS[1:]],
)

if __name__ == "__main__":
    main(STUDY, ABOUT, "The order of draws")

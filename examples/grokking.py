"""Does grokking need weight decay, at every learning rate?

pip install "lopsided[data-test]"
python examples/grokking.py train --jobs 2
python examples/grokking.py report > docs/grokking.md
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arms import Study, main

ABOUT = """
Asked in grokking-at-the-edge-of-numerical-stability #8: the curves of that paper's figure with weight decay depend on a
learning rate that it does not give, and at 0.01 the delay between training and held-out answers is gone.

`examples/grokking.py`, in plain PyTorch: sums modulo 59, a perceptron with two hidden layers of 200 (ReLU) on two
one-hot vectors, AdamW on the whole training set of 40 % of all pairs, float32, Adam's beta2 0.99 and epsilon 1e-25 as
there (their modulus is 113); 5,000 steps.
Each table is one learning rate; its arms differ in weight decay (decoupled: a step takes rate times decay of each
weight).
A run ends once 99 % of the held-out answers are right, and its last value stands for the rest.

**Found.**
Without decay no seed leaves chance (1/59), at none of three rates (0 of 6 each: at most 46 % of seeds, 95 %), though
all training answers are right after 50 to 200 steps.
With decay the wait goes by the product of rate, decay and steps: nine of ten held-out answers are right when it is
between 10 and 18, in all five settings that get so far (3,100 steps at 0.001 and 4; 1,000 at 0.003 and 4; 3,350 at
0.003 and 1; 1,000 at 0.01 and 1; 450 at 0.01 and 4).
Settings that end at a product of 5 (0.001 and 1; 0.01 and 0.1) are still on their way.
So "does it need decay" has one answer at every rate here, and "how long does it wait" depends on the rate only as much
as on the decay.
In the thread, decay 8 at rate 0.01 takes about 200 steps: a product of 16.
Before, seed 100 was looked at at rate 0.01 for 6,000 steps (no decay 0.001, decay 0.1 at 0.52 and rising).

Written by `python examples/grokking.py report` from the runs in `examples/grokking.jsonl`.
"""
MODULUS, SHARE, WIDTH, STEPS, POINTS = 59, 0.4, 200, 5000, 100
DECAYS = {"no decay": 0.0, "decay 0.1": 0.1, "decay 1": 1.0, "decay 4": 4.0}
RATES = (0.001, 0.003, 0.01)


def train(arm: str, rate: float, seed: int) -> dict:
    """Accuracy on the pairs held out, POINTS times, and the step at which 99 % of the training pairs were right."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    pairs = torch.cartesian_prod(torch.arange(MODULUS), torch.arange(MODULUS))
    pairs = pairs[torch.randperm(len(pairs))]
    x, y = nn.functional.one_hot(pairs, MODULUS).flatten(1).float(), pairs.sum(1) % MODULUS
    cut = int(SHARE * len(pairs))
    network = nn.Sequential(
        nn.Linear(2 * MODULUS, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, MODULUS)
    )
    adam = torch.optim.AdamW(network.parameters(), lr=rate, betas=(0.9, 0.99), eps=1e-25, weight_decay=DECAYS[arm])
    curve, fitted = [], None
    for step in range(1, STEPS + 1):
        out = network(x[:cut])
        adam.zero_grad()
        nn.functional.cross_entropy(out, y[:cut]).backward()
        adam.step()
        if step % (STEPS // POINTS) == 0:
            if fitted is None and (out.argmax(1) == y[:cut]).float().mean() >= 0.99:
                fitted = step
            with torch.no_grad():
                curve.append(round(float((network(x[cut:]).argmax(1) == y[cut:]).float().mean()), 4))
            if curve[-1] >= 0.99:
                break
    curve += curve[-1:] * (POINTS - len(curve))
    return {"curve": curve, "steps to fit": fitted or STEPS}


def study(rate: float) -> Study:
    return Study(
        train=train,
        arms=tuple(DECAYS),
        rates=(rate,),
        choose=(),
        judge=range(6),
        axis=np.arange(1, POINTS + 1) * (STEPS // POINTS),
        metric="accuracy",
        goal=0.9,
        file=Path(__file__).with_suffix(".jsonl"),
        also=("steps to fit",),
        learned=0.9,
        unit="steps",
    )


STUDIES = {f"Learning rate {rate:g}": study(rate) for rate in RATES}

if __name__ == "__main__":
    main(STUDIES, ABOUT, "Grokking and weight decay")

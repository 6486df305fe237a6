"""Which share of seeds learns even pairs, and does the law of the lengths matter?

pip install "lopsided[data-test]"
python examples/even_pairs.py train --jobs 2     # about an hour on two cores; goes on where it stopped
python examples/even_pairs.py report > docs/even-pairs.md
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arms import Study, main

import lopsided.data as ld

ABOUT = """
Asked in neural_networks_chomsky_hierarchy #7: one user does not get a transformer to learn *even pairs* (is the number
of places where neighbours differ even, that is, are the first and the last letter alike?), another does with
`model_init_seed=3`.
So: which share of seeds?
And, since lengths are drawn alike from 1 to 40 there: does another law of the lengths change it?

`examples/even_pairs.py`, in plain PyTorch: an encoder of 5 layers, width 64, 8 heads and sinusoidal positions, Adam
with gradients clipped to norm 1 and batches of one length, all as there; but no dropout, batches of 32 for 128, and
1,500 steps for 10,000; the answer is read at the last letter.
The run that works has rate 0.0001; their program's own is 0.001.

- alike: lengths 1 to 40 equally often;
- power law: length n with probability proportional to 1/n.

Accuracy is that of 1,024 strings of lengths 25 to 40.
A run ends once 99.5 % of them are right, and its last value stands for the rest.

**Found.**
All 16 seeds learn, at both rates and under both laws, within 1,500 steps (16 of 16: at least 79 % of seeds, 95 %).
So the setting that works is no lucky seed.
At rate 0.0001 a power law of lengths takes 8 % more samples, at 0.001 it takes 1.6 times less: no advice follows.
On seeds 101 and 102, before gradients were clipped as their program clips them, one of two did not learn at 0.001 (and
one at 0.003): who does not get it to learn may look there first.
That is a lead, not a verdict.

Written by `python examples/even_pairs.py report` from the runs in `examples/even_pairs.jsonl`.
"""
LAWS = {"alike": ld.Uniform(), "power law": ld.PowerLaw(1, by="given")}
LONGEST, WIDTH, LAYERS, STEPS, BATCH, POINTS = 40, 64, 5, 1500, 32, 30


def lengths(arm: str, seed: int) -> np.ndarray:
    """Length of the strings of each step."""
    stream = ld.Stream(ld.Groups(np.arange(LONGEST)), LAWS[arm], total=STEPS, seed=seed)
    return 1 + stream.at(np.arange(STEPS))


def train(arm: str, rate: float, seed: int) -> list[float]:
    """Accuracy on long strings, POINTS times."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    place = torch.arange(LONGEST)[:, None] / 10_000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    places = torch.stack([place.sin(), place.cos()], dim=-1).flatten(1)
    letters, answer = nn.Linear(2, WIDTH), nn.Linear(WIDTH, 2)
    layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True)
    network = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    weights = [*letters.parameters(), *network.parameters(), *answer.parameters()]
    optimizer = torch.optim.Adam(weights, lr=rate)
    draws, held_out = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(10**6 + seed)

    def answers(strings: torch.Tensor) -> torch.Tensor:
        x = letters(nn.functional.one_hot(strings, 2).float()) + places[: strings.shape[1]]
        return answer(network(x)[:, -1])

    def right(strings: torch.Tensor) -> torch.Tensor:
        return (strings[:, 0] != strings[:, -1]).long()

    test = [torch.randint(2, (BATCH * 2, n), generator=held_out) for n in range(25, LONGEST + 1)]
    curve: list[float] = []
    for step, length in enumerate(lengths(arm, seed).tolist(), start=1):
        strings = torch.randint(2, (BATCH, length), generator=draws)
        loss = nn.functional.cross_entropy(answers(strings), right(strings))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        if step % (STEPS // POINTS) == 0:
            with torch.no_grad():
                hits = torch.cat([answers(s).argmax(1) == right(s) for s in test])
            curve.append(round(float(hits.float().mean()), 4))
            if curve[-1] >= 0.995:
                break
    return curve + curve[-1:] * (POINTS - len(curve))


def study(rate: float) -> Study:
    return Study(
        train=train,
        arms=tuple(LAWS),
        rates=(rate,),
        choose=(),
        judge=range(16),
        axis=np.arange(1, POINTS + 1) * (STEPS // POINTS) * BATCH,
        metric="accuracy",
        goal=0.9,
        file=Path(__file__).with_suffix(".jsonl"),
        learned=0.9,
    )


STUDIES = {f"Learning rate {rate:g}": study(rate) for rate in (0.0001, 0.001)}

if __name__ == "__main__":
    main(STUDIES, ABOUT, "Even pairs")

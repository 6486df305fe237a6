"""Does the shape of real data matter in a plain PyTorch loop? The sum of k photographed digits, modulo 10.

    pip install "lopsided[data-test]"
    python examples/digits_sum.py train --jobs 2      # about 15 minutes on two cores; goes on where it stopped
    python examples/digits_sum.py report

Data: scikit-learn's 1,797 images of digits (8 x 8), a quarter held out. A sample is k images, its label their sum
modulo 10; which images were there is not said, only the sum. A skill is a digit. Four shapes of the same data:

- uniform: every digit equally often;
- power law: digit of rank r as often as 1/r, ranks in a random order for each seed;
- annealed: exponent 1.5, falling to 0 between a tenth and three fifths of training;
- growing: uniform digits, but samples come from .2 %, 1 %, 5 % and then all of the samples of the run.

Every arm is tuned: its learning rate is the best of three on seeds 100 to 103. Seeds 0 to 7 are judged at that rate.
Tests draw held-out images uniformly.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import lopsided as lop
import lopsided.data as ld

ARMS = {
    "uniform": ld.Uniform(),
    "power law": ld.PowerLaw(1.0, by="random"),
    "annealed": ld.Anneal(1.5, 0, begin=0.1, finish=0.6, by="random"),
    "growing": ld.Uniform(),
}
GROWING = ld.Phases(until=(0.1, 0.3, 0.6, 1.0), shares=(0.002, 0.01, 0.05, 1.0))
RATES = (3e-4, 1e-3, 3e-3)
CHOOSE, JUDGE = range(100, 104), range(8)
BATCH, EVERY = 256, 20
FILE = Path(__file__).with_suffix(".jsonl")


def digits():
    """Training and test images (n, 64) and labels (n,)."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[:1347], order[1347:]
    images = (images / 16 - 0.3).astype(np.float32)
    return images[train], labels[train], images[test], labels[test]


def order_of_samples(arm: str, labels: np.ndarray, k: int, steps: int, seed: int):
    """A function from steps to the (256, k) images of the step's batch: this is all that lopsided does here."""
    images = ld.Stream(ld.Groups(labels), ARMS[arm], total=steps * BATCH * k, seed=seed)
    samples = ld.Stream(steps * BATCH, GROWING if arm == "growing" else ld.Uniform(), total=steps * BATCH, seed=seed)

    def batch(step: int) -> np.ndarray:
        n = np.arange(step * BATCH, (step + 1) * BATCH)
        if arm == "growing":
            n = samples.at(n)
        return images.at(n[:, None] * k + np.arange(k))

    return batch


def train(k: int, steps: int, arm: str, rate: float, seed: int) -> dict:
    """One network; accuracies on held-out sums at twenty times."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x, y, test_x, test_y = (torch.as_tensor(a) for a in digits())
    read = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32))
    add = torch.nn.Sequential(
        torch.nn.Linear(32 * k, 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, 10),
    )
    optimizer = torch.optim.Adam([*read.parameters(), *add.parameters()], rate)
    asked = torch.as_tensor(np.random.default_rng(1).integers(0, len(test_y), (4000, k)))
    answers = test_y[asked].sum(1) % 10
    batch, curve = order_of_samples(arm, y.numpy(), k, steps, seed), []
    for step in range(steps):
        chosen = torch.as_tensor(batch(step))
        logits = add(read(x[chosen]).flatten(1))
        loss = torch.nn.functional.cross_entropy(logits, y[chosen].sum(1) % 10)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % (steps // EVERY) == 0:
            with torch.no_grad():
                found = add(read(test_x[asked]).flatten(1)).argmax(1)
                curve.append(round((found == answers).float().mean().item(), 4))
    return {"k": k, "steps": steps, "arm": arm, "rate": rate, "seed": seed, "curve": curve}


def done() -> list[dict]:
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def train_all(k: int, steps: int, jobs: int) -> None:
    """First every rate on the seeds that choose, then each arm's best rate on the judged ones."""
    for stage in ("choose", "judge"):
        have = {(r["k"], r["steps"], r["arm"], r["rate"], r["seed"]) for r in done()}
        if stage == "choose":
            asked = [(k, steps, arm, rate, seed) for seed in CHOOSE for arm in ARMS for rate in RATES]
        else:
            asked = [(k, steps, arm, best_rate(k, steps, arm), seed) for seed in JUDGE for arm in ARMS]
        missing = [a for a in asked if a not in have]
        with ProcessPoolExecutor(jobs) as pool, FILE.open("a") as file:
            for run in [pool.submit(train, *a) for a in missing]:
                file.write(json.dumps(run.result()) + "\n")
                file.flush()


def best_rate(k: int, steps: int, arm: str) -> float:
    """The rate with the highest median final accuracy on the seeds that choose."""
    runs = [r for r in done() if (r["k"], r["steps"], r["arm"]) == (k, steps, arm) and r["seed"] in CHOOSE]
    return max(RATES, key=lambda rate: np.median([r["curve"][-1] for r in runs if r["rate"] == rate]))


def report(k: int, steps: int) -> str:
    """A table of arms and the verdicts, in Markdown."""
    axis = np.arange(1, EVERY + 1) * (steps // EVERY) * BATCH
    curves, lines = {}, ["| arm | best rate | final accuracy, median [lowest, highest] |", "|---|---|---|"]
    for arm in ARMS:
        rate = best_rate(k, steps, arm)
        runs = [r for r in done() if (r["k"], r["steps"], r["arm"], r["rate"]) == (k, steps, arm, rate)]
        judged = sorted((r for r in runs if r["seed"] in JUDGE), key=lambda r: r["seed"])
        curves[arm] = lop.Curves(arm, axis, np.array([r["curve"] for r in judged]), "samples")
        final = curves[arm].values[:, -1]
        lines.append(f"| {arm} | {rate:g} | {np.median(final):.3f} [{final.min():.3f}, {final.max():.3f}] |")
    lines += ["", "| claim | measured, 95 % interval | verdict |", "|---|---|---|"]
    for arm in ("power law", "annealed", "growing"):
        compared = lop.compare(curves["uniform"], curves[arm], metric="accuracy")
        for verdict in (compared.higher(), compared.faster(at=0.5)):
            claim = verdict.claim
            _, effect, said, _ = claim_row(claim)
            lines.append(f"| {claim.claim} | {effect} | {said} |")
    return "\n".join(lines)


def claim_row(claim):
    from lopsided.report.text import claim_rows

    return claim_rows([claim])[0]


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("do", choices=["train", "report"])
    asked.add_argument("--k", type=int, default=3)
    asked.add_argument("--steps", type=int, default=1500)
    asked.add_argument("--jobs", type=int, default=2)
    given = asked.parse_args()
    if given.do == "train":
        train_all(given.k, given.steps, given.jobs)
    print(report(given.k, given.steps))

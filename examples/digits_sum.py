"""Does the shape of real data matter in a plain PyTorch loop? The sum of three photographed digits, modulo 10.

pip install "lopsided[data-test]"
python examples/digits_sum.py train --jobs 2      # about 25 minutes on two cores; goes on where it stopped
python examples/digits_sum.py report > docs/digits-sum.md
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arms import Study, main

import lopsided.data as ld

ABOUT = """
`examples/digits_sum.py`, in plain PyTorch: scikit-learn's 1,797 images of digits (8 x 8), a quarter held out. A sample
is three images, its label their sum modulo 10; which digits were there is not said, only the sum. A skill is a digit.
Six shapes of the same data:

- uniform: every digit equally often;
- power law: the digit of rank r as often as 1/r, ranks in a random order for each seed;
- annealed: exponent 1.5, falling to 0 between a tenth and three fifths of training;
- self-annealed: exponent 1.5, falling while more than a fifth of the training sums (above chance) are right;
- contrast-annealed: exponent 1.5, falling while the loss is a fifth below that of samples with a digit of the rarest
  quarter;
- growing: uniform digits, but samples come from 0.2 %, 1 %, 5 % and then all of the samples of the run.

The three images of a sample lie a batch apart in the stream, since neighbours in its order are not independent
([the order of draws](order-of-draws.md)). Every arm is tuned: its learning rate is the best of six on seeds 100 to 103.
Seeds 0 to 7 are judged at that rate, after 1,500 steps of 256 samples. Tests draw held-out images uniformly. Written by
`python examples/digits_sum.py report` from the runs in `examples/digits_sum.jsonl`.
"""
LAWS = {
    "uniform": ld.Uniform(),
    "power law": ld.PowerLaw(1.0, by="random"),
    "annealed": ld.Anneal(1.5, 0, begin=0.1, finish=0.6, by="random"),
    "self-annealed": None,  # depends on the model: see `batches`
    "contrast-annealed": None,
    "growing": ld.Uniform(),
}
CHANCE = 0.1
GROWING = ld.Phases(until=(0.1, 0.3, 0.6, 1.0), shares=(0.002, 0.01, 0.05, 1.0))
K, STEPS, BATCH, POINTS = 3, 1500, 256, 20


def digits():
    """Training and test images (n, 64) and labels (n,)."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[:1347], order[1347:]
    images = (images / 16 - 0.3).astype(np.float32)
    return images[train], labels[train], images[test], labels[test]


def places(samples: np.ndarray) -> np.ndarray:
    """(n, 3) positions in the stream of the images of samples (n,): a batch apart. Neighbours in a stratified order are
    hardly ever of one digit, and that alone teaches sums (`order_of_draws.py`)."""
    step, i = np.divmod(np.asarray(samples), BATCH)
    return (step * BATCH * K + i)[:, None] + BATCH * np.arange(K)


def batches(arm: str, labels: np.ndarray, seed: int):
    """A function from steps to the (256, 3) images of the step's batch, and one that is told these, how many sums were
    right, and the losses (256,): this is all that lopsided does here."""
    if LAWS[arm] is None:
        return listening(arm, ld.Groups(labels), seed)
    images = ld.Stream(ld.Groups(labels), LAWS[arm], total=STEPS * BATCH * K, seed=seed)
    samples = ld.Stream(STEPS * BATCH, GROWING, total=STEPS * BATCH, seed=seed)

    def batch(step: int) -> np.ndarray:
        n = np.arange(step * BATCH, (step + 1) * BATCH)
        if arm == "growing":
            n = samples.at(n)
        return images.at(places(n))

    return batch, lambda *heard: None


def listening(arm: str, groups: ld.Groups, seed: int):
    """Functions like those of `batches`, for laws that depend on the model."""
    asked = {"total": STEPS * BATCH * K, "batch": BATCH * K, "by": "random", "seed": seed}
    if arm == "self-annealed":
        sampler = ld.SelfAnneal(groups, chance=CHANCE, **asked)
        report = lambda images, accuracy, losses: sampler.report(accuracy)
    else:
        sampler = ld.ContrastAnneal(groups, **asked)
        report = lambda images, accuracy, losses: sampler.report(images.ravel(), np.repeat(losses, K))
    drawn = iter(sampler)
    return lambda step: np.array(next(drawn)).reshape(K, BATCH).T, lambda *heard: sampler.follow(report(*heard))


def train(arm: str, rate: float, seed: int, batches=batches) -> list[float]:
    """Accuracy on held-out sums at twenty times; `batches` says what is trained on."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x, y, test_x, test_y = (torch.as_tensor(a) for a in digits())
    read = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32))
    hidden = [torch.nn.Linear(32 * K, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU()]
    add = torch.nn.Sequential(*hidden, torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam([*read.parameters(), *add.parameters()], rate)
    asked = torch.as_tensor(np.random.default_rng(1).integers(0, len(test_y), (4000, K)))
    answers = test_y[asked].sum(1) % 10
    batch, hear = batches(arm, y.numpy(), seed)
    curve = []
    for step in range(STEPS):
        chosen = torch.as_tensor(batch(step))
        logits = add(read(x[chosen]).flatten(1))
        sums = y[chosen].sum(1) % 10
        loss = torch.nn.functional.cross_entropy(logits, sums)
        losses = torch.nn.functional.cross_entropy(logits.detach(), sums, reduction="none")
        hear(chosen.numpy(), (logits.argmax(1) == sums).float().mean().item(), losses.numpy())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % (STEPS // POINTS) == 0:
            with torch.no_grad():
                found = add(read(test_x[asked]).flatten(1)).argmax(1)
                curve.append(round((found == answers).float().mean().item(), 4))
    return curve


STUDY = Study(
    train=train,
    arms=list(LAWS),
    rates=(1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    choose=range(100, 104),
    judge=range(8),
    axis=np.arange(1, POINTS + 1) * (STEPS // POINTS) * BATCH,
    metric="accuracy",
    goal=0.5,
    file=Path(__file__).with_suffix(".jsonl"),
    pairs=(("annealed", "contrast-annealed"), ("self-annealed", "contrast-annealed")),
)

if __name__ == "__main__":
    main(STUDY, ABOUT, "The sum of digits")

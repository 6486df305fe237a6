"""What the recipes on frequency share: the spec of a transformer that tracks states, at four scales."""

from __future__ import annotations

from typing import Any

from lopsided.core.spec import Spec
from lopsided.recipe import Ahead, Arm, At, Measured
from lopsided.stats.times import Times, time_to_learn

UNIFORM = {"name": "uniform"}
BINS = 5
RANK_BINS = {"name": "rank-bins", "bins": BINS}
LEARNED = 0.5
"""Accuracy from which a bin counts as learned."""
STEPS = {"smoke": 40, "laptop": 2500, "overnight": 30_000, "paper": 200_000}
EVERY = {"smoke": 10, "laptop": 50, "overnight": 500, "paper": 2000}
ON_LAW = "train/loss"
"""The metric by which we read the curves of paper A's appendix: losses on the law that each network is trained on."""
BY_LOSS = "added on 2026-11-30, before this loss was looked at in any row (published ones had left it out)"
BATCH = {"smoke": 32, "laptop": 256, "overnight": 256, "paper": 256}


def power_law(alpha: float) -> dict[str, Any]:
    return {"name": "power-law", "alpha": alpha}


def annealed(start: float, begin: float, finish: float) -> dict[str, Any]:
    """From `start` to 0 between two shares of training."""
    return {"name": "annealed", "start": start, "end": 0.0, "begin": begin, "finish": finish}


def tracking(scale: str, skills: dict[str, Any], hops: int | None = None, **changes: Any) -> Spec:
    """State tracking with fresh samples and AdamW; the laptop's group is S4 with 3 hops, the paper's S5 with 4."""
    task, model, lr, warmup, samples = {
        "smoke": ({"group": "S3", "hops": 2}, {"layers": 1, "width": 16, "heads": 4}, 3e-3, 10, 64),
        "laptop": ({"group": "S4", "hops": 3}, {"layers": 2, "width": 64, "heads": 4}, 3e-3, 200, 2048),
        "overnight": ({"group": "S5", "hops": 4}, {"layers": 2, "width": 128, "heads": 4}, 1e-3, 500, 2048),
        "paper": (
            {"group": "S5", "hops": 4, "encoding": "digits"},
            {"layers": 4, "width": 256, "heads": 8},
            2e-4,
            1000,
            4096,
        ),
    }[scale]
    if hops is not None and scale != "paper":
        task = {**task, "hops": hops}
    plain = {
        "task": {"name": "state-tracking", **task},
        "skills": skills,
        "model": {"name": "transformer", **model},
        "plan": {"name": "online", "batch": BATCH[scale]},
        "optimizer": {"name": "adamw", "lr": lr, "weight_decay": 1e-6, "schedule": "cosine", "warmup": warmup},
        "loss": "cross-entropy",
        "steps": STEPS[scale],
        "evaluation": {"every": EVERY[scale], "samples": samples},
        "probes": [{**RANK_BINS, "samples": min(512, samples)}],
    }
    return Spec.parse({**plain, **changes})


def halved(each: Arm) -> Times:
    """Compute to half of the first evaluation's training loss, on the law that the arm is trained on: narrower laws
    also have the narrower answers to begin with."""
    loss = each.metric(ON_LAW)
    return time_to_learn(each.samples, -loss / loss[:, :1], -0.5)


def halves_first(fast: At, slow: At) -> Ahead:
    """Test of whether the arm at the coordinates `fast` needs less compute than the arm at `slow` until its training
    loss is half of what it was."""

    def of(at: At) -> Measured:
        return Measured(lambda r: halved(r.arm(**at)), at)

    return Ahead(of(fast), of=of(slow), unit="compute")

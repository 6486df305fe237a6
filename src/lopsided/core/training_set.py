"""Changes of the training stream that leave the test distribution alone: biases removed, or put in (paper C, 4.1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from lopsided.core.config import DIAL, Config
from lopsided.core.errors import InputError

if TYPE_CHECKING:
    from lopsided.core.plan import Plan
    from lopsided.core.protocols import Task

CHANGES = ("balanced-inputs", "balanced-labels", "whitened", "repeats", "biased", "random-labels")
"""What a task may support. Random labels belong to a phase of a plan (`labels`), the others to a `TrainingSet`."""
GROUP = {"balanced-inputs": 2, "balanced-labels": 4}
"""Neighbouring indices that are balanced among themselves."""


class TrainingSet(Config):
    """How samples of the training stream differ from the task's own.

    `remove`: "balanced-inputs" makes indices 2i and 2i + 1 a pair x, -x, so that the mean input of any even number of
    samples is exactly 0 (and, where x and -x have the same label, the mean input of each label too); "balanced-labels"
    makes a quadruple of two such pairs with opposite labels, so that the mean label is 0 as well; "whitened" moves and
    rotates the inputs of a fixed set to mean 0 and covariance I, and labels them afterwards; "repeats" draws inputs
    without replacement from a finite space, so that a set as large as the space is the whole population.
    `biased_by`: every coordinate of a fresh stream gets the mean that it has on that many samples drawn beforehand, and
    coordinates are independent given those means.
    """

    remove: Literal["none", "balanced-inputs", "balanced-labels", "whitened", "repeats"] = "none"
    biased_by: Annotated[Annotated[int, Field(ge=1, le=2**20)] | None, DIAL] = None

    def check(self, task: Task, plan: Plan) -> None:
        """Raise `InputError` if the task cannot change its samples that way, or the plan has no use for it."""
        if self.remove != "none" and self.biased_by is not None:
            raise InputError("training_set: takes either remove or biased_by")
        if plan.feeds and self != TrainingSet():
            raise InputError("training_set: not for a plan that feeds groups of parameters from streams of their own")
        if self.remove != "none":
            _supported(task, self.remove, f"training_set.remove = {self.remove!r}")
            size = plan.sizes()[0] if len(plan.sizes()) == 1 else None
            dimension = getattr(task.inputs, "dimension", 0)
            if self.remove == "whitened" and size is not None and size <= dimension:
                raise InputError(
                    f"training_set.remove = 'whitened': takes more than d = {dimension} samples, got {size}"
                )
            if self.remove == "whitened" and (size is None or not plan.confined):
                raise InputError(
                    "training_set.remove = 'whitened': needs a plan with one fixed set (fixed, full-batch)"
                )
            if self.remove == "repeats" and task.entropy_bits > 30:
                raise InputError(f"training_set.remove = 'repeats': at most 2^30 inputs, here 2^{task.entropy_bits:g}")
            multiple = GROUP.get(self.remove, 1)
            for each in plan.sizes():
                if each % multiple:
                    raise InputError(
                        f"training_set.remove = {self.remove!r}: takes multiples of {multiple}, got {each}"
                    )
        if plan.relabels:
            _supported(task, "random-labels", "plan: labels = 'random'")
        if self.biased_by is not None:
            _supported(task, "biased", f"training_set.biased_by = {self.biased_by}")
            if not plan.fresh:
                raise InputError("training_set.biased_by: needs a plan whose samples are all fresh (online)")


def _supported(task: Task, change: str, what: str) -> None:
    if change not in task.supports:
        can = ", ".join(sorted(task.supports - {"random-labels"})) or "nothing"
        raise InputError(f"{what}: task {task.name!r} can do {can}")  # type: ignore[attr-defined]

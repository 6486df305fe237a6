"""Changes of the training stream that leave the test distribution alone: biases removed, or put in (paper C, 4.1.3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lopsided.core.config import TRACED, Config
from lopsided.core.errors import InputError
from lopsided.core.plan import FixedSets, Plan, SampledPlan, relabels, sizes_of, streams_of
from lopsided.core.task import EditableInputs, RandomLabels, RealInputs, SignInputs, Task

NEEDS: dict[str, type] = {
    "balanced-inputs": EditableInputs,
    "balanced-labels": SignInputs,
    "whitened": RealInputs,
    "repeats": SignInputs,
    "biased": SignInputs,
    "random-labels": RandomLabels,
}
"""The capability that a task needs for each change. Random labels belong to a phase of a plan (`labels`), the others to
a `TrainingSet`."""
GROUP = {"balanced-inputs": 2, "balanced-labels": 4}
"""Neighbouring indices that are balanced among themselves."""
LARGEST_SPACE_BITS = 30
"""Bits of a space that `core.keys.shuffled` permutes: fewer than 2^31 positions."""


class TrainingSet(Config):
    """How samples of the training stream differ from the task's own.

    `remove`: "balanced-inputs" makes indices 2i and 2i + 1 a pair x, -x, so that the mean input of any even number of
    samples is exactly 0 (and, where x and -x have the same label, the mean input of each label too); "balanced-labels"
    makes a quadruple of two such pairs with opposite labels, so that the mean label is 0 as well; "whitened" moves and
    rotates the inputs of a fixed set, or of each phase's set, to mean 0 and covariance I, and labels them afterwards;
    "repeats" draws inputs without replacement from a finite space, so that a set as large as the space is the whole
    population.
    `biased_by`: every coordinate of a fresh stream, or of one fixed set, gets the mean that it has on that many samples
    drawn beforehand, and coordinates are independent given those means.
    """

    remove: Literal["none", "balanced-inputs", "balanced-labels", "whitened", "repeats"] = "none"
    biased_by: Annotated[Annotated[int, Field(ge=1, le=2**20)] | None, TRACED] = None

    def check(self, task: Task, plan: SampledPlan) -> None:
        """Raise `InputError` if the task cannot change its samples that way, or the plan has no use for it."""
        if self.remove != "none" and self.biased_by is not None:
            raise InputError("training_set: takes either remove or biased_by")
        if streams_of(plan) and self != TrainingSet():
            raise InputError("training_set: not for a plan that feeds groups of parameters from streams of their own")
        if self.remove != "none":
            _require(task, self.remove, f"training_set.remove = {self.remove!r}")
            self._check_removal(task, plan)
        if relabels(plan):
            _require(task, "random-labels", "plan: labels = 'random'")
        if self.biased_by is not None:
            _require(task, "biased", f"training_set.biased_by = {self.biased_by}")
            if not plan.fresh and not (isinstance(plan, FixedSets) and plan.confined and len(sizes_of(plan)) == 1):
                raise InputError(
                    "training_set.biased_by: needs a plan whose samples are all fresh (online) or are one fixed set "
                    "(fixed, full-batch)"
                )

    def differs_by_set(self, plan: Plan) -> bool:
        """Whether one sample differs between the plan's fixed sets, since each set is whitened by its own moments."""
        return self.remove == "whitened" and len(sizes_of(plan)) > 1

    def _check_removal(self, task: Task, plan: SampledPlan) -> None:
        what, sizes = f"training_set.remove = {self.remove!r}", sizes_of(plan)
        if self.remove == "whitened":
            dimension = getattr(task.inputs, "dimension", 0)
            if not (isinstance(plan, FixedSets) and plan.confined):
                raise InputError(f"{what}: needs a plan of fixed sets (fixed, full-batch, or phases of them)")
            if min(sizes) <= dimension:
                raise InputError(f"{what}: takes more than d = {dimension} samples, got {min(sizes)}")
        if self.remove == "repeats" and isinstance(task, SignInputs) and task.entropy_bits > LARGEST_SPACE_BITS:
            raise InputError(f"{what}: at most 2^{LARGEST_SPACE_BITS} inputs, here 2^{task.entropy_bits:g}")
        multiple = GROUP.get(self.remove, 1)
        for each in sizes:
            if each % multiple:
                raise InputError(f"{what}: takes multiples of {multiple}, got {each}")


def supported(task: Task) -> list[str]:
    """The changes that a task can make."""
    return [change for change, capability in NEEDS.items() if isinstance(task, capability)]


def _require(task: Task, change: str, what: str) -> None:
    if change not in supported(task):
        can = ", ".join(sorted({*supported(task)} - {"random-labels"})) or "nothing"
        raise InputError(f"{what}: task {task.name!r} can do {can}")

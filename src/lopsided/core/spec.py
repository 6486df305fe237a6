"""`Spec`: everything that decides what one arm computes, and nothing else. Seeds, names and folders are outside it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from lopsided.core import registry
from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.protocols import Classes, LossName, Model, Optimizer, Plan, Probe, RankOrder, Scalar, Task


def _of(kind: str) -> BeforeValidator:
    return BeforeValidator(lambda data: registry.build(kind, data))


class Skills(Config):
    """How often the skill of each rank occurs; the concrete ones live in `lopsided.skills`."""

    def path(self, n_skills: int) -> Any:
        """The distribution as a `lopsided.skills.path.SkillPath`."""
        raise NotImplementedError


class Evaluation(Config):
    """When and on how much the test metric is measured (uniform skills, the member's test stream)."""

    every: Annotated[int, Field(ge=1, le=10**9)] = 100
    samples: Annotated[int, Field(ge=1, le=2**24)] = 1024


class Spec(Config):
    """One arm. Its content hash names its rows in the store."""

    task: Annotated[SerializeAsAny[Task], _of("task")]
    skills: Annotated[SerializeAsAny[Skills], _of("skills")] = Field(
        default_factory=lambda: registry.build("skills", "uniform")
    )
    rank_order: RankOrder = "lexicographic"
    model: Annotated[SerializeAsAny[Model], _of("model")]
    plan: Annotated[SerializeAsAny[Plan], _of("plan")]
    optimizer: Annotated[SerializeAsAny[Optimizer], _of("optimizer")]
    loss: LossName
    steps: Annotated[int, Field(ge=1, le=10**9)]
    evaluation: Evaluation = Evaluation()
    probes: tuple[Annotated[SerializeAsAny[Probe], _of("probe")], ...] = ()

    @model_validator(mode="after")
    def _parts_fit(self) -> Spec:
        if self.evaluation.every > self.steps:
            raise InputError(f"evaluation.every = {self.evaluation.every}: at most steps = {self.steps}")
        self.plan.declared(self.steps)
        if self.plan.batch_size * self.steps >= 2**32:
            raise InputError(
                f"steps = {self.steps}: steps x batch size stays below 2^32 (here batch size {self.plan.batch_size})"
            )
        wants_classes = self.loss == "cross-entropy"
        if wants_classes != isinstance(self.task.outputs, Classes):
            valid = "cross-entropy" if isinstance(self.task.outputs, Classes) else "square, logistic, correlation"
            raise InputError(f"loss = {self.loss!r}: task {self.task.name!r} takes {valid}")  # type: ignore[attr-defined]
        if self.loss == "logistic" and isinstance(self.task.outputs, Scalar) and not self.task.outputs.signs:
            raise InputError("loss = 'logistic': only for tasks whose targets are +-1")
        if self.task.n_skills == 0:
            if self.skills != registry.build("skills", "uniform"):
                raise InputError(f"skills: task {self.task.name!r} has no skills to shape")  # type: ignore[attr-defined]
        elif not self.plan.fresh and not self.skills.path(self.task.n_skills).constant:
            raise InputError("skills: a distribution that moves needs a plan that never repeats a sample (online)")
        return self

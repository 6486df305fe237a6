"""`Spec`: everything that decides what one arm computes, and nothing else. Seeds, names and folders are outside it."""

from __future__ import annotations

from math import log10
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

    def after(self, step: int, steps: int) -> int:
        """The first step after `step` at which a run of `steps` steps is evaluated; the last one always is."""
        return min((step // self.every + 1) * self.every, steps)


class Geometric(Evaluation):
    """Evaluations at every * 10^(i / per_decade), rounded to whole steps: what happens on many time scales is seen on
    all of them. The first is at step `every`."""

    per_decade: Annotated[int, Field(ge=1, le=10_000)]

    def after(self, step: int, steps: int) -> int:
        i = 0 if step < self.every else int(self.per_decade * log10(step / self.every))
        while (point := round(self.every * 10 ** (i / self.per_decade))) <= step:
            i += 1
        return min(point, steps)


def _evaluation(data: Any) -> Any:
    return Geometric.parse(data) if isinstance(data, dict) and "per_decade" in data else data


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
    evaluation: Annotated[SerializeAsAny[Evaluation], BeforeValidator(_evaluation)] = Evaluation()
    probes: tuple[Annotated[SerializeAsAny[Probe], _of("probe")], ...] = ()

    @model_validator(mode="after")
    def _parts_fit(self) -> Spec:
        if self.evaluation.every > self.steps:
            raise InputError(f"evaluation.every = {self.evaluation.every}: at most steps = {self.steps}")
        self.plan.declared(self.steps)
        if self.plan.engine != "sampled":
            self._without_samples()
        for probe in self.probes:
            probe.check(self.task, self.model)
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
        elif self.plan.batch_size and not self.plan.fresh and not self.skills.path(self.task.n_skills).constant:
            raise InputError("skills: a distribution that moves needs a plan that never repeats a sample (online)")
        return self

    def _without_samples(self) -> None:
        """What a plan that draws no samples asks of the other parts."""
        name = self.plan.name  # type: ignore[attr-defined]
        if not self.task.has_population_loss:
            can = [t for t, cls in registry.registered("task").items() if cls.has_population_loss]  # type: ignore[attr-defined]
            raise InputError(
                f"plan = {name!r}: task {self.task.name!r} has no exact loss; these have one: {', '.join(can)}"  # type: ignore[attr-defined]
            )
        check = self.task.check_population if self.plan.engine == "population" else self.task.check_idealised
        check(self.model, self.loss)
        flow = self.plan.engine == "idealised" or self.plan.dynamics == "flow"  # type: ignore[attr-defined]
        o = self.optimizer.model_dump()
        if flow and (o["name"] != "sgd" or o["schedule"] != "constant" or o["warmup"]):
            raise InputError(
                f"plan = {name!r}: gradient flow measures time in steps x learning rate, which takes optimizer 'sgd' "
                "with a constant rate and no warm-up"
            )

"""`Spec`: everything that decides what one arm computes, and nothing else. Seeds, names and folders are outside it."""

from __future__ import annotations

from math import log10
from typing import Annotated, Any, ClassVar, Literal

import jax
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from lopsided.core import groups, registry
from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.groups import Group
from lopsided.core.plan import Plan
from lopsided.core.probe import Probe
from lopsided.core.protocols import Classes, LossName, Model, Optimizer, RankOrder, Scalar, Task, judged
from lopsided.core.training_set import TrainingSet


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


class Until(Config):
    """When a member is done before its last step: its metric was at least (or at most) a value at two evaluations in a
    row. It leaves the ensemble then, as does a member that diverged, and another takes its place."""

    metric: Literal["test/accuracy", "test/loss"] = "test/accuracy"
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Until:
        if (self.at_least is None) == (self.at_most is None):
            raise InputError("until: takes either at_least or at_most")
        if (self.metric == "test/loss") != (self.at_most is not None):
            raise InputError("until: an accuracy takes at_least, a loss at_most")
        return self

    def reached(self, value: Any) -> Any:
        """Whether a value of the metric is good enough (elementwise; NaN never is)."""
        return value >= self.at_least if self.at_least is not None else value <= self.at_most


class Spec(Config):
    """One arm. Its content hash names its rows in the store."""

    later: ClassVar[frozenset[str]] = frozenset({"groups", "training_set", "until"})
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
    groups: tuple[Group, ...] = ()
    training_set: TrainingSet = TrainingSet()
    until: Until | None = None

    @model_validator(mode="after")
    def _parts_fit(self) -> Spec:
        if self.evaluation.every > self.steps:
            raise InputError(f"evaluation.every = {self.evaluation.every}: at most steps = {self.steps}")
        self.plan.declared(self.steps)
        self.plan.check(self.task, self.model, self.optimizer, self.loss)
        if self.plan.engine != "sampled":
            self._sampled_only()
        if self.plan.engine in ("population", "idealised"):
            self._without_samples()
        for probe in self.probes:
            probe.check(self.task, self.model)
            self._looks_back(probe)
        self._groups_fit()
        self.training_set.check(self.task, self.plan)
        self._until_fits()
        if self.plan.positions and self.plan.seen(self.steps) >= 2**32:
            raise InputError(
                f"steps = {self.steps}: a run sees fewer than 2^32 samples (here batch size {self.plan.batch_size})"
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

    def _groups_fit(self) -> None:
        """Patterns name parameters, and the optimizer can give them rates of their own."""
        patterns = [group.match for group in self.groups]
        fed = [feed.match for feed in self.plan.feeds]
        if not patterns and not fed:
            return
        if patterns and self.plan.engine != "sampled":
            raise InputError(f"groups: plan {self.plan.name!r} trains all parameters alike")  # type: ignore[attr-defined]
        if not self.optimizer.grouped and any(group.lr != 1 for group in self.groups):
            raise InputError(f"groups: optimizer {self.optimizer.name!r} has one learning rate for all parameters")  # type: ignore[attr-defined]
        shape = self.model.canonical_json(), self.task.inputs, self.task.outputs
        if shape not in _NAMES:
            init = lambda key: self.model.init(key, self.task.inputs, self.task.outputs)  # noqa: E731
            _NAMES[shape] = groups.names(jax.eval_shape(init, jax.eval_shape(lambda: jax.random.key(0))))
        groups.check(patterns, _NAMES[shape])
        groups.check(fed, _NAMES[shape], "plan.others")

    def _looks_back(self, probe: Probe) -> None:
        """A probe that looks back needs checkpoints at whole steps of members that stay to the end."""
        if not probe.stretches:
            return
        name = probe.name  # type: ignore[attr-defined]
        if self.plan.engine != "sampled" or self.until is not None:
            raise InputError(f"probe {name!r}: only for plans that draw samples, without `until`")
        if self.steps % probe.stretches:
            raise InputError(f"probe {name!r}: {probe.stretches} stretches do not divide steps = {self.steps}")
        if any(other.stretches not in (0, probe.stretches) for other in self.probes):
            raise InputError(f"probe {name!r}: all probes that look back take the same number of stretches")

    def _sampled_only(self) -> None:
        """What changes samples, or looks at them, needs samples."""
        name = self.plan.name  # type: ignore[attr-defined]
        if self.training_set != TrainingSet():
            raise InputError(f"training_set: plan {name!r} takes the task's own samples")
        if self.plan.engine == "two-phase" and self.probes:
            raise InputError(f"probes: plan {name!r} has its own metrics")

    def _until_fits(self) -> None:
        if self.until is None:
            return
        if self.plan.engine != "sampled":
            raise InputError("until: only for plans that draw samples")
        if type(self.evaluation) is not Evaluation or self.steps % self.evaluation.every:
            raise InputError(
                f"until: members are looked at together, every {self.evaluation.every} steps; steps = {self.steps} has "
                "to be a multiple of evaluation.every, without per_decade"
            )
        if self.until.metric == "test/accuracy" and not judged(self.task.outputs):
            raise InputError(f"until.metric = 'test/accuracy': task {self.task.name!r} has real-valued targets")  # type: ignore[attr-defined]

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


_NAMES: dict[Any, list[str]] = {}
"""Names of the parameters of models seen: a sweep makes thousands of specs of one model."""

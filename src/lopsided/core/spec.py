"""`Spec`: everything that decides what one arm computes, and nothing else. Seeds, names and folders are outside it, and
so is how it is run (`core.execution`)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import jax
from pydantic import (
    Field,
    SerializeAsAny,
    model_validator,
)

from lopsided.core import groups, registry
from lopsided.core.config import Config
from lopsided.core.errors import InputError
from lopsided.core.evaluation import Evaluation, Geometric, Until, evaluation_of
from lopsided.core.groups import ParamGroup
from lopsided.core.model import Model
from lopsided.core.one_of import OneOf, part_of
from lopsided.core.optimizer import Optimizer
from lopsided.core.plan import Plan, streams_of
from lopsided.core.probe import Probe
from lopsided.core.shapes import Classes, Scalar, Tokens, Vectors
from lopsided.core.skills import Skills
from lopsided.core.task import LossName, RankOrder, Task, n_skills
from lopsided.core.training_set import TrainingSet
from lopsided.shape.in_spec import spec_fields

_EVALUATION = OneOf(evaluation_of, lambda: {"steps": Evaluation, "geometric": Geometric}, named=False)


class Spec(Config):
    """One arm. Its content hash names its rows in the store.

    `shape`, a shape of `lopsided.data` that tasks can have, stands for `skills`, `rank_order` and a plan of phases:
    `Spec(shape=ld.Anneal(1.5, 0), ...)`.

    `products` is the precision of matrix products: "bfloat16" rounds their factors to bfloat16 and adds up in float32;
    weights, optimizer state and everything else stay float32.

    >>> import lopsided as lop
    >>> spec = lop.Spec(task=lop.tasks.SparseParity(d=6, k=2), model=lop.models.MLP(width=8), loss="logistic",
    ...     plan=lop.plans.Online(batch=8), optimizer=lop.optim.SGD(lr=0.5), steps=400)
    >>> spec.replace(steps=800).steps
    800
    """

    later: ClassVar[frozenset[str]] = frozenset({"groups", "training_set", "until", "products"})
    task: Annotated[SerializeAsAny[Task], part_of("task")]
    skills: Annotated[SerializeAsAny[Skills], part_of("skills")] = Field(
        default_factory=lambda: registry.build("skills", "uniform")
    )
    rank_order: RankOrder = "lexicographic"
    model: Annotated[SerializeAsAny[Model], part_of("model")]
    plan: Annotated[SerializeAsAny[Plan], part_of("plan")]
    optimizer: Annotated[SerializeAsAny[Optimizer], part_of("optimizer")]
    loss: LossName
    steps: Annotated[int, Field(ge=1, le=10**9)]
    evaluation: Annotated[SerializeAsAny[Evaluation], _EVALUATION] = Evaluation()
    probes: tuple[Annotated[SerializeAsAny[Probe], part_of("probe")], ...] = ()
    groups: tuple[ParamGroup, ...] = ()
    training_set: TrainingSet = TrainingSet()
    until: Until | None = None
    products: Literal["float32", "bfloat16"] = "float32"

    def replace(self, changes: dict[str, Any] | None = None, **fields: Any) -> Spec:
        """This spec with other values, validated; see `Config.replace`. `shape` stands for the fields that it says."""
        if "shape" in fields:
            batch = getattr(fields.get("plan", self.plan), "batch_size", None)
            shaped = spec_fields(fields.pop("shape"), fields.get("steps", self.steps), batch)
            fields = {**fields, **shaped}
        return super().replace(changes, **fields)

    @model_validator(mode="before")
    @classmethod
    def _shaped(cls, data: Any) -> Any:
        """Read `shape`, an object of `lopsided.shape`, as the fields that it stands for."""
        if not isinstance(data, dict) or "shape" not in data:
            return data
        data = dict(data)
        shape, plan = data.pop("shape"), registry.build("plan", data.get("plan"))
        if "skills" in data:
            raise InputError("shape: says how often skills come, and so does skills; give one of them")
        return {**data, **spec_fields(shape, int(data.get("steps", 1)), getattr(plan, "batch_size", None))}

    @model_validator(mode="after")
    def _parts_fit(self) -> Spec:
        if self.evaluation.every > self.steps:
            said = "" if "evaluation" in self.model_fields_set else " (the default; give evaluation)"
            raise InputError(f"evaluation.every = {self.evaluation.every}{said}: at most steps = {self.steps}")
        self.plan.check_steps(self.steps)
        self.plan.check(self.task, self.model, self.optimizer, self.loss)
        for probe in self.probes:
            probe.check(self.task, self.model)
        self._check_groups()
        registry.engine_of(self).check(self)
        self._check_loss()
        self._check_positions()
        _parameter_names(self.model, self.task)  # raises where the model cannot read the task's inputs
        if not n_skills(self.task) and self.skills != registry.build("skills", "uniform"):
            raise InputError(f"skills: task {self.task.name!r} has no skills to shape")
        return self

    def _check_loss(self) -> None:
        classes = isinstance(self.task.outputs, Classes)
        if (self.loss == "cross-entropy") != classes:
            valid = "cross-entropy" if classes else "square, logistic, correlation"
            raise InputError(f"loss = {self.loss!r}: task {self.task.name!r} takes {valid}")
        if self.loss == "logistic" and isinstance(self.task.outputs, Scalar) and not self.task.outputs.signs:
            raise InputError("loss = 'logistic': only for tasks whose targets are +-1")

    def _check_positions(self) -> None:
        """Answers are read at positions that inputs have. (JAX would read the last one in place of one beyond it.)"""
        inputs, outputs = self.task.inputs, self.task.outputs
        if isinstance(inputs, Tokens | Vectors) and isinstance(outputs, Classes):
            for place in outputs.read or ():
                if not 0 <= place < inputs.length:
                    valid = f"valid are positions 0 to {inputs.length - 1}"
                    raise InputError(f"task {self.task.name!r}: answers are read at {place}; {valid}")

    def _check_groups(self) -> None:
        """Patterns name parameters, and the optimizer can give them rates of their own."""
        patterns, fed = [g.match for g in self.groups], [stream.match for stream in streams_of(self.plan)]
        if not self.optimizer.grouped and any(group.lr != 1 for group in self.groups):
            raise InputError(f"groups: optimizer {self.optimizer.name!r} has one learning rate for all parameters")
        if patterns or fed:
            names = _parameter_names(self.model, self.task)
            groups.check(patterns, names)
            groups.check(fed, names, "plan.others")


_NAMES: dict[Any, list[str]] = {}
"""Names of the parameters of models seen: a sweep makes thousands of specs of one model."""
MOST_NAMES = 256
"""Models whose names are kept, at most: more than a recipe has, few enough for a program that makes ever new ones."""


def _parameter_names(model: Model, task: Task) -> list[str]:
    key = model.canonical_json(), task.inputs, task.outputs
    if key not in _NAMES:
        init = lambda k: model.init(k, task.inputs, task.outputs)
        if len(_NAMES) >= MOST_NAMES:
            _NAMES.clear()
        _NAMES[key] = groups.names(jax.eval_shape(init, jax.eval_shape(lambda: jax.random.key(0))))
    return _NAMES[key]

"""Metrics that claims name, looked up in what a spec measures: a mistyped one is found before hours of training."""

from __future__ import annotations

from collections.abc import Mapping

import jax

from lopsided.claims.places import arms_at
from lopsided.claims.recipe import Recipe
from lopsided.core import registry
from lopsided.core.arms import ScaleName
from lopsided.core.errors import InputError, unknown
from lopsided.core.execution import DEFAULT
from lopsided.core.shapes import has_accuracy
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import EnsembleEngine
from lopsided.engines.pool import Pool


def check_metrics(recipe: Recipe, scale: ScaleName) -> None:
    """Raise `InputError` for a metric that a claim names and that the arms which it reads do not measure. One arm of
    each program is asked."""
    known: dict[str, Mapping[str, int] | None] = {}
    for statement in recipe.claims:
        for at, metric in statement.test.metrics:
            spec = next(iter(arms_at(recipe.arms_at(scale), at).values())).spec
            if _plain(spec, metric):
                continue
            # Specs that differ in numbers only share a program, and with it the metrics; tracing takes up to seconds.
            key = spec.static_key()
            if key not in known:
                known[key] = measured(spec)
            names = known[key]
            if names is not None and not _is_one_of(metric, names, spec):
                raise InputError(f"claim {statement.claim!r}: {unknown('metric', metric, names)}")


def measured(spec: Spec) -> dict[str, int] | None:
    """Metrics of a spec by name, and how many items an array has (0 for a number), from the shapes of its program;
    nothing is computed. None where an engine has no program (theory)."""
    engine = registry.engine_of(spec)
    if not issubclass(engine, EnsembleEngine | Pool):
        return None
    program = engine.program_class.of(spec, DEFAULT)
    with program.precision():
        found = jax.eval_shape(program.evaluate, program.state_shape, program.one)
    shapes = {name: jax.tree.leaves(value)[0].shape for name, value in found.items()}  # a count is two numbers
    return {name: (shape[0] if len(shape) == 1 else 0) for name, shape in shapes.items()}


def _plain(spec: Spec, metric: str) -> bool:
    """Whether every evaluation measures it; no program is traced to know that."""
    every = {"test/loss", "train/loss"} | ({"test/accuracy"} if has_accuracy(spec.task.outputs) else set())
    return metric in every


def _is_one_of(metric: str, names: Mapping[str, int], spec: Spec) -> bool:
    """A name, an item of an array (`strength/2`), or what a probe measures once, at the end of training."""
    whole, _, item = metric.rpartition("/")
    inside = item.isdecimal() and 1 <= int(item) <= names.get(whole, 0)
    at_the_end = any(probe.n_checkpoints and metric.startswith(f"{probe.name}/") for probe in spec.probes)
    return metric in names or inside or at_the_end

"""Try out a task before anything is trained on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.batch import Batch
from lopsided.core.errors import InputError
from lopsided.core.shapes import Classes, Scalar, Tokens, Vector
from lopsided.core.task import FiniteInputs, HasChance, SampleContext, SkillLaw, Task, latent_of, n_skills


def check(task: Task, samples: int = 256, seed: int = 0) -> None:
    """Draw samples of a task and compare each with its slow `oracle`; also shapes, ranges, and that a sample depends on
    its stream and index, and on nothing else.

    Raises `InputError` with the first sample that is wrong.

    >>> import lopsided as lop
    >>> lop.check(lop.tasks.SparseParity(d=6, k=2))
    """
    if not isinstance(task, Task):
        raise InputError(f"check: {task!r} is no task; valid is an object of its class, for example Facts()")
    if not isinstance(samples, int) or samples < 8:
        raise InputError(f"check: samples = {samples!r}: at least 8")
    import jax
    import jax.numpy as jnp

    from lopsided.core.keys import stream
    from lopsided.skills.distributions import Uniform
    from lopsided.skills.ranks import skill_at_rank

    latent = latent_of(task, stream(seed, "world"))
    count = n_skills(task)
    law = (
        SkillLaw(Uniform().schedule(count).cumulative(0.0), skill_at_rank("lexicographic", count, seed))
        if count
        else None
    )
    context = SampleContext(latent, law)
    key = stream(seed, "train")
    draw = jax.jit(jax.vmap(lambda i: task.sample(key, i, context)))
    try:
        drawn = [draw(jnp.arange(n, dtype=jnp.uint32)) for n in (samples, 8)]
    except (TypeError, ValueError, AttributeError) as error:
        hint = " (a task with skills inherits HasSkills)" if law is None and "draw" in str(error) else ""
        raise InputError(f"task {task.name!r}: sample raises {type(error).__name__}: {error}{hint}") from error
    if not isinstance(drawn[0], Batch):
        raise InputError(f"task {task.name!r}: sample has to return a Sample, not {type(drawn[0]).__name__}")
    batch, again = (jax.tree.map(np.asarray, found) for found in drawn)
    _require_shapes(task, batch, samples)
    _require_different_samples(task, batch)
    if isinstance(task, HasChance) and not 0 <= task.chance <= 1:
        raise InputError(f"task {task.name!r}: chance = {task.chance:g}; valid is a share, 0 to 1")
    exact = isinstance(task.outputs, Classes) or task.outputs.signs
    for one, other in zip(jax.tree.leaves(batch), jax.tree.leaves(again), strict=True):
        if not np.allclose(one[:8], other, rtol=0, atol=0 if exact else 1e-5):
            raise InputError(
                f"task {task.name!r}: a sample depends on the batch that it is drawn in; draw with "
                "`words(key, index, n)`, not with numpy.random"
            )
    for i in range(samples):
        expected = np.asarray(task.oracle(batch.inputs[i], jax.tree.map(np.asarray, latent)))
        if expected.dtype.kind not in "iufb":
            raise InputError(f"task {task.name!r}: the oracle has to return numbers, not {expected.item()!r}")
        close = 0.0 if exact else 1e-4
        if not np.allclose(batch.targets[i], expected, rtol=close, atol=close):
            said = f"sample {i}, inputs {_short(batch.inputs[i])}: target {_short(batch.targets[i])}"
            raise InputError(f"task {task.name!r}: {said}, but the oracle says {_short(expected)}")


def _require_shapes(task: Task, batch: Any, n: int) -> None:
    inputs, outputs = task.inputs, task.outputs
    if n_skills(task):
        if batch.skills is None or batch.skills.ndim != 2:
            raise InputError(f"task {task.name!r}: a sample's `skills` have to be a list of skill ids, shape (K,)")
        _require_below(task, "skills", batch.skills, n_skills(task), least=-1)
    if isinstance(inputs, Tokens):
        _require(task, "inputs", batch.inputs.shape, (n, inputs.length))
        _require_below(task, "input tokens", batch.inputs, inputs.vocabulary)
    else:
        _require(task, "inputs", batch.inputs.shape, (n, *inputs))
        if isinstance(inputs, Vector) and batch.inputs.dtype.kind != "f":
            raise InputError(f"task {task.name!r}: inputs are {batch.inputs.dtype}, a Vector holds floats")
    if isinstance(outputs, Scalar):
        _require(task, "targets", batch.targets.shape, (n,))
        if outputs.signs and not set(np.unique(batch.targets)) <= {-1.0, 1.0}:
            raise InputError(f"task {task.name!r}: targets have to be -1 or 1, found {np.unique(batch.targets)[:5]}")
        return
    length = batch.inputs.shape[1]
    if outside := [place for place in outputs.read or () if not 0 <= place < length]:
        raise InputError(f"task {task.name!r}: answers are read at {outside[0]}; valid are positions 0 to {length - 1}")
    read = length if outputs.read is None else len(outputs.read)
    _require(task, "targets", batch.targets.shape, (n, read))
    _require_below(task, "target classes", batch.targets, outputs.count)


def _require_different_samples(task: Task, batch: Any) -> None:
    """Raise `InputError` if all samples are the same, unless the task has only one."""
    if isinstance(task, FiniteInputs) and task.entropy_bits < 1:
        return
    if all((leaf == leaf[0]).all() for leaf in (batch.inputs, batch.targets)):
        raise InputError(f"task {task.name!r}: all samples are the same; draw with `words(key, index, n)`")


def _require(task: Task, what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if tuple(found) != tuple(expected):
        raise InputError(f"task {task.name!r}: one sample's {what} have shape {found[1:]}, expected {expected[1:]}")


def _require_below(task: Task, what: str, values: np.ndarray, count: int, least: int = 0) -> None:
    if values.dtype.kind not in "iu" or values.min() < least or values.max() >= count:
        ends = f"{values.min()} to {values.max()} ({values.dtype})"
        valid = f"whole numbers from 0 to {count - 1}{', and -1 for none' if least else ''}"
        raise InputError(f"task {task.name!r}: {what} go from {ends}; valid are {valid}")


def _short(values: np.ndarray) -> str:
    return np.array2string(np.asarray(values), threshold=20, edgeitems=8, max_line_width=10_000)

"""A plan's batches as NumPy arrays, for anybody's training loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

from lopsided.core.batch import Batch
from lopsided.core.errors import InputError, unknown
from lopsided.core.plan import Remembers, SampledPlan, streams_of
from lopsided.core.skills import Listens, Skills
from lopsided.core.spec import Spec
from lopsided.core.task import RankOrder, Task
from lopsided.core.training_set import TrainingSet


def batches(
    task: Task,
    plan: SampledPlan,
    skills: Skills | None = None,
    seed: int = 0,
    steps: int | None = None,
    rank_order: RankOrder = "lexicographic",
    start: int = 0,
) -> Iterator[Batch]:
    """Batches of steps `start`, `start + 1`, ..., each a `Batch` of NumPy arrays: the same samples that a member with
    this seed trains on in `run`.

    `steps` is how long the whole run is: it ends there, and a distribution that moves needs it. Raises `InputError` for
    plans that follow what a model has learned, or that draw nothing.

    >>> import lopsided as lop
    >>> stream = lop.batches(lop.tasks.SparseParity(d=6, k=2), lop.plans.FixedSet(size=64, batch=16))
    >>> batch = next(stream)
    >>> batch.inputs.shape, batch.targets.shape
    ((16, 6), (16,))
    """
    _check(task, plan, skills, steps, rank_order, start)
    import jax
    import jax.numpy as jnp

    from lopsided.core.keys import seed_words
    from lopsided.engines.members import BoundMember, law_of
    from lopsided.engines.program import training_batch
    from lopsided.engines.sampling import context_of
    from lopsided.skills.distributions import Uniform

    # Only what decides the samples; there is no model to validate.
    spec = Spec.model_construct(
        task=task, plan=plan, skills=skills or Uniform(), rank_order=rank_order, training_set=TrainingSet()
    )
    words = np.array(seed_words(seed), np.uint32)

    @jax.jit
    def at(step: Any, progress: Any) -> Batch:
        member = context_of(BoundMember(spec, law_of(spec), jnp.asarray(words)))
        return training_batch(member, plan.draw(member.plan, step), member.law(progress), None)

    step = start
    while steps is None or step < steps:
        yield jax.tree.map(np.asarray, at(jnp.int32(step), jnp.float32(step / steps if steps else 0.0)))
        step += 1


def _check(task: Task, plan: Any, skills: Skills | None, steps: Any, rank_order: str, start: Any) -> None:
    from lopsided.core.task import n_skills

    if rank_order not in get_args(RankOrder):
        raise unknown("rank_order", rank_order, get_args(RankOrder))
    for name, value in (("start", start), ("steps", 0 if steps is None else steps)):
        if not isinstance(value, (int, np.integer)) or value < 0:
            raise InputError(f"batches: {name} = {value!r}: a whole number of at least 0")
    if not isinstance(task, Task):
        raise InputError(f"batches: task {task!r} is none; valid is for example lop.tasks.SparseParity(d=6, k=2)")
    if not isinstance(plan, SampledPlan):
        said = getattr(plan, "name", plan)
        raise InputError(f"batches: plan {said!r} draws no samples; valid is for example lop.plans.Online(batch=32)")
    if isinstance(plan, Remembers) or streams_of(plan):
        raise InputError(f"batches: plan {plan.name!r} follows a model that it trains; only `run` can")
    count = n_skills(task)
    if skills is not None and not count:
        raise InputError(f"skills: task {task.name!r} has no skills to shape")
    if isinstance(skills, Listens):
        raise InputError(f"skills: {skills.name!r} listens to a model that it trains; only `run` can")
    if steps is None and skills is not None and not skills.schedule(count).constant:
        raise InputError(f"steps: skills {skills.name!r} move during training, say how long it is")
    if steps is not None:
        plan.check_steps(steps)

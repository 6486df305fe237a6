"""Members of an ensemble: one seed of one spec, the numbers in which they differ, and what training changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from lopsided.core.keys import seed_words
from lopsided.core.spec import Evaluation, Spec
from lopsided.skills.path import SkillPath


class Member(NamedTuple):
    """One seed of one spec."""

    spec: Spec
    seed: int


class Dials(NamedTuple):
    """The numbers in which members differ."""

    seed: Any  # (2,) uint32
    spec: dict[str, Any]
    path: SkillPath | None


class State(NamedTuple):
    """What training changes. `diverged` is the step whose loss was not finite, or -1; `kept` are checkpoints for probes
    that look back, (C, P), or nothing; `plan` is what a plan that listens remembers."""

    params: Any
    optimizer: Any
    diverged: Int[Array, ""]
    loss_sum: Float[Array, ""]
    loss_count: Int[Array, ""]
    kept: Any = ()
    plan: Any = ()


def dials_of(members: Sequence[Member], float_type: type = np.float32) -> Dials:
    """Stacked dials of members that share a skeleton, every leaf (E, ...) in NumPy."""
    rows = []
    for spec, seed in members:
        path = spec.skills.path(spec.task.n_skills) if spec.task.n_skills else None
        rows.append(Dials(np.array(seed_words(seed), np.uint32), spec.dials(), path))
    return jax.tree.map(lambda *leaves: np.stack([_narrow(leaf, float_type) for leaf in leaves]), *rows)


def _narrow(leaf: Any, float_type: type) -> np.ndarray:
    a = np.asarray(leaf)
    return a.astype({"f": float_type, "i": np.int32, "u": np.uint32, "b": np.bool_}[a.dtype.kind])


def state_shape(program: Any) -> State:
    """Shapes and dtypes of one member's state; nothing is computed."""
    with program.precision():
        one = jax.tree.map(lambda x: x[0], dials_of([Member(program.representative, 0)], program.float_type))
        return jax.eval_shape(program.init, one)


def group_key(spec: Spec) -> str:
    """Specs with equal keys run in one ensemble. Skill distributions are numbers, so they never split one."""
    return spec.model_copy(update={"skills": Evaluation()}).skeleton()


def tree_bytes(tree: Any) -> int:
    """Bytes of a pytree of arrays (or of their shapes)."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))

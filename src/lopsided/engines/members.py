"""Members of an ensemble: the numbers in which they differ, the spec that each is bound to, what training changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int

from lopsided.core.code import own_digest
from lopsided.core.engine import Member
from lopsided.core.evaluation import Evaluation
from lopsided.core.keys import seed_words
from lopsided.core.skills import Listens
from lopsided.core.spec import Spec
from lopsided.core.task import n_skills
from lopsided.numerics.means import RunningMean
from lopsided.skills.listening import Listening
from lopsided.skills.schedule import SkillSchedule

Law = SkillSchedule | Listening
"""The distribution over ranks, or over skills, that a member draws by."""


class TracedMember(NamedTuple):
    """The numbers in which members differ: all that a compiled program is handed of a member."""

    seed: Any  # (2,) uint32
    values: dict[str, Any]
    law: Law | None


class BoundMember(NamedTuple):
    """A member as its functions read it.

    `spec` has the member's own numbers in every traced field. Its skill distribution is that of the ensemble's template
    and is not to be read: distributions are numbers, of which the member's own are `law`.
    """

    spec: Spec
    law: Law | None
    """None where the task has no skills."""
    seed: Any  # (2,) uint32

    @property
    def listens(self) -> Listening | None:
        """The law, if it moves with how training goes."""
        return self.law if isinstance(self.law, Listening) else None


class State(NamedTuple):
    """What training changes. `diverged` is the step whose loss was not finite, or -1; `loss` is the
    mean training loss since the last evaluation; `kept` are checkpoints for probes
    that look back, (C, P), or nothing; `plan` is the memory of a plan that remembers; `heard` is that of a skill
    distribution that listens."""

    params: Any
    optimizer: Any
    diverged: Int[Array, ""]
    loss: RunningMean
    kept: Any = ()
    plan: Any = ()
    heard: Any = ()


def traced_of(members: Sequence[Member], float_type: type = np.float32) -> TracedMember:
    """The members' numbers, stacked: every leaf (E, ...) in NumPy. The members share a static key."""
    rows = []
    for spec, seed in members:
        rows.append(TracedMember(np.array(seed_words(seed), np.uint32), spec.traced_values(), law_of(spec)))
    return jax.tree.map(lambda *leaves: np.stack([_narrow(leaf, float_type) for leaf in leaves]), *rows)


def bound(template: Spec, traced: TracedMember) -> BoundMember:
    """The member of these numbers; `template` is any spec of its static key. Functions of a member read this, and no
    other spec."""
    return BoundMember(template.with_traced(traced.values), traced.law, traced.seed)


def law_of(spec: Spec) -> Law | None:
    """The law of a spec's skills; None where its task has none."""
    skills = n_skills(spec.task)
    return spec.skills.schedule(skills) if skills else None


def _narrow(leaf: Any, float_type: type) -> np.ndarray:
    a = np.asarray(leaf)
    return a.astype({"f": float_type, "i": np.int32, "u": np.uint32, "b": np.bool_}[a.dtype.kind])


def program_key(spec: Spec) -> str:
    """Specs with equal keys run in one ensemble. Skill distributions are numbers: only those that listen to training
    split one. Of parts from outside this package the code counts, so that no program compiled of a class before it was
    edited (a cell run again, `importlib.reload`) trains the class of the same name after it."""
    listens = isinstance(spec.skills, Listens)
    own = own_digest(spec.task, spec.model, spec.plan, spec.optimizer, *spec.probes, *[spec.skills] * listens)
    said = f"+ {spec.skills.name}" if listens else ""
    return f"{spec.model_copy(update={'skills': Evaluation()}).static_key()}{said}{own}"


def tree_bytes(tree: Any) -> int:
    """Bytes of a pytree of arrays (or of their shapes)."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))

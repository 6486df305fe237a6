"""Phases over nested subsets: S_1 within S_2 within ... (paper C, multi-phase training)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from pydantic import Field, model_validator

from lopsided.core.config import TRACED, Config
from lopsided.core.errors import InputError
from lopsided.core.keys import Key, below, words
from lopsided.core.plan import Draw, FixedSets, MayRelabel
from lopsided.plans._counting import expected_distinct
from lopsided.plans.simple import MiniBatches, Size

Labels = Literal["true", "random"]


class Phase(Config):
    """`steps` steps on, or `epochs` times through, the first `size` samples; `share` instead of `size` is a fraction of
    the samples that online training sees. (With neither steps nor epochs the last phase takes what is left.)

    With random labels, each sample of the phase keeps one label that has nothing to do with the task.
    """

    later: ClassVar[frozenset[str]] = frozenset({"labels", "epochs"})

    steps: Annotated[Annotated[int, Field(ge=1)] | None, TRACED] = None
    size: Annotated[Size | None, TRACED] = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    epochs: Annotated[float, Field(gt=0, le=1e6)] | None = None
    labels: Labels = "true"

    @model_validator(mode="after")
    def _one_of(self) -> Phase:
        if (self.size is None) == (self.share is None):
            raise InputError("a phase takes either size or share")
        if self.steps is not None and self.epochs is not None:
            raise InputError("a phase takes either steps or epochs")
        return self


class Phases(MiniBatches, FixedSets, MayRelabel):
    """Mini-batches drawn with replacement from a subset that grows from phase to phase.

    Shares are of the data that an online run of `online_steps` steps sees (of this run's own number of steps if not
    given). Shares, epochs and a last phase of what is left become sizes and steps when the plan is made.
    """

    later: ClassVar[frozenset[str]] = frozenset({"online_steps"})

    name: Literal["phases"] = "phases"
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=64)]
    online_steps: Annotated[int, Field(ge=1, le=10**9)] | None = None

    @model_validator(mode="after")
    def _sized_and_nested(self) -> Phases:
        """Shares become sizes once, here, so that a spec has one canonical form."""
        shared, by_epochs = any(p.share for p in self.phases), any(p.epochs for p in self.phases)
        rest = any(p.steps is None and p.epochs is None for p in self.phases)
        if self.online_steps is None and (rest or (shared and by_epochs)):
            raise InputError("phases: online_steps is needed for shares beside epochs, and for a phase without steps")
        online = self.online_steps or sum(p.steps or 0 for p in self.phases)
        phases: list[Phase] = []
        for i, p in enumerate(self.phases):
            size = max(1, round(p.share * online * self.batch)) if p.share else p.size or 1
            steps = p.steps
            if size >= 2**31:
                raise InputError(f"phases: phase {i + 1} has {size} samples; fewer than 2^31")
            if p.epochs is not None:
                steps = max(1, round(p.epochs * size / self.batch))
            if steps is None:
                steps = online - sum(q.steps or 0 for q in phases)
                if i < len(self.phases) - 1 or steps < 1:
                    raise InputError(
                        f"phases: phase {i + 1} takes steps or epochs; only the last may take what is left"
                    )
            phases.append(p.model_copy(update={"size": size, "share": None, "steps": steps, "epochs": None}))
        nested([p.size or 0 for p in phases])
        object.__setattr__(self, "phases", tuple(phases))
        object.__setattr__(self, "online_steps", None)
        return self

    @property
    def fresh(self) -> bool:
        return False

    def draw(self, key: Key, step: Any, memory: Any = ()) -> Draw:
        sizes = jnp.stack([jnp.asarray(p.size, jnp.uint32) for p in self.phases])
        now = current(self.phases, step)
        bits = words(key, step, self.batch)
        return Draw(below(bits, sizes[now]), random=random_labels(self.phases, now), subset=now)

    @property
    def relabels(self) -> bool:
        return any(p.labels == "random" for p in self.phases)

    def sizes(self) -> tuple[Any, ...]:
        return tuple(0 if p.size is None else p.size for p in self.phases)

    def distinct(self, steps: int) -> float:
        ends = np.cumsum([p.steps or 0 for p in self.phases])
        done = np.diff(np.minimum(steps, [0, *ends])) * self.batch
        return expected_distinct([p.size or 0 for p in self.phases], done.tolist())

    def check_steps(self, steps: int) -> None:
        add_up(self.phases, steps)


def nested(sizes: Sequence[int]) -> None:
    """Raise `InputError` if a subset does not contain the one before."""
    if any(a > b for a, b in pairwise(sizes)):
        raise InputError(f"phases: sizes never shrink (each subset contains the one before), got {list(sizes)}")


def add_up(phases: Sequence[Any], steps: int) -> None:
    """Raise `InputError` if the phases do not fill the run."""
    total = sum(p.steps for p in phases)
    if total != steps:
        raise InputError(f"phases: their steps add up to {total}, but steps = {steps}")


def current(phases: Sequence[Any], step: Any) -> Any:
    """Number of the phase that `step` belongs to."""
    ends = jnp.cumsum(jnp.stack([jnp.asarray(p.steps, jnp.int32) for p in phases]))
    return jnp.minimum(jnp.searchsorted(ends, step, side="right"), len(phases) - 1)


def random_labels(phases: Sequence[Any], now: Any) -> Any:
    """Whether phase `now` has random labels; None if none has."""
    random = [p.labels == "random" for p in phases]
    return jnp.array(random)[now] if any(random) else None

"""What a shape of data is: how often each skill comes, and which part of the examples is drawn from, over a run.

The same objects are read by a laboratory's spec (`Spec(shape=...)`, which knows skills by their rank) and by a stream
of somebody's own data (`lopsided.data.Stream`, which knows how many examples each skill has). Shapes are joined with
`&`: frequencies multiply, and subsets say from what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lopsided.core.errors import InputError
from lopsided.shape.path import Path, product

ONLY_DATA = "shape: {!r} is a shape of data that are there, and a task's skills have ranks alone"


class Skilled(Protocol):
    """What a law reads of somebody's data: `lopsided.data.Groups`."""

    n_skills: int
    names: list[Any]
    size: np.ndarray
    """(R,) examples of each skill, or its tokens."""

    def ranks(self, by: str, seed: int) -> np.ndarray:
        """(R,) rank of each skill, from 1."""
        ...


class Shape:
    """A law over skills, a schedule of subsets, or both.

    >>> import lopsided.data as ld
    >>> ld.PowerLaw(1.0) & ld.Phases(until=(0.3, 1), shares=(0.05, 1))
    Product(factors=(PowerLaw(alpha=1.0, by='frequency'), Phases(until=(0.3, 1), shares=(0.05, 1), of='data')))
    """

    def __and__(self, other: Shape) -> Shape:
        return Product((*factors(self), *factors(other)))

    @property
    def reads_sizes(self) -> bool:
        """Whether it has to know how many examples a skill has."""
        return False

    @property
    def has_subsets(self) -> bool:
        """Whether it says which part of the examples is drawn from."""
        return False

    def edges(self) -> Sequence[float]:
        """Shares of the run, from 0 on, at which something changes."""
        return (0.0,)

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray | None:
        """(R,) how often each skill comes between two shares of the run, up to a factor; None: it does not say."""
        return None

    def subset(self, at: float, examples: int, total: int) -> float:
        """The share of every skill's examples that is drawn from at a share of the run."""
        return 1.0

    def path(self, n_skills: int) -> Path:
        """The law over ranks 1 to `n_skills` of a task, which has no examples to count. Raises `InputError` for a shape
        that only data have."""
        raise InputError(ONLY_DATA.format(self))

    def in_spec(self) -> dict[str, Any]:
        """The law as a spec's JSON has it: its field `skills`. Raises `InputError` for a shape that only data have."""
        raise InputError(ONLY_DATA.format(self))


@dataclass(frozen=True)
class Product(Shape):
    """Several shapes at once."""

    factors: tuple[Shape, ...]

    @property
    def reads_sizes(self) -> bool:
        return any(factor.reads_sizes for factor in self.factors)

    @property
    def has_subsets(self) -> bool:
        return any(factor.has_subsets for factor in self.factors)

    def edges(self) -> Sequence[float]:
        return sorted({edge for factor in self.factors for edge in factor.edges()})

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray | None:
        found = [factor.weights(groups, begin, end, seed) for factor in self.factors]
        said = [w for w in found if w is not None]
        return np.prod(said, axis=0) if said else None

    def subset(self, at: float, examples: int, total: int) -> float:
        return float(np.prod([factor.subset(at, examples, total) for factor in self.factors]))

    def path(self, n_skills: int) -> Path:
        return product([factor.path(n_skills) for factor in self.factors])

    def in_spec(self) -> dict[str, Any]:
        return {"name": "product", "factors": [factor.in_spec() for factor in self.factors]}


def factors(shape: Any) -> tuple[Shape, ...]:
    """The shapes that a product is of, or the one shape. Raises `InputError` for what is no shape."""
    shape = as_shape(shape)
    return shape.factors if isinstance(shape, Product) else (shape,)


def as_shape(shape: Any) -> Shape:
    """A shape, or the law of a spec's `skills`. Raises `InputError` for anything else."""
    law = getattr(shape, "law", None)
    found = law() if callable(law) else shape
    if not isinstance(found, Shape):
        raise InputError(f"shape: {shape!r} is none; valid are the classes of lopsided.data, joined with &")
    return found

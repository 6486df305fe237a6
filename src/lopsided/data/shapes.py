"""Shapes of data: how often each skill comes, and which part of the examples is drawn from, over a run.

The laws are those of `lopsided.skills` and of the plan `phases`. Shapes are combined with `&`: frequencies multiply,
and phases say from which subset is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.words import U, bits, key

By = Literal["frequency", "random", "given"]


class Shape:
    """A law over skills, a schedule of subsets, or both."""

    def __and__(self, other: Shape) -> Shape:
        return Product((*_factors(self), *_factors(other)))

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

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray | None:
        """(R,) how often each skill comes between two shares of the run, up to a factor; None: it does not say."""
        return None

    def subset(self, at: float, examples: int, total: int) -> float:
        """The share of every skill's examples that is drawn from at a share of the run."""
        return 1.0


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

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray | None:
        found = [factor.weights(groups, begin, end, seed) for factor in self.factors]
        said = [w for w in found if w is not None]
        return np.prod(said, axis=0) if said else None

    def subset(self, at: float, examples: int, total: int) -> float:
        return float(np.prod([factor.subset(at, examples, total) for factor in self.factors]))


def _factors(shape: Shape) -> tuple[Shape, ...]:
    if not isinstance(shape, Shape):
        raise InputError(f"shape: {shape!r} is none; valid are the classes of lopsided.data, joined with &")
    return shape.factors if isinstance(shape, Product) else (shape,)


@dataclass(frozen=True)
class Uniform(Shape):
    """Every skill equally often."""

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return np.ones(groups.n_skills)


@dataclass(frozen=True)
class AsIs(Shape):
    """Every skill as often as in the data."""

    reads_sizes = property(lambda self: True)

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return groups.size.astype(float)


@dataclass(frozen=True)
class PowerLaw(Shape):
    """p_r ∝ r^-alpha. Ranks are given by frequency in the data (the most frequent first), at random, or in the order
    of the labels."""

    alpha: float
    by: By = "frequency"

    reads_sizes = property(lambda self: self.by == "frequency")

    def __post_init__(self) -> None:
        require_exponent("alpha", self.alpha)
        require_ranks(self.by)

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return _ranks(groups, self.by, seed) ** -float(self.alpha)


@dataclass(frozen=True)
class Binned(Shape):
    """Ranks cut into bins of equal size; bin b has mass ∝ b^-alpha, skills inside a bin are equally frequent."""

    alpha: float
    bins: int
    by: By = "frequency"

    reads_sizes = property(lambda self: self.by == "frequency")

    def __post_init__(self) -> None:
        require_exponent("alpha", self.alpha)
        require_ranks(self.by)
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 1:
            raise InputError(f"bins = {self.bins!r}: at least 1")

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        if self.bins > groups.n_skills:
            raise InputError(f"bins = {self.bins}: at most the number of skills, {groups.n_skills}")
        found = np.empty(groups.n_skills)
        order = np.argsort(_ranks(groups, self.by, seed))
        for b, part in enumerate(np.array_split(order, self.bins)):
            found[part] = (b + 1.0) ** -self.alpha / len(part)
        return found


@dataclass(frozen=True)
class Temperature(Shape):
    """Every skill ∝ (its number of examples)^(1/T): T = 1 is `AsIs`, a large T nearly `Uniform`."""

    T: float

    reads_sizes = property(lambda self: True)

    def __post_init__(self) -> None:
        if not (isinstance(self.T, (int, float, np.number)) and np.isfinite(self.T) and self.T > 0):
            raise InputError(f"T = {self.T!r}: above 0")

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return np.where(groups.size > 0, groups.size.astype(float) ** (1 / self.T), 0.0)


@dataclass(frozen=True, eq=False)
class Weights(Shape):
    """Given weights, in the order of `groups.names`, or by name: what another method found (DoReMi, Olmix, ...)."""

    given: Sequence[float] | Mapping[Any, float] = field(default=())

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return _by_skill(self.given, groups)


@dataclass(frozen=True, eq=False)
class Curriculum(Shape):
    """Given weights for each stretch of the run; stretch i ends at the share `until[i]`, the last one at 1."""

    until: Sequence[float]
    given: Sequence[Sequence[float] | Mapping[Any, float]]

    def __post_init__(self) -> None:
        require_until(self.until, len(self.given), "given")

    def edges(self) -> Sequence[float]:
        return (0.0, *self.until[:-1])

    def weights(self, groups: Groups, begin: float, end: float, seed: int) -> np.ndarray:
        return _by_skill(self.given[int(np.searchsorted(self.until[:-1], begin, side="right"))], groups)


def _ranks(groups: Groups, by: By, seed: int) -> np.ndarray:
    """(R,) rank of each skill, from 1."""
    if by == "given":
        return np.arange(1.0, groups.n_skills + 1)
    number = np.arange(groups.n_skills)
    first = -groups.size if by == "frequency" else bits(key(seed, "rank order"), number.astype(U))
    ranks = np.empty(groups.n_skills)
    ranks[np.lexsort((number, first))] = np.arange(1.0, groups.n_skills + 1)
    return ranks


def _by_skill(given: Sequence[float] | Mapping[Any, float], groups: Groups) -> np.ndarray:
    if isinstance(given, Mapping):
        strange = [name for name in given if name not in groups.names]
        if strange:
            raise InputError(
                f"weights: no skill is named {strange[0]!r}; there are {', '.join(map(str, groups.names[:9]))}"
            )
        return np.array([float(given.get(name, 0.0)) for name in groups.names])
    found = np.asarray(given, float)
    if found.shape != (groups.n_skills,):
        raise InputError(f"weights: {found.shape} numbers for {groups.n_skills} skills")
    return found


def require_exponent(name: str, value: float) -> None:
    if not isinstance(value, (int, float, np.number)) or not 0 <= value <= 20:
        raise InputError(f"{name} = {value!r}: between 0 and 20")


def require_ranks(by: str) -> None:
    if by not in ("frequency", "random", "given"):
        raise InputError(f"by = {by!r}: valid are frequency, random, given")


def require_until(until: Sequence[float], count: int, what: str) -> None:
    if np.ndim(until) != 1:
        raise InputError(f"until = {until!r}: a list of shares of the run, one for each of {what}")
    rising = list(until) == sorted(set(until)) and len(until) and until[0] > 0
    if not rising or until[-1] != 1 or len(until) != count:
        raise InputError(f"until = {tuple(until)}: rising shares of the run that end at 1, one for each of {what}")

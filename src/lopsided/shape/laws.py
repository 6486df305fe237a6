"""Laws: how often each skill comes. Those over ranks are the same for a task's skills and for somebody's data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from lopsided.core.errors import InputError
from lopsided.shape.path import Path, binned, fixed, power, tempered, two_levels
from lopsided.shape.shape import Shape, Skilled

By = Literal["frequency", "random", "given"]
NAMELESS = "weights: a task's skills have no names; give a list, in the order of ranks"
STAGES = 64
"""A law that moves does so in so many steps, in data of one's own."""


@dataclass(frozen=True)
class Ranked(Shape):
    """A law over ranks. In data, ranks are given by frequency (the most frequent skill first), at random, or in the
    order of the labels; in a spec, by its `rank_order`."""

    @abstractmethod
    def path(self, n_skills: int) -> Path:
        """The law over ranks 1 to `n_skills`."""

    @property
    def reads_sizes(self) -> bool:
        return getattr(self, "by", "given") == "frequency"

    def edges(self) -> Sequence[float]:
        path = self.path(2)
        return (0.0,) if path.constant else steps(path.begin, path.finish)

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        logits = self.path(groups.n_skills).logits((begin + end) / 2)
        return np.exp(logits - logits.max())[groups.ranks(getattr(self, "by", "given"), seed).astype(int) - 1]


@dataclass(frozen=True)
class Uniform(Ranked):
    """Every skill equally often."""

    def path(self, n_skills: int) -> Path:
        return power(n_skills, 0.0)

    def in_spec(self) -> dict[str, Any]:
        return {"name": "uniform"}


@dataclass(frozen=True)
class PowerLaw(Ranked):
    """p_r ∝ r^-alpha. Ranks are given by frequency in the data (the most frequent first), at random, or in the order
    of the labels.

    >>> import lopsided.data as ld
    >>> ld.PowerLaw(1.0).weights(ld.Groups([*"aaabbc"]), 0, 0, seed=0).round(2).tolist()
    [1.0, 0.5, 0.33]
    """

    alpha: float
    by: By = "frequency"

    def __post_init__(self) -> None:
        require_exponent("alpha", self.alpha)
        require_ranks(self.by)

    def path(self, n_skills: int) -> Path:
        return power(n_skills, self.alpha)

    def in_spec(self) -> dict[str, Any]:
        return {"name": "power-law", "alpha": self.alpha}


@dataclass(frozen=True)
class Binned(Ranked):
    """Ranks cut into bins of equal size; bin b has mass ∝ b^-alpha, skills inside a bin are equally frequent."""

    alpha: float
    bins: int
    by: By = "frequency"

    def __post_init__(self) -> None:
        require_exponent("alpha", self.alpha)
        require_ranks(self.by)
        if not isinstance(self.bins, (int, np.integer)) or self.bins < 1:
            raise InputError(f"bins = {self.bins!r}: at least 1")

    def edges(self) -> Sequence[float]:
        return (0.0,)

    def path(self, n_skills: int) -> Path:
        return binned(n_skills, self.alpha, self.bins)

    def in_spec(self) -> dict[str, Any]:
        return {"name": "binned-power-law", "alpha": self.alpha, "bins": int(self.bins)}


@dataclass(frozen=True)
class Anneal(Ranked):
    """A power law whose exponent moves linearly from `start` to `end` between two shares of the run: a `Blend` of two
    power laws."""

    start: float = 1.5
    end: float = 0.0
    begin: float = 0.2
    finish: float = 0.9
    by: By = "frequency"

    def __post_init__(self) -> None:
        require_exponent("start", self.start)
        require_exponent("end", self.end)
        require_ranks(self.by)
        require_way(self.begin, self.finish)

    def path(self, n_skills: int) -> Path:
        return power(n_skills, self.start, self.end, self.begin, self.finish)

    def in_spec(self) -> dict[str, Any]:
        moving = {"start": self.start, "end": self.end, "begin": self.begin, "finish": self.finish}
        return {"name": "annealed", **moving}


@dataclass(frozen=True)
class TwoLevel(Ranked):
    """A share `heavy` of the skills (at least one of them) has the mass `mass`, all others share the rest; between the
    shares `begin` and `finish` of the run the law fades to uniform if `end` is 0: p^e, e from 1 to `end`."""

    heavy: float = 0.1
    mass: float = 2 / 3
    end: float = 1.0
    begin: float = 0.0
    finish: float = 1.0
    by: By = "frequency"

    def __post_init__(self) -> None:
        for name in ("heavy", "mass"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 < value < 1:
                raise InputError(f"{name} = {value!r}: between 0 and 1")
        if not 0 <= self.end <= 1:
            raise InputError(f"end = {self.end!r}: between 0 and 1")
        require_ranks(self.by)
        require_way(self.begin, self.finish)

    def path(self, n_skills: int) -> Path:
        return two_levels(n_skills, self.heavy, self.mass, self.end, self.begin, self.finish)

    def in_spec(self) -> dict[str, Any]:
        levels = {"heavy": self.heavy, "mass": self.mass}
        return {"name": "two-level", **levels, "end": self.end, "begin": self.begin, "finish": self.finish}


@dataclass(frozen=True)
class AsIs(Shape):
    """Every skill as often as in the data."""

    @property
    def reads_sizes(self) -> bool:
        return True

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        return groups.size.astype(float)


@dataclass(frozen=True)
class Temperature(Shape):
    """Every skill ∝ (its number of examples)^(1/T): T = 1 is `AsIs`, a large T nearly `Uniform`. Of another law `of`,
    p^(1/T)."""

    T: float
    of: Shape = AsIs()

    def __post_init__(self) -> None:
        if not (isinstance(self.T, (int, float, np.number)) and np.isfinite(self.T) and self.T > 0):
            raise InputError(f"T = {self.T!r}: above 0")
        require_law(self.of)

    @property
    def reads_sizes(self) -> bool:
        return self.of.reads_sizes

    def edges(self) -> Sequence[float]:
        return self.of.edges()

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        found = self.of.weights(groups, begin, end, seed)
        found = groups.size.astype(float) if found is None else np.asarray(found, float)
        with np.errstate(divide="ignore"):  # what has no examples stays at 0
            return np.where(groups.size > 0, found ** (1 / self.T), 0.0)

    def path(self, n_skills: int) -> Path:
        return tempered(self.of.path(n_skills), self.T)

    def in_spec(self) -> dict[str, Any]:
        return {"name": "temperature", "T": self.T, "of": self.of.in_spec()}


@dataclass(frozen=True, eq=False)
class Weights(Shape):
    """Given weights, in the order of `groups.names`, or by name: what another method found (DoReMi, Olmix, ...). In a
    spec, in the order of ranks.

    >>> import lopsided.data as ld
    >>> stream = ld.Stream(ld.Groups([*"ab"] * 50), ld.Weights({"a": 0.9, "b": 0.1}), total=1000)
    """

    given: Sequence[float] | Mapping[Any, float] = field(default=())

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        return _by_skill(self.given, groups)

    def path(self, n_skills: int) -> Path:
        if isinstance(self.given, Mapping):
            raise InputError(NAMELESS)
        given = np.asarray(self.given, float)
        if given.shape != (n_skills,) or not (np.isfinite(given) & (given > 0)).all():
            raise InputError(f"weights: {n_skills} numbers above 0, one for each rank, not {given.shape}")
        return fixed(given)

    def in_spec(self) -> dict[str, Any]:
        if isinstance(self.given, Mapping):
            raise InputError(NAMELESS)
        return {"name": "weights", "given": [float(w) for w in self.given]}


@dataclass(frozen=True, eq=False)
class Curriculum(Shape):
    """Given weights for each stretch of the run; stretch i ends at the share `until[i]`, the last one at 1."""

    until: Sequence[float]
    given: Sequence[Sequence[float] | Mapping[Any, float]]

    def __post_init__(self) -> None:
        require_until(self.until, len(self.given), "given")

    def edges(self) -> Sequence[float]:
        return (0.0, *self.until[:-1])

    def weights(self, groups: Skilled, begin: float, end: float, seed: int) -> np.ndarray:
        return _by_skill(self.given[int(np.searchsorted(self.until[:-1], begin, side="right"))], groups)


def steps(begin: float, finish: float) -> list[float]:
    """Shares of the run at which a law that moves between `begin` and `finish` takes its steps."""
    return sorted({0.0, *np.linspace(begin, finish, STAGES + 1).tolist()} - {1.0})


def _by_skill(given: Sequence[float] | Mapping[Any, float], groups: Skilled) -> np.ndarray:
    if isinstance(given, Mapping):
        strange = [name for name in given if name not in groups.names]
        if strange:
            raise InputError(
                f"weights: no skill is named {strange[0]!r}; there are {', '.join(map(str, groups.names[:9]))}"
            )
        given = [given.get(name, 0.0) for name in groups.names]
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError):
        raise InputError(f"weights: {given!r:.80}: valid are numbers, one for each skill") from None
    if found.shape != (groups.n_skills,):
        raise InputError(f"weights: {found.shape} numbers for {groups.n_skills} skills")
    return found


def require_law(law: object) -> None:
    """Raise `InputError` for what is no law over skills."""
    if not isinstance(law, Shape) or law.has_subsets:
        raise InputError(f"shape: {law!r} is no law over skills; subsets are joined with &")


def require_exponent(name: str, value: float) -> None:
    """Raise `InputError` for what is no exponent."""
    if not isinstance(value, (int, float, np.number)) or not 0 <= value <= 20:
        raise InputError(f"{name} = {value!r}: between 0 and 20")


def require_ranks(by: str) -> None:
    """Raise `InputError` for an unknown order of ranks."""
    if by not in ("frequency", "random", "given"):
        raise InputError(f"by = {by!r}: valid are frequency, random, given")


def require_way(begin: float, finish: float) -> None:
    """Raise `InputError` for two shares of the run that are none, or not in order."""
    if not 0 <= begin < finish <= 1:
        raise InputError(f"begin = {begin}, finish = {finish}: valid is 0 <= begin < finish <= 1")


def require_until(until: Sequence[float], count: int, what: str) -> None:
    """Raise `InputError` for ends of stretches that do not rise to 1."""
    if np.ndim(until) != 1:
        raise InputError(f"until = {until!r}: a list of shares of the run, one for each of {what}")
    rising = list(until) == sorted(set(until)) and len(until) and until[0] > 0
    if not rising or until[-1] != 1 or len(until) != count:
        raise InputError(f"until = {tuple(until)}: rising shares of the run that end at 1, one for each of {what}")

"""Frequencies of your own skills that follow your model's losses."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.groups import Groups
from lopsided.data.state import VERSION, fingerprint, position_of
from lopsided.data.stream import Stream
from lopsided.data.view import BatchSampler
from lopsided.shape import rules
from lopsided.shape.laws import Uniform, Weights
from lopsided.shape.shape import Shape

UNIFORM = Uniform()
NO_GROUPS = "groups: valid are Groups(labels), whose skills have losses of their own"
LawChange = tuple[int, list[float]] | None
"""(first position, frequencies of all skills from there on), or nothing to change."""


class ByLoss(BatchSampler):
    """Batches by a law over skills that follows the losses that are reported.

    `report` on rank 0 after every step, `follow` on all ranks before the next batch; save rank 0's state. The law
    changes after every `every` reports, and a state holds a line for each change. The visits of examples go on.
    """

    def __init__(
        self,
        groups: Groups,
        total: int,
        batch: int,
        rule: tuple[Any, ...],
        every: int = 50,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
        first: Shape = UNIFORM,
    ):
        """`first`: the law before the first change."""
        if not isinstance(groups, Groups):
            raise InputError(NO_GROUPS)
        if not isinstance(every, (int, np.integer)) or every < 1:
            raise InputError(f"every = {every!r}: reports between two changes of the law, at least 1")
        self._first = Stream(groups, first, total, seed)
        super().__init__(self._first, batch, rank, world)
        self.groups, self.rule, self.every = groups, rule, int(every)
        self.restart()

    @abstractmethod
    def _begin(self) -> list[np.ndarray]:
        """What the rule has heard before the first report: arrays (R,)."""

    @abstractmethod
    def _hear(self, loss: np.ndarray, count: np.ndarray) -> None:
        """Hear the sums (R,) of the losses and of the samples that need each skill."""

    @abstractmethod
    def _law(self) -> np.ndarray:
        """(R,) frequencies by what was heard."""

    @property
    def frequencies(self) -> np.ndarray:
        """(R,) how often each skill is drawn now, in the order of `groups.names`."""
        if self.log:
            return np.array(self.log[-1][1])
        found = self._first.shape.weights(self.groups, 0.0, 0.0, self._first.seed)
        assert found is not None
        return found / found.sum()

    def report(self, indices: ArrayLike, losses: ArrayLike) -> LawChange:
        """Hear the losses (B,) of the examples `indices` (B,) of a step, those of all ranks. The next law, or None
        where it stays. Raises `InputError` for losses that are no numbers."""
        which, found = np.asarray(indices, np.int64), np.asarray(losses, np.float64)
        if which.ndim != 1 or which.shape != found.shape or not np.isfinite(found).all():
            raise InputError(f"losses: a finite number for each of the {which.size} examples, not {found.shape}")
        if which.size and not 0 <= which.min() <= which.max() < self.groups.n_examples:
            raise InputError(f"indices: valid are examples 0 to {self.groups.n_examples - 1:,}")
        cells = self.groups.cell[which]
        sums = [np.bincount(cells, w, self.groups.n_cells) for w in (found, np.ones(which.size))]
        self._hear(*(sums if self.groups.uses is None else map(self.groups.uses.of_cells, sums)))
        self._reports += 1
        return None if self._reports % self.every else (self.position, self._law().tolist())

    def follow(self, decision: LawChange) -> None:
        """Do as was decided. Raises `InputError` for a decision about positions that were handed out already."""
        if decision is None:
            return
        try:
            position, law = operator.index(decision[0]), [float(p) for p in decision[1]]
        except (TypeError, ValueError, IndexError):
            raise InputError(f"decision {decision!r:.80}: valid is what `report` gave") from None
        if self.log and law == self.log[-1][1] and position == self.log[-1][0]:
            return
        if position < self.position:
            raise InputError(f"decision at {position:,}: position {self.position:,} is handed out")
        if position < self.stream.total:
            if position:
                self._run = self._run.then(Weights(law), at=position).from_last()
            else:  # nothing came before
                self._run = Stream(self.groups, Weights(law), self._first.total, self._first.seed)
            self.log.append((position, law))

    def restart(self) -> None:
        """Begin again: a pass is over, and the next one begins as this one did."""
        self.position, self._reports, self._run = 0, 0, self._first
        self.log: list[tuple[int, list[float]]] = []
        """(first position, frequencies), one for each change so far."""
        self._heard = self._begin()

    def __iter__(self) -> Iterator[list[int]]:
        if self._over:
            self.restart()
        self._pass_begins()
        while self.position + self.batch <= self.stream.total:
            begin = self.position + self.rank * self.batch_size
            self.position += self.batch
            yield self._run.at(np.arange(begin, begin + self.batch_size)).tolist()
        self._pass_ends()

    def state_dict(self) -> dict[str, Any]:
        heard = [each.tolist() for each in self._heard]
        changes = [[position, list(law)] for position, law in self.log]
        named = {"position": self.position, "stream": self._name(), "order": VERSION}
        return {**named, "changes": changes, "heard": heard, "reports": self._reports}

    def _name(self) -> str:
        return fingerprint(type(self).__name__, self.rule, self.every, self._first.fingerprint)

    def load_state_dict(self, state: dict[str, Any], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of something else, unless that is allowed."""
        if not isinstance(state, dict) or not {"changes", "heard", "reports"} <= set(state):
            raise InputError(f"state: valid is what `state_dict()` of a {type(self).__name__} gave")
        position = position_of(state, self._name(), self.stream.total, allow_other)
        self.restart()
        for change in state["changes"]:
            self.follow((int(change[0]), list(change[1])))
        heard = [np.asarray(each, np.float32) for each in state["heard"]]
        self.position, self._reports, self._heard = position, int(state["reports"]), heard
        self._over = False


class LossProportional(ByLoss):
    """Skills as often as (the running mean loss of their samples)^`power`, over about `window` reports; the share
    `floor` is uniform: the law `loss-proportional` of the laboratory. `power` = 0 is uniform, a large one trains the
    worst skill alone. Raises `InputError` for settings that cannot be.

    >>> import lopsided.data as ld
    >>> sampler = ld.LossProportional(ld.Groups(["easy", "hard"] * 50), total=400, batch=10, every=1)
    >>> for indices in sampler:
    ...     losses = [3.0 if i % 2 else 1.0 for i in indices]  # of your step on these examples
    ...     sampler.follow(sampler.report(indices, losses))
    ...     if sampler.position == 200:
    ...         print(sampler.frequencies.round(1))
    [0.3 0.7]
    """

    def __init__(
        self,
        groups: Groups,
        total: int,
        batch: int,
        power: float = 1.0,
        floor: float = 0.1,
        window: float = 10.0,
        every: int = 50,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ):
        require_numbers(power=power, floor=floor, window=window)
        if not (-10 <= power <= 10 and 0 <= floor <= 1 and window >= 1):
            raise InputError(
                f"power = {power}, floor = {floor}, window = {window}: valid are a power from -10 to 10, a share, and "
                "at least one report"
            )
        self._rule = rules.LossProportional(power, floor, window)
        super().__init__(groups, total, batch, tuple(self._rule), every, seed, rank, world)

    def _begin(self) -> list[np.ndarray]:
        return list(self._rule.init(self.groups.n_skills, np))

    def _hear(self, loss: np.ndarray, count: np.ndarray) -> None:
        losses, counts = self._heard
        self._heard = [each.astype(np.float32) for each in self._rule.after(losses, counts, loss, count)]

    def _law(self) -> np.ndarray:
        losses, counts = (each.astype(np.float64) for each in self._heard)
        return self._rule.law(losses, counts, np)


class GroupDRO(ByLoss):
    """Skills by weights that grow by the factor exp(`rate` times their mean loss) at every report; the share `floor` is
    uniform: the law `group-dro` of the laboratory. Raises `InputError` for settings that cannot be.

    >>> import lopsided.data as ld
    >>> sampler = ld.GroupDRO(ld.Groups(["easy", "hard"] * 50), total=400, batch=10, rate=0.1, every=1)
    >>> sampler.follow(sampler.report([0, 1], [1.0, 3.0]))
    >>> sampler.frequencies.round(2).tolist()
    [0.46, 0.54]
    """

    def __init__(
        self,
        groups: Groups,
        total: int,
        batch: int,
        rate: float = 0.01,
        floor: float = 0.1,
        every: int = 50,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ):
        require_numbers(rate=rate, floor=floor)
        if not (0 <= rate <= 100 and 0 <= floor <= 1):
            raise InputError(f"rate = {rate}, floor = {floor}: valid are a rate from 0 to 100, and a share")
        self._rule = rules.GroupDRO(rate, floor)
        super().__init__(groups, total, batch, tuple(self._rule), every, seed, rank, world)

    def _begin(self) -> list[np.ndarray]:
        return [self._rule.init(self.groups.n_skills, np)]

    def _hear(self, loss: np.ndarray, count: np.ndarray) -> None:
        self._heard = [self._rule.after(self._heard[0], loss, count, np).astype(np.float32)]

    def _law(self) -> np.ndarray:
        return self._rule.law(self._heard[0].astype(np.float64), np)

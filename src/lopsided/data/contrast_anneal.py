"""A power law of your own skills whose exponent follows a contrast of your model's losses, which no shortcut fools."""

from __future__ import annotations

import numpy as np

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.by_loss import NO_GROUPS, ByLoss
from lopsided.data.groups import Groups
from lopsided.shape import rules
from lopsided.shape.laws import By, PowerLaw
from lopsided.shape.path import power


class ContrastAnneal(ByLoss):
    """A power law of exponent `start` that falls towards 0 while the loss is by more than the share `goal` below that
    of examples that need a skill of the rarest share `tail` of the ranks, and rises again while it is not: the law
    `contrast-annealed` of the laboratory. Unlike `SelfAnneal`, shortcuts do not fool it, and it needs no accuracy.

    The means are over about `window` reports. A loss below the share `floor` of the first one counts as that share: set
    it above what your loss cannot fall below. Raises `InputError` for settings that cannot be.

    >>> import lopsided.data as ld
    >>> sampler = ld.ContrastAnneal(ld.Groups([0, 1, 2, 3] * 50), total=8000, batch=10, every=10, by="given")
    >>> for indices in sampler:  # the frequent half is learned, so that the tail's turn comes
    ...     losses = [0.1 if i % 4 < 2 else 1.0 for i in indices]  # of your step on these examples
    ...     sampler.follow(sampler.report(indices, losses))
    ...     if sampler.position in (10, 7000):
    ...         print(round(sampler.exponent, 1))
    1.5
    0.0
    """

    def __init__(
        self,
        groups: Groups,
        total: int,
        batch: int,
        start: float = 1.5,
        goal: float = 0.2,
        window: float = 10.0,
        floor: float = 0.1,
        tail: float = 0.25,
        by: By = "frequency",
        every: int = 10,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ):
        require_numbers(start=start, goal=goal, window=window, floor=floor, tail=tail)
        if not (0 < start <= 20 and 0 < goal < 1 and window >= 1 and 0 <= floor <= 1 and 0 < tail <= 1):
            raise InputError(
                f"start = {start}, goal = {goal}, window = {window}, floor = {floor}, tail = {tail}: valid are an "
                "exponent above 0, a share between 0 and 1, at least one report, and two shares"
            )
        if not isinstance(groups, Groups):
            raise InputError(NO_GROUPS)
        self._rule = rules.Contrast(start, goal, window, floor, tail)
        first = PowerLaw(start, by)
        self._by_rank = np.argsort(groups.ranks(by, seed))
        super().__init__(groups, total, batch, (*self._rule, by), every, seed, rank, world, first)

    @property
    def exponent(self) -> float:
        """Exponent by what was heard so far; the law has it from its next change on."""
        return float(self._heard[0])

    def _begin(self) -> list[np.ndarray]:
        return [np.asarray(each) for each in self._rule.init(self.groups.n_skills, np)]

    def _hear(self, loss: np.ndarray, count: np.ndarray) -> None:
        heard = self._rule.after(tuple(self._heard), loss[self._by_rank], count[self._by_rank], np)
        self._heard = [np.asarray(each, np.float32) for each in heard]

    def _law(self) -> np.ndarray:
        found = np.empty(self.groups.n_skills)
        found[self._by_rank] = power(self.groups.n_skills, self.exponent).probabilities()
        return found

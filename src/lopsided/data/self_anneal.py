"""A power law of your own skills whose exponent follows your model's training accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.groups import Groups
from lopsided.data.steered import Decision, Steered, require_share
from lopsided.data.stream import Stream
from lopsided.shape import rules
from lopsided.shape.laws import By, PowerLaw

LEVELS = 31
"""Exponents between `start` and 0 that the law may have."""


class SelfAnneal(Steered):
    """Batches by a power law of exponent `start` that falls towards 0 while the training accuracy that is reported is
    above `goal`, and rises again while it is not: the law `self-annealed` of the laboratory, in 31 steps.

    `report` on rank 0 after every step, `follow` on all (see `lopsided.data.steered`); save the state of rank 0. The
    running mean is over about `window` reports. `chance`: accuracy of guesses, which counts as 0.

    >>> import lopsided.data as ld
    >>> sampler = ld.SelfAnneal(ld.Groups([*"aab"] * 40), total=400, batch=10)
    >>> for indices in sampler:
    ...     accuracy = 0.9  # of your step on these examples
    ...     sampler.follow(sampler.report(accuracy))
    >>> bool(sampler.exponent < 1.5)
    True
    """

    def __init__(
        self,
        groups: Groups | int,
        total: int,
        batch: int,
        start: float = 1.5,
        goal: float = 0.2,
        window: float = 10.0,
        chance: float = 0.0,
        by: By = "frequency",
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ):
        require_numbers(start=start, goal=goal, window=window, chance=chance)
        if not (0 < goal < 1 and window >= 1 and 0 <= chance < 1 and start > 0):
            raise InputError(
                f"start = {start}, goal = {goal}, window = {window}, chance = {chance}: valid are an exponent above 0, "
                "an accuracy between 0 and 1, at least one report, and an accuracy below 1"
            )
        exponents = np.linspace(start, 0.0, LEVELS)
        streams = [Stream(groups, PowerLaw(float(alpha), by=by), total, seed) for alpha in exponents]
        super().__init__(streams, batch, rank, world, (start, goal, window, chance))
        self.start, self.goal, self.window, self.chance = start, goal, window, chance
        self._exponent, self._right = start, 0.0
        self._run = self.streams[0]

    @property
    def exponent(self) -> float:
        """Exponent of the law that the next batch is drawn by."""
        return self.start * (1 - self.current / (LEVELS - 1))

    def report(self, accuracy: float) -> Decision:
        """Hear the accuracy of a step. (first position, number of the exponent) if it changes, else None. Raises
        `InputError` for what is no share of right answers."""
        require_share(accuracy)
        right = (float(accuracy) - self.chance) / (1 - self.chance)
        rule = rules.SelfAnneal(self.start, self.goal, self.window)
        self._exponent, self._right = map(float, rule.after(self._exponent, self._right, right, np))
        level = round((1 - self._exponent / self.start) * (LEVELS - 1))
        return None if level == self.current else (self.position, level)

    def follow(self, decision: Decision) -> None:
        """Do as was decided: the law changes, the visits of examples go on. Raises `InputError` for a decision about
        positions that were handed out already."""
        known = len(self.log)
        super().follow(decision)
        for position, number in self.log[known:]:
            self._run = self._changed(self._run, position, number)

    def _changed(self, run: Stream, position: int, number: int) -> Stream:
        if not position:  # nothing came before
            return self.streams[number]
        return run.then(self.streams[number].shape, at=position).from_last()

    def _at(self, positions: np.ndarray) -> np.ndarray:
        return self._run.at(positions)

    def restart(self) -> None:
        super().restart()
        self._exponent, self._right, self._run = self.start, 0.0, self.streams[0]

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "exponent": self._exponent, "right": self._right}

    def load_state_dict(self, state: dict[str, Any], allow_other: bool = False) -> None:
        """Raises `InputError` for the state of something else, unless that is allowed."""
        if not isinstance(state, dict) or "right" not in state:
            raise InputError("state: valid is what `state_dict()` of a SelfAnneal gave")
        require_numbers(exponent=state.get("exponent"), right=state["right"])
        super().load_state_dict(state, allow_other)
        self._exponent, self._right = float(state["exponent"]), float(state["right"])
        self._run = self.streams[0]
        for position, number in self.log[1:]:
            self._run = self._changed(self._run, position, number)

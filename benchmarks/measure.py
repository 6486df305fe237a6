"""Timing: two things in turn, A B A B, so that a drifting machine slows both; medians of ratios pair by pair."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROUNDS = 5


class Pair(NamedTuple):
    """Medians of two rates and of their ratio, with the ratio's range."""

    a: float
    b: float
    ratio: float
    low: float
    high: float

    def text(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f} … {self.high:.2f})"


def paired(a: Callable[[], float], b: Callable[[], float], rounds: int = ROUNDS) -> Pair:
    """`a` and `b` each do some work and return a rate; one uncounted round first."""
    a(), b()
    found = []
    for _ in range(rounds):
        time.sleep(0.3)  # the other library's idle threads spin for a while before they sleep
        first = a()
        time.sleep(0.3)
        found.append((first, b()))
    rates = np.array(found)
    ratio = rates[:, 0] / rates[:, 1]
    return Pair(*np.median(rates, axis=0), float(np.median(ratio)), float(ratio.min()), float(ratio.max()))


def rate(work: Callable[[], object], amount: float) -> float:
    """`amount` per second of one call."""
    began = time.perf_counter()
    work()
    return amount / (time.perf_counter() - began)

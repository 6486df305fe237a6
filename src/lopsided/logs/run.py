"""A run as its log has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Points(NamedTuple):
    """A metric of one run, T values."""

    step: np.ndarray
    """(T,) steps, rising."""
    value: np.ndarray
    """(T,) values; NaN where the log says NaN."""
    seconds: np.ndarray | None = None
    """(T,) seconds since the run began, where the log says them."""


@dataclass(frozen=True)
class Run:
    """One run, as its log has it."""

    name: str
    arm: str
    metrics: Mapping[str, Points] = field(repr=False)
    seed: str | int | None = None
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    task: str | None = None
    """What it was trained on, where several tasks were."""
    source: str = ""
    """The file that it was read from."""
    counts: str = "steps"
    """What its steps are: steps, epochs, or what the column that counts is called (samples, tokens)."""

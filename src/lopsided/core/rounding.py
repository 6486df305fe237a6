"""When a metric, which is a float32, has reached a threshold that somebody wrote in decimals."""

from __future__ import annotations

from typing import Any

SINGLE = 2.0**-23
"""A value below a threshold by this share of it reaches it: 90 of 100 may be stored as 0.89999998."""


def reaches(values: Any, threshold: float) -> Any:
    """Whether values are at least the threshold (elementwise; NaN never is)."""
    return values >= threshold - SINGLE * abs(threshold)

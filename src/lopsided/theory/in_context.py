"""What exact estimators reach on in-context linear regression: curves to measure a trained network against."""

from __future__ import annotations

import numpy as np


def least_squares_loss(dimension: int, examples: int | np.ndarray) -> np.ndarray:
    """Expected square loss ½ E (f - y)² of least squares on so many examples, of w, x ~ N(0, I_n) without noise.

    With j < n examples the shortest solution is w projected on a random j-dimensional subspace: the n - j coordinates
    left out each cost 1/2. From n examples on the solution is exact.
    """
    return np.maximum(dimension - np.asarray(examples, float), 0.0) / 2


def examples_worth(dimension: int, loss: float | np.ndarray) -> np.ndarray:
    """On how many examples least squares reaches this loss (a real number, 0 for the loss of answering 0)."""
    return dimension - 2 * np.asarray(loss, float)

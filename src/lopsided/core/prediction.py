"""What theory says instead of training: curves of one member from its initial weights, in NumPy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lopsided.numerics.hermite import Link

if TYPE_CHECKING:
    from lopsided.core.spec import Spec


class Prediction(ABC):
    """The prediction for one task, found by the plan `idealised` through the registry."""

    name: ClassVar[str]
    """Name of the task."""

    @abstractmethod
    def check(self, spec: Spec) -> None:
        """Raise `InputError` if theory says nothing about this spec."""

    @abstractmethod
    def curves(
        self,
        weights: np.ndarray,
        strengths: np.ndarray,
        overlaps: np.ndarray,
        link: Link,
        rate: float,
        steps: np.ndarray,
    ) -> dict[str, np.ndarray]:
        """Metrics by name, (T, ...) at `steps` (T,), of a member with teacher weights (P,), initial strengths (m,) and
        overlaps (m, P), trained at learning rate `rate`."""

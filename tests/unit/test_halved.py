"""Compute to half of the first training loss: a wide law and a narrow one are each measured by where they began."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from lopsided.recipes._frequency import ON_LAW, halved


def test_each_member_is_measured_by_its_own_first_loss():
    loss = np.array([[3.0, 2.0, 1.4, 1.0], [1.0, 0.4, 0.3, 0.2], [2.0, 1.9, 1.8, 1.7], [2.0, 0.9, 1.5, 1.4]])
    each = SimpleNamespace(samples=np.array([10.0, 20.0, 30.0, 40.0]), metric={ON_LAW: loss}.__getitem__)
    times = halved(cast(Any, each))
    # The third never halves its loss; the last one's fall at 20 is not held at the next evaluation.
    assert times.censored.tolist() == [False, False, True, True]
    assert times.time[:2].tolist() == [30.0, 20.0]

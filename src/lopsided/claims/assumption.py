"""What a paper leaves open, and a recipe had to choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Assumption(NamedTuple):
    """A setting that the paper does not give, by its path in a spec, and why it was chosen."""

    field: str
    """For example `loss`, or `optimizer.weight_decay`."""
    why: str
    value: Any = None
    """Where arms differ in the field, the value that is assumed; None: every value."""

    def of(self, settings: Mapping[str, Any]) -> bool:
        """Whether an arm with these settings, by path, rests on the assumption."""
        return self.field in settings and (self.value is None or settings[self.field] == self.value)

"""Says that a whole pass is followed by another one, which begins as the first one did."""

from __future__ import annotations

import warnings


class SecondPass:
    """Mixin for samplers: warns when a loop over epochs iterates the sampler a second time."""

    _through = 0
    _over = False
    """Whether the state is that of the end of a pass, which was gone through here: who loads such a state has nothing
    left to do, who iterates again begins anew."""

    def _pass_begins(self) -> None:
        """Warn at the beginning of every pass but the first."""
        self._over = False
        if self._through:
            warnings.warn(
                f"pass {self._through + 1} begins as the first one did: a run is one pass, so that order and annealing "
                "begin anew. For longer training ask for more samples (total=...)",
                stacklevel=3,
            )

    def _pass_ends(self) -> None:
        self._through += 1
        self._over = True

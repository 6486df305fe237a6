"""Plans without samples: every step sees the whole distribution, or nothing is trained and theory answers.

They draw no indices and count no samples: `samples` and `distinct_samples` of their rows are 0, time is in steps.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from lopsided.core.errors import InputError
from lopsided.core.plan import Plan


class _Sampleless(Plan):
    def seen(self, steps: int) -> int:
        return 0

    def distinct(self, steps: int) -> float:
        return 0.0


class Population(_Sampleless):
    """The exact gradient of the expected loss.

    `dynamics`: `steps` takes the optimizer's steps; `flow` integrates gradient flow with an adaptive fifth-order
    method, one step being `lr` units of time, to the relative `tolerance`.
    `precision`: bits of a float, 64 (exact to about 15 digits) or 32 (twice as fast).
    `settled`: a flow stands still once its loss is below this. Near a minimum an explicit method takes steps as short
    as its stability asks, however long the rest of the run is: who only wants to know when something is learned need
    not pay for that.
    """

    later: ClassVar[frozenset[str]] = frozenset({"settled"})

    name: Literal["population"] = "population"
    dynamics: Literal["steps", "flow"] = "steps"
    precision: Literal[32, 64] = 64
    tolerance: Annotated[float, Field(ge=1e-12, le=1e-2)] = 1e-6
    settled: Annotated[float, Field(ge=0, le=1)] = 0.0

    @model_validator(mode="after")
    def _settles_in_a_flow(self) -> Population:
        if self.settled and self.dynamics != "flow":
            raise InputError("settled: only for dynamics = 'flow'")
        return self


class Idealised(_Sampleless):
    """No training: what theory predicts from the member's initial weights, as rows like those of a training run."""

    name: Literal["idealised"] = "idealised"

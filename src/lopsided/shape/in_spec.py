"""A shape as fields of a spec: its law is `skills`, its order of ranks `rank_order`, its subsets a plan of phases."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lopsided.core.errors import InputError
from lopsided.shape.phases import Phases
from lopsided.shape.shape import Shape, factors

ORDERS = {"random": "random", "given": "lexicographic"}
"""A law's `by` in words of a spec. By frequency: a task's skills have none of their own."""


def spec_fields(shape: Any, steps: int, batch: int | None) -> dict[str, Any]:
    """Fields of the spec that has this shape, as JSON. `batch`: samples of a step, None where the plan draws none.
    Raises `InputError` for a shape that only data have."""
    laws = [each for each in factors(shape) if not each.has_subsets]
    subsets = [each for each in factors(shape) if each.has_subsets]
    found: dict[str, Any] = {}
    if laws:
        law = laws[0]
        for other in laws[1:]:
            law = law & other
        found["skills"] = law.in_spec()
        found |= _order(laws)
    if len(subsets) > 1 or not all(isinstance(each, Phases) for each in subsets):
        raise InputError("shape: a spec has one schedule of subsets, Phases")
    if subsets:
        found["plan"] = _plan(subsets[0], steps, batch)
    return found


def _order(laws: list[Shape]) -> dict[str, str]:
    orders = {ORDERS[by] for law in laws if (by := getattr(law, "by", None)) in ORDERS}
    if len(orders) > 1:
        raise InputError("shape: a spec has one order of ranks; these laws have several")
    return {"rank_order": orders.pop()} if orders else {}


def _plan(subsets: Any, steps: int, batch: int | None) -> dict[str, Any]:
    if batch is None:
        raise InputError("shape: Phases need a plan with a batch, for example Online(batch=32)")
    if subsets.of != "run":
        raise InputError('shape: a task has no data to take a share of; write Phases(..., of="run")')
    ends = [0, *(round(until * steps) for until in subsets.until)]
    lengths = [b - a for a, b in pairwise(ends)]
    if min(lengths) < 1:
        raise InputError(f"shape: {steps} steps are too few for {len(lengths)} phases")
    phases = [{"steps": n, "share": share} for n, share in zip(lengths, subsets.shares, strict=True)]
    return {"name": "phases", "batch": batch, "phases": phases}

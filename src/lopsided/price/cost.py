"""What a run will cost, before it starts: operations, memory, storage and hours.

Hours = operations / (devices x peak x utilisation), and at least LAUNCH for every step of the members that fit a
device together: steps of small networks wait for launches, not for arithmetic. `this` measures instead of assuming.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lopsided.core.engine import Member
from lopsided.core.errors import InputError, unknown
from lopsided.core.execution import DEFAULT
from lopsided.core.registry import engine_of
from lopsided.engines import devices
from lopsided.engines.ensemble import FIRST_SLICE_STEPS
from lopsided.engines.memory import budget
from lopsided.engines.work import Work, samples_of, tokens_of, work_of
from lopsided.study.recipe_run import RecipeRun
from lopsided.work.jobs import cut, wanted_members

ROW_BYTES = 5
"""Measured: 5.0 million rows of thirteen recipes take 23.5 MB of Parquet."""
MEASURED_SECONDS = 20.0
"""A program whose first slice would take longer than this, at `SLOW`, is not measured."""
LAUNCH = 1e-4
"""Seconds that a step takes at least on an accelerator, however small (an assumption, not a measurement)."""
SLOW = 1e10
"""Operations a second: a rate that is taken to be reached on every machine."""


class Device(NamedTuple):
    """An accelerator by its data sheet."""

    title: str
    float32: float
    """Operations a second."""
    bfloat16: float
    memory: int
    """Bytes."""


DEVICES = {
    "h100": Device("NVIDIA H100 SXM, 80 GB", 67e12, 989e12, 80 * 10**9),
    "a100": Device("NVIDIA A100, 80 GB", 19.5e12, 312e12, 80 * 10**9),
    "tpu-v5e": Device("TPU v5e, 16 GB", 197e12 / 6, 197e12, 16 * 10**9),  # float32 takes six passes in bfloat16
}
THIS = "this"


@dataclass(frozen=True)
class Price:
    """Price of the members that share a program."""

    arms: tuple[str, ...]
    members: int
    steps: int
    samples: int
    """Seen by all members together, repeats counted."""
    tokens: int
    products: str
    """Rounding of matrix products: float32 or bfloat16."""
    work: Work | None
    """None for predictions, which cost no training."""
    operations: float
    """Operations of all members, evaluations included; 0 where steps adapt."""
    rows: int
    hours: float | None
    """How long the members take on all devices together, or on this machine; None where that is not known."""
    measured: bool


@dataclass(frozen=True)
class Cost:
    """Prices of a whole run."""

    prices: tuple[Price, ...]
    on: str
    devices: int
    utilisation: float

    @property
    def members(self) -> int:
        return sum(p.members for p in self.prices)

    @property
    def operations(self) -> float:
        return sum(p.operations for p in self.prices)

    @property
    def hours(self) -> float:
        """Hours of the prices that are known."""
        return sum(p.hours or 0.0 for p in self.prices)

    @property
    def storage(self) -> int:
        """Bytes of rows."""
        return ROW_BYTES * sum(p.rows for p in self.prices)

    @property
    def unknown(self) -> list[Price]:
        """Prices whose hours are not known."""
        return [p for p in self.prices if p.hours is None]

    @property
    def fits(self) -> bool:
        """Whether one member of every program fits the device's memory."""
        if self.on == THIS:
            return True
        return all(p.work.state + p.work.temporary <= DEVICES[self.on].memory for p in self.prices if p.work)


def cost(
    asked: RecipeRun,
    on: str = "h100",
    devices: int = 1,
    utilisation: float = 0.3,
    progress: Callable[[int, int], None] | None = None,
) -> Cost:
    """Counted from the compiled programs of a run; `this` as device measures a few steps of each here. `progress` is
    told how many programs are done, of how many. Raises `InputError` for an unknown device."""
    if on != THIS and on not in DEVICES:
        raise unknown("device", on, [*DEVICES, THIS])
    if not 0 < utilisation <= 1:
        raise InputError(f"--utilisation {utilisation:g}: a share of the peak, above 0 and at most 1")
    if devices < 1 or (on == THIS and devices != 1):
        raise InputError(f"--devices {devices}: at least 1; this machine counts as one")
    names = {spec.content_hash(): name for name, spec in asked.arms.items()}
    groups, found = cut(wanted_members(list(asked.arms.values()), asked.seeds), 2**31), []
    for i, members in enumerate(groups):
        if progress is not None:
            progress(i, len(groups))
        arms = tuple(dict.fromkeys(names[m.spec.content_hash()] for m in members))
        found.append(_price(arms, members, on, devices, utilisation))
    return Cost(tuple(found), on, devices, utilisation)


def _price(arms: tuple[str, ...], members: Sequence[Member], on: str, number: int, utilisation: float) -> Price:
    spec = members[0].spec
    work = work_of(spec)
    specs = {id(m.spec): m.spec for m in members}
    evaluations = {i: len(s.evaluation.points(s.steps)) for i, s in specs.items()}
    operations = rows = 0.0
    for m in members:
        looks = evaluations[id(m.spec)]
        operations += (m.spec.steps * work.step + looks * work.evaluation) if work and not work.adaptive else 0.0
        rows += looks * (work.values if work else 1)
    hours, measured = 0.0 if work is None else None, False
    if work is not None and on == THIS:
        seconds = _measured(members, work)
        measured = seconds is not None
        hours = None if seconds is None else seconds * sum(m.spec.steps for m in members) / 3600
    elif work is not None and not work.adaptive:
        device = DEVICES[on]
        peak = device.bfloat16 if spec.products == "bfloat16" else device.float32
        together = number * max(1, device.memory // (3 * work.state + work.temporary))
        steps = -(-len(members) // together) * max(m.spec.steps for m in members)
        hours = max(operations / (number * peak * utilisation), steps * LAUNCH) / 3600
    return Price(
        arms=arms,
        members=len(members),
        steps=spec.steps,
        samples=sum(samples_of(m.spec) for m in members),
        tokens=sum(tokens_of(m.spec) for m in members),
        products=spec.products,
        work=work,
        operations=operations,
        rows=int(rows),
        hours=hours,
        measured=measured,
    )


def _measured(members: Sequence[Member], work: Work) -> float | None:
    """Seconds that a step of one member takes here, among as many others as one job has; None where a first slice would
    take too long, or memory is short."""
    engine_class = engine_of(members[0].spec)
    some = list(members[: engine_class.members_per_job(members[0].spec)])
    cores = os.cpu_count() or 1
    slice_steps = FIRST_SLICE_STEPS if members[0].spec.until is None else members[0].spec.evaluation.every
    most = int(MEASURED_SECONDS * SLOW / max(work.step * slice_steps, 1.0))
    if most < 1 or work.state * 4 + work.temporary * cores > budget():
        return None
    some = some[:most]
    devices.setup(len(some))
    engine = engine_class(some, DEFAULT)
    engine.compile()
    before = engine.seconds
    for _ in engine.run(1.0):
        if engine.seconds - before > 1.0:
            break
    return (engine.seconds - before) / max(engine.step * len(some), 1)

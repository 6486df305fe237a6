"""The answer of `lopsided cost`, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from lopsided.report.console import console as _console

if TYPE_CHECKING:
    from lopsided.price.cost import Cost, Price
    from lopsided.study.recipe_run import RecipeRun

MOST_LINES = 24
"""Programs that are listed one by one."""


def table(asked: RecipeRun, found: Cost) -> None:
    """One line for each program, the most expensive first, and the sums."""
    console = _console()
    lines = Table(
        box=SIMPLE_HEAD,
        title=f"{asked.recipe.name}, {asked.scale} scale" if asked.recipe.claims else asked.recipe.name,
        title_justify="left",
    )
    heads = ("arms", "members", "steps", "parameters", "samples", "operations a step", "memory a member", "hours")
    for i, head in enumerate(heads):
        lines.add_column(head, justify="right" if i else "left")
    prices = sorted(found.prices, key=lambda p: -p.operations)
    for p in prices[:MOST_LINES]:
        lines.add_row(
            escape(_arms(p)),
            f"{p.members:,}",
            f"{p.steps:,}",
            quantity(p.work.parameters if p.work else 0),
            quantity(p.samples),
            quantity(p.work.step) if p.work else "none",
            size(p.work.state + p.work.temporary) if p.work else "none",
            "unknown" if p.hours is None else hours(p.hours),
        )
    console.print(lines)
    if len(prices) > MOST_LINES:
        console.print(f"[dim]{len(prices) - MOST_LINES} cheaper programs are in the sums.[/]")
    tokens = sum(p.tokens for p in found.prices)
    seen = f"{quantity(tokens)} tokens" if tokens else f"{quantity(sum(p.samples for p in found.prices))} samples"
    more = " and more" if found.unknown else ""
    console.print(
        f"Together: {found.members:,} members, {seen}, {quantity(found.operations)} operations{more}, "
        f"{size(found.storage)} of rows: {hours(found.hours)}{more} on {_where(found)}."
    )
    console.print(f"[dim]{_how(found)}[/]")
    if not found.fits:
        console.print("[yellow]A member does not fit the memory of one device: see execution.batch_devices.[/]")


def as_dict(asked: RecipeRun, found: Cost) -> dict[str, Any]:
    """One JSON document."""
    return {
        "recipe": asked.recipe.name,
        "scale": asked.scale,
        "on": found.on,
        "devices": found.devices,
        "utilisation": found.utilisation,
        "members": found.members,
        "operations": found.operations,
        "storage_bytes": found.storage,
        "hours": found.hours,
        "hours_unknown_of": sum(p.members for p in found.unknown),
        "fits": found.fits,
        "programs": [_program(p) for p in found.prices],
    }


def _program(p: Price) -> dict[str, Any]:
    return {**asdict(p), "work": p.work._asdict() if p.work else None}


def _where(found: Cost) -> str:
    from lopsided.price.cost import DEVICES, THIS

    if found.on == THIS:
        return "this machine"
    return f"{found.devices} x {DEVICES[found.on].title}"


def _how(found: Cost) -> str:
    from lopsided.price.cost import DEVICES, LAUNCH, THIS

    unknown = sum(p.members for p in found.unknown)
    if found.on == THIS:
        said = "Hours are those of a few steps, measured now."
        left = "too large to be measured here"
    else:
        peaks = {p.products: getattr(DEVICES[found.on], p.products) for p in found.prices if p.work}
        of = " and ".join(f"{quantity(peak)}/s ({products})" for products, peak in peaks.items())
        said = f"Hours = operations / (devices x peak x {found.utilisation:g}), peak {of or 'not needed'}; "
        said += f"at least {1000 * LAUNCH:g} ms for each step of the members that fit a device together."
        left = "whose steps adapt"
    return said + (f" Not counted: {unknown:,} members {left}." if unknown else "")


def _arms(p: Price) -> str:
    return p.arms[0] if len(p.arms) == 1 else f"{p.arms[0]} and {len(p.arms) - 1:,} more"


def quantity(value: float) -> str:
    """`1.2e+15` as 1.2 P."""
    for unit, least in (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= least:
            return f"{value / least:.3g} {unit}"
    return f"{value:.3g}"


def size(value: float) -> str:
    """Bytes."""
    return f"{quantity(value)}B" if value >= 1e3 else f"{value:.0f} B"


def hours(value: float) -> str:
    """`0.5` as 30 min."""
    if value >= 48:
        return f"{value:,.0f} h ({value / 24:,.0f} days)"
    if value >= 1:
        return f"{value:.3g} h"
    return f"{value * 60:.2g} min" if value >= 1 / 60 else f"{value * 3600:.1g} s"

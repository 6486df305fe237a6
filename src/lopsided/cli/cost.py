"""`lopsided cost`: what a run will take, before it starts."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from lopsided.cli.options import Json
from lopsided.report.as_json import print_json


def cost(
    target: str,
    /,
    *,
    scale: str = "paper",
    seeds: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative="")] = (),
    on: str = "h100",
    devices: int = 1,
    utilisation: float = 0.3,
    as_json: Json = False,
) -> None:
    """Members, operations, memory, storage and hours of a run, counted from its compiled programs; nothing is trained.

    Hours = operations / (devices x peak x utilisation), and at least 0.1 ms for each step of the members that fit a
    device together. Members that may leave early are counted to their last step.

    Parameters
    ----------
    target
        What to price: see `lopsided run`.
    scale
        smoke, laptop, overnight or paper, as far as the recipe has them.
    seeds
        Seeds per arm; what the recipe says if left out.
    set_
        Changes of every arm: key=value.
    on
        h100, a100, tpu-v5e; or this, to measure a few steps here.
    devices
        How many of them.
    utilisation
        Share of the device's peak that is reached.
    """
    from lopsided.cli.prices import as_dict, table
    from lopsided.price.cost import cost as priced
    from lopsided.study.recipe_run import prepare

    def progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\rprogram {done + 1} of {of}", end="\r" if done + 1 == of else "", file=sys.stderr, flush=True)

    asked = prepare(target, scale, seeds, set_)
    found = priced(asked, on, devices, utilisation, progress)
    if as_json:
        print_json(as_dict(asked, found))
        return
    table(asked, found)

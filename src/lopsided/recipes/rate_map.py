"""rate-map: at which learning rates does a small repeated set win, in which network, under which loss?

Paper C names neither the loss nor, in most figures, the rate of its perceptrons; other recipes judge every arm at its
best rate, which lies at the edge of stability. Here every rate has its own verdict: (20, 6)-parity by mini-batches of
128, small set against fresh samples, as they are and with the mean of every coordinate that 2^5 or 2^8 samples have
(figures 2a, 3b; depths as in figure 11, which has full batches).

    lopsided run rate-map --scale laptop

`laptop` changes: N = 2^13 for the small set, 6,000 steps, depths 2, 3 and 4. Nothing is swept: a claim is about the
rates that were called moderate before any judged row was seen, after a trial of four other seeds: up to 2 at depth 2,
as in the paper's figures, up to 1 in deeper networks, which leave stability at 2, and up to 0.5 under the square loss,
which does at 1.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from lopsided.recipe import (
    Ahead,
    Arms,
    Everywhere,
    Figure,
    Heat,
    Nuisance,
    Own,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    WiderGap,
    arm,
    curves,
)
from lopsided.recipes._assumed import PERCEPTRONS
from lopsided.recipes._repetition import FEWER_SEEDS, SEEDS, perceptron

SIZES = {"smoke": (8, 2, 2**6, 16, 60), "laptop": (20, 6, 2**13, 128, 6000), "paper": (20, 6, 2**14, 128, 20_000)}
"""d, k, N, batch, steps."""
RATES = {
    "smoke": (0.5, 1.0),
    "laptop": (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
    "paper": (0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0),
}
NETS = {
    "depth 2": (2, "logistic", (0.5, 1.0, 2.0)),
    "depth 2, square loss": (2, "square", (0.25, 0.5)),
    "depth 3": (3, "logistic", (0.25, 0.5, 1.0)),
    "depth 4": (4, "logistic", (0.25, 0.5, 1.0)),
}
"""Depth, loss, and the moderate rates, of which the claims are."""
SMALL, FRESH = {"data": "small set"}, {"data": "fresh samples"}
BIASED = {m: {"data": f"fresh, bias of 2^{m}"} for m in (5, 8)}
OTHER_DEPTHS = Own("fig. 3b is of depth 2")
TRIED = "rates chosen after a trial of these networks on seeds 100 to 103"


def arms(scale: ScaleName) -> Arms:
    d, k, size, batch, steps = SIZES[scale]
    fixed, online = {"name": "fixed", "size": size, "batch": batch}, {"name": "online", "batch": batch}
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [(SMALL, {"plan": fixed}), (FRESH, {"plan": online})]
    ways += [(at, {"plan": online, "training_set": {"biased_by": 2**m}}) for m, at in BIASED.items()]
    make = partial(perceptron, scale, task={"name": "sparse-parity", "d": d, "k": k}, steps=steps)
    for net, (depth, loss, _) in NETS.items():
        for rate in RATES[scale]:
            for data, changes in ways:
                yield arm(make(rate, model={"depth": depth}, loss=loss, **changes), net=net, rate=rate, **data)


def at_moderate_rates(net, fast, of):
    """Make the test that `fast` needs fewer steps at each of a network's moderate rates."""
    rates = NETS[net][2]
    return Everywhere(
        {f"rate {r:g}": Ahead({"net": net, "rate": r, **fast}, of={"net": net, "rate": r, **of}) for r in rates}
    )


def gap(r, net, rate, slow, fast):
    """The median within-seed ratio of steps to learn; NaN where on neither side half of the members learn."""
    times = [r.arm(net=net, rate=rate, **at).times("test/accuracy", 0.95, "steps").ordinal for at in (slow, fast)]
    if max(np.isfinite(each).mean() for each in times) < 0.5:
        return float("nan")
    with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        return float(np.nanmedian(times[0] / times[1]))  # infinite over infinite is unknown


def heat(r: Results, title: str, slow, fast) -> Heat:
    rates = r.values("rate")
    ratios = np.array([[gap(r, net, rate, slow, fast) for rate in rates] for net in NETS])
    with np.errstate(divide="ignore"):  # a side of which half never learn is infinitely far behind
        powers = np.clip(np.log2(ratios), -2, 2)
    return Heat(
        title,
        "learning rate",
        "network",
        powers,
        "log2 of the ratio of steps",
        -2.0,
        2.0,
        [f"{rate:g}" for rate in rates],
        list(NETS),
    )


def figure(r: Results) -> Figure:
    middle = r.values("rate")[min(2, len(r.values("rate")) - 1)]
    shown = [each.name for each in r.where(net="depth 4", rate=middle)]
    return Figure(
        "Where a small set wins, by learning rate, network and loss",
        [
            heat(r, "Fresh samples over the small set", FRESH, SMALL),
            heat(r, "Fresh, bias of 2^5, over the small set", BIASED[5], SMALL),
            heat(r, "Fresh over fresh with the bias of 2^5", FRESH, BIASED[5]),
            curves(r, "test/accuracy", "steps", f"Depth 4 at rate {middle:g}", arms=shown),
        ],
    )


recipe = Recipe(
    name="rate-map",
    paper="C",
    figure_number="2 (a), 3 (b)",
    question="At which learning rates does a small repeated set win?",
    about=__doc__,
    scales={"smoke": (2, 10), "laptop": (SEEDS, 1200), "paper": (FEWER_SEEDS,)},
    assumptions=PERCEPTRONS,
    nuisance=[
        Nuisance("model.width", times=(0.5, 2)),
        Nuisance("plan.batch", times=(0.5, 2)),
        Nuisance("plan.size", times=(0.5, 2)),
    ],
    arms=arms,
    claims=[
        *(
            Statement(
                f"{net}: at each moderate rate the small set needs fewer steps than fresh samples",
                Paper("ahead", "fig. 2a") if depth == 2 else Own("paper C has depths for full batches"),
                at_moderate_rates(net, SMALL, FRESH),
                history=TRIED,
            )
            for net, (depth, _, _) in NETS.items()
        ),
        Statement(
            "depth 2: the gap is narrower at rate 4 than at rate 1",
            Own("where other recipes find the best rates, small and fresh come together"),
            WiderGap({"net": "depth 2", "rate": 1.0}, {"net": "depth 2", "rate": 4.0}, slow=FRESH, fast=SMALL),
            history=TRIED,
        ),
        Statement(
            "the gap is wider at depth 4 than at depth 2, at rates of .25, .5 and 1",
            Own("paper C has it for full batches (fig. 11a)"),
            Everywhere(
                {
                    f"rate {rate:g}": WiderGap(
                        {"net": "depth 4", "rate": rate}, {"net": "depth 2", "rate": rate}, slow=FRESH, fast=SMALL
                    )
                    for rate in NETS["depth 4"][2]
                }
            ),
            history=TRIED,
        ),
        *(
            Statement(
                f"{net}: at each moderate rate the bias of 2^5 samples makes fresh ones faster",
                Paper("the bias that speeds learning up most", "fig. 3b") if depth == 2 else OTHER_DEPTHS,
                at_moderate_rates(net, BIASED[5], FRESH),
                history=TRIED,
            )
            for net, (depth, _, _) in NETS.items()
        ),
        *(
            Statement(
                f"{net}: at each moderate rate the small set is ahead of fresh samples with the bias of 2^{m}, too",
                Paper("not closed unless 2^m is tiny", "fig. 3b") if depth == 2 else OTHER_DEPTHS,
                at_moderate_rates(net, SMALL, BIASED[m]),
                history=TRIED,
            )
            for m in BIASED
            for net, (depth, _, _) in NETS.items()
        ),
    ],
    figure=figure,
)

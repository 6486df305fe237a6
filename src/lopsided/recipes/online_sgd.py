"""online-sgd: paper B says that with small steps SGD on fresh samples makes the transitions of gradient flow.

Paper B, theorem 2.1 and section 3.3. Paper: vanilla online SGD, one fresh Gaussian sample a step and a step size of
order d^(-J/2) / poly(P), stays close to gradient flow for long enough that every direction is learned at the same
time.

    lopsided run online-sgd --scale laptop

`laptop` changes: d = 64, P = 8, m = 32, J = 4, mini-batches of 64 fresh samples (16 in `smoke`) so that larger steps
stay stable, and step sizes 2e-3 ... 2.5e-4. A member starts from the same weights in every arm. Its transition times
are compared in units of flow time, steps x step size; the tolerance for "the same" is 10 % of the median direction's
time.
"""

from __future__ import annotations

import numpy as np

from lopsided.recipe import (
    Arms,
    Below,
    Figure,
    Measured,
    MembersAbove,
    Panel,
    Paper,
    Recipe,
    Results,
    ScaleName,
    SlopeBelow,
    Statement,
    arm,
    over_members,
    theory_line,
)
from lopsided.recipes._assumed import STUDENTS
from lopsided.recipes._strength import FLOW, additive, apart, by_direction, learned_at, relative_error
from lopsided.stats.slopes import of_points

SIZES = {
    "smoke": (16, 2, 6, 16, 4.0, (8e-3, 4e-3)),
    "laptop": (64, 8, 32, 64, 70.0, (2e-3, 1e-3, 5e-4, 2.5e-4)),
    "paper": (256, 16, 64, 1, 400.0, (1e-4, 5e-5, 2.5e-5)),
}
"""d, directions, neurons, batch, flow time, step sizes."""
MOST = 2 / 3
"""Share of members that is asked for: with 10 members of 10 the interval begins at 0.69."""


def arms(scale: ScaleName) -> Arms:
    d, directions, width, batch, horizon, rates = SIZES[scale]
    common = {"d": d, "directions": directions, "width": width, "sigma_0": 1e-2, "per_decade": 60}
    flow = additive(plan=FLOW, lr=rates[0], steps=round(horizon / rates[0]), **common)
    yield arm(flow, by="gradient flow")
    for rate in rates:
        plan = {"name": "online", "batch": batch}
        yield arm(additive(plan=plan, lr=rate, steps=round(horizon / rate), **common), by="SGD", step_size=rate)


def times(each):
    """(M, P) transition times in units of flow time."""
    return learned_at(each) * each.setting("optimizer.lr")


def errors(r):
    """Step sizes (N,), and each member's median relative deviation from the flow's times (M, N)."""
    found = [relative_error(times(run), times(r.arm(by="gradient flow"))) for run in r.where(by="SGD")]
    return np.array(r.values("step_size")), np.stack(found, 1)


def coarsest(r):
    """How far apart evaluations lie where that is most, the flow's or those of the smallest step size."""
    return max(apart(r.arm(by="gradient flow")), apart(r.where(by="SGD")[-1]))


def closer(r):
    """How deviations shrink; against 1 / step size, so that "shrinks" is a negative slope as everywhere else."""
    rates, error = errors(r)
    return of_points(1 / rates, error)


def same_neurons(r):
    """(M,) whether more than 90 % of directions are learned by the neuron that learns them under the flow."""
    flow, last = r.arm(by="gradient flow"), r.where(by="SGD")[-1]
    same = by_direction(last, "neuron")[:, :, -1] == by_direction(flow, "neuron")[:, :, -1]
    share = (same & np.isfinite(learned_at(last))).mean(1)
    return share > 0.9


def figure(r: Results) -> Figure:
    loss = [
        over_members(each.name, each.steps * each.setting("optimizer.lr"), np.maximum(losses, 1e-5), i)
        for i, each in enumerate(r.arms.values())
        for losses in [each.metric("population/loss")]
    ]
    expected = times(r.arm(by="gradient flow"))
    points = [
        over_members(run.name, expected[i], member[None], j + 1, "points", legend=i == 0)
        for j, run in enumerate(r.where(by="SGD"))
        for i, member in enumerate(times(run)[:4])
        if np.isfinite(member).all()
    ]
    known = expected[np.isfinite(expected)]
    reach = np.array([known.min(), known.max()]) if known.size else np.zeros(2)
    by_rate = [over_members("members", *errors(r), 0, "points")]
    title, label = "Deviation of transition times", "median relative deviation"
    return Figure(
        "Fresh samples follow the exact dynamics",
        [
            Panel("Loss", "flow time, steps x step size", "expected loss", loss, log_y=True),
            Panel("Transition times", "gradient flow", "online SGD", [*points, theory_line("equal", reach, reach)]),
            Panel(title, "step size", label, by_rate, log_x=True, log_y=True),
        ],
    )


recipe = Recipe(
    name="online-sgd",
    paper="B",
    figure_number="theorem 2.1",
    question="Does training on fresh samples follow the exact dynamics?",
    about=__doc__,
    metric="directions/learned",
    threshold=0.999,
    scales={"smoke": (2, 15), "laptop": (10, 110), "paper": (8,)},
    assumptions=STUDENTS,
    arms=arms,
    claims=[
        Statement(
            "transition times come closer to gradient flow as the step size falls",
            Paper("small η suffices", "thm. 2.1"),
            SlopeBelow(Measured(closer), 0.0, "median relative deviation against 1 / step size"),
        ),
        Statement(
            "at the smallest step size the median direction is learned within 10 % of its time under the flow",
            Paper("1 ± o(1)"),
            Below(Measured(lambda r: errors(r)[1][:, -1], grid=coarsest), 0.1, "relative deviation", ratio=True),
        ),
        Statement(
            "at the smallest step size, in more than two thirds of members, more than 90 % of directions are learned "
            "by the same neuron as under the flow",
            Paper("the same map", "theorem 2.1"),
            MembersAbove(Measured(same_neurons), MOST, "with more than 90 % of directions"),
        ),
        Statement(
            "at the smallest step size more than two thirds of members learn all directions",
            Paper("all", "theorem 2.1"),
            MembersAbove(
                Measured(lambda r: r.where(by="SGD")[-1].final("directions/learned") >= 1, {"by": "SGD"}),
                MOST,
                "that learn all directions",
            ),
        ),
    ],
    figure=figure,
)

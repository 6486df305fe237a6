"""What `composition-rate` trains: the product model, by flow and by samples; and when it has learned."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from lopsided.core.spec import Spec
from lopsided.recipes._frequency import UNIFORM, power_law
from lopsided.results.stored import Arm
from lopsided.skills.distributions import PowerLaw
from lopsided.stats.transitions import crossing
from lopsided.theory import k_composition as theory

FLOW_R, SAMPLED_R = 0.1, 0.5
"""Scale of the initial weights. From 0.1, A(0) is above B(0) (`theory.k_composition` defines both) for most members
even under uniform skills, so that nothing but the escape is seen. Training on samples cannot go on for as long as that
takes: it starts from 0.5, where the weights shrink first."""
SETTLED = 1e-8
EARLIEST = 10**5
"""The first evaluation of a flow is at its time divided by this, unless the recipe says otherwise."""
LEARNED = 0.5
"""Distance of every weight from its sign at which a member has learned: all signs are right."""
FASTER_THAN_STABLE = 4.0
"""Multiple of the printed stable step that samples are trained with: it is safe by a factor of ten (`theory` tests)."""


def guess(d: int, k: int, alpha: float, r: float) -> float:
    """A guess of the median time to learn: escape from the start, then the rarest skill."""
    p = PowerLaw(alpha=alpha).schedule(d).probabilities()
    return theory.escape_time(theory.median_similarity(p, r), p, k) + theory.tail_time(p, k, 2 + np.log(1 / r))


def sampled_rate(d: int, k: int, alpha: float) -> float:
    """Learning rate of an arm that trains on samples."""
    return FASTER_THAN_STABLE * theory.stable_step(PowerLaw(alpha=alpha).schedule(d).probabilities(), k)


def composition(
    d: int, k: int, alpha: float, r: float, plan: dict[str, Any], lr: float, steps: int, **changes: Any
) -> Spec:
    """The product model from small Gaussian weights; evaluations on a geometric grid."""
    plain = {
        "task": {"name": "k-composition", "d": d, "k": k},
        "skills": power_law(alpha) if alpha else UNIFORM,
        "model": {"name": "product", "r": r},
        "plan": plan,
        "optimizer": {"name": "sgd", "lr": lr},
        "loss": "square",
        "steps": steps,
        "evaluation": {"every": min(10, steps), "per_decade": 15, "samples": 64},
        "probes": [{"name": "skill-error"}],
    }
    return Spec.parse({**plain, **changes})


def by_flow(
    d: int,
    k: int,
    alpha: float,
    steps: int,
    multiple: float,
    r: float = FLOW_R,
    earliest: int = EARLIEST,
    **changes: Any,
) -> Spec:
    """Gradient flow for `multiple` times the guess, or until it has settled. The first evaluation is at that time
    divided by `earliest`."""
    lr = multiple * guess(d, k, alpha, r) / steps
    plan = {"name": "population", "dynamics": "flow", "settled": SETTLED}
    evaluation = {"every": max(1, steps // earliest), "per_decade": 15, "samples": 64}
    return composition(d, k, alpha, r, plan, lr, steps, evaluation=evaluation, **changes)


def by_samples(d: int, k: int, alpha: float, batch: int, steps: int, **changes: Any) -> Spec:
    """Fresh samples; evaluations from step 10 on."""
    plan, lr = {"name": "online", "batch": batch}, sampled_rate(d, k, alpha)
    return composition(d, k, alpha, SAMPLED_R, plan, lr, steps, **changes)


def sampled_steps(d: int, k: int, alphas: tuple[float, ...], multiple: float) -> int:
    """Steps that give every exponent `multiple` times its guess: arms of one length share a compiled program."""
    return ceil(multiple * max(guess(d, k, a, SAMPLED_R) / sampled_rate(d, k, a) for a in alphas))


def steps_to_learn(arm: Arm) -> np.ndarray:
    """(M,) step at which each member has learned, interpolated; infinite if it never did."""
    found = crossing(arm.steps, -arm.metric("skills/error"), -LEARNED)
    return np.where(np.isnan(found), np.inf, found)


def by_first_evaluation(arm: Arm) -> np.ndarray:
    """(M,) whether members had learned by the first evaluation, so that nothing is known of how long before."""
    return steps_to_learn(arm) <= arm.steps[0]


def time_to_learn(arm: Arm) -> np.ndarray:
    """(M,) the same as time of the flow, steps x learning rate."""
    return steps_to_learn(arm) * arm.setting("optimizer.lr")

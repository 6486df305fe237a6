"""grade-school-math: do power-law numbers teach worked solutions of word problems faster?

Paper A, section 5, figures 4 (left), 15 and appendix E. Word problems of 2 to 8 operations over a dependency graph,
with a worked solution; skill = number. Three forms: arithmetic modulo 211, plain arithmetic with numbers to 200, and
modular with two consecutive steps merged into one at random. Paper: GPT-2 small learns all three much faster from
power-law numbers. The annealed arm is ours (at `laptop` scale for the modular form only).

    lopsided run grade-school-math --scale laptop

`laptop` changes: problems of 1 or 2 operations, modulo 13, plain numbers to 12, one problem a row with one token a
phrase, the loss on the solution alone, 2 layers of width 48 with rotary positions, 2,000 steps of 32 problems. The
network writes whole solutions by greedy decoding; a problem counts if its final answer is right. Problems are held out
by the numerical steps that they take. The exponent is
the paper's, 1.
"""

from __future__ import annotations

from typing import Any

from lopsided.core.task import WorkedSolutions
from lopsided.recipe import (
    FIVE_POINTS,
    OWN,
    Ahead,
    Arms,
    Custom,
    Decision,
    Figure,
    Final,
    Higher,
    Paper,
    Reaches,
    Recipe,
    Results,
    ScaleName,
    Spec,
    Statement,
    arm,
    curves,
    decisions,
)
from lopsided.recipes._assumed import PROBLEMS, SOLUTION_ALONE
from lopsided.recipes._frequency import UNIFORM, annealed, power_law
from lopsided.recipes._language import GPT2_SMALL, adamw, causal, language

ANSWER = "worked/answer"
LEARNED = 0.25
LONGER = "1,000 steps were raised to 2,000 after the rows of 1,000 on the same seeds had been seen"
UNIFORM_LAW, POWER_LAW, ANNEALED = "uniform", "power law", "annealed"
LAWS = {UNIFORM_LAW: UNIFORM, POWER_LAW: power_law(1.0), ANNEALED: annealed(1.5, 0.0, 0.5)}
FORMS: dict[str, dict[str, Any]] = {
    "modular": {},
    "plain": {"modulus": None},
    "merged steps": {"merged": True},
}
SIZES: dict[str, dict[str, Any]] = {
    "smoke": {"ops": (1, 1), "modulus": 5, "largest": 5},
    "laptop": {"ops": (1, 2), "modulus": 13, "largest": 12},
    "overnight": {"ops": (1, 4), "modulus": 23, "largest": 22},
    "paper": {"context": 1024, "tokens": "gpt2"},
}


def spec(scale: ScaleName, form: str, law: dict[str, Any]) -> Spec:
    task = {"name": "grade-school-math", **SIZES[scale], **FORMS[form]}
    written: dict[str, Any] = {"name": "worked-solutions", "samples": 256}
    if scale == "smoke":
        probes = [{**written, "samples": 16}]
        return language(task, law, causal(1, 16, 2), adamw(3e-3, 10), 8, 20, 10, 16, probes=probes)
    if scale == "laptop":
        model = causal(2, 48, 2, positions="rope")
        return language(task, law, model, adamw(4e-3, 200), 32, 2000, 200, 256, probes=[written])
    if scale == "overnight":
        model = causal(3, 96, 4, positions="rope")
        return language(task, law, model, adamw(2e-3, 300), 64, 7000, 350, 512, probes=[written])
    optimizer = adamw(5e-4, 100, b2=0.95, weight_decay=0.1)
    probes = [{**written, "samples": 1024}]
    steps = 9537  # 5 billion tokens
    changes: dict[str, Any] = {"probes": probes, "products": "bfloat16"}
    return language(task, law, GPT2_SMALL, optimizer, 512, steps, 191, 1024, **changes)


def arms(scale: ScaleName) -> Arms:
    for form in FORMS:
        for skills, law in LAWS.items():
            if skills != ANNEALED or form == "modular" or scale == "paper":
                yield arm(spec(scale, form, law), form=form, skills=skills)


def ends_higher(low: str, high: str, form: str, metric: str = ANSWER):
    low_end, high_end = (Final({"form": form, "skills": skills}, metric) for skills in (low, high))
    return Higher(high_end, low_end, "share of right answers", FIVE_POINTS)


def faster(slow: str, fast: str):
    times = (Reaches({"form": "modular", "skills": skills}, ANSWER, LEARNED) for skills in (fast, slow))
    return Ahead(*times, axis="samples")


def higher_on_the_longest(r: Results, level: float) -> Decision:
    """Power-law numbers end above uniform ones on problems of the most operations."""
    metric = f"{ANSWER}-{most_operations(r)}"
    low, high = (r.arm(form="modular", skills=skills).final(metric) for skills in (UNIFORM_LAW, POWER_LAW))
    return decisions.higher(low, high, "share of right answers", FIVE_POINTS, level)


def most_operations(r: Results) -> int:
    task = r.arm(form="modular", skills=UNIFORM_LAW).spec.task
    assert isinstance(task, WorkedSolutions)
    return task.operations[1]


def figure(r: Results) -> Figure:
    panels = []
    for form in r.values("form"):
        names = [each.name for each in r.where(form=form)]
        panels.append(curves(r, ANSWER, "samples", f"Right answers: {form}", arms=names))
    most = most_operations(r)
    modular = [each.name for each in r.where(form="modular")]
    panels.append(curves(r, f"{ANSWER}-{most}", "samples", f"Modular, {most} operations", arms=modular))
    panels.append(curves(r, "worked/step", "samples", "Modular, right steps", arms=modular))
    return Figure("Grade-school maths: whole solutions, written by the network", panels)


FASTER = Paper("trains much faster under the power law", "fig. 4, 15")
recipe = Recipe(
    name="grade-school-math",
    paper="A",
    figure_number="4 (left), 15",
    question="Do worked solutions of word problems come faster if a few numbers are far more frequent than the rest?",
    about=__doc__,
    metric=ANSWER,
    threshold=LEARNED,
    scales={"smoke": (2, 60), "laptop": (8, 1000), "overnight": (4,), "paper": (3,)},
    assumptions=[SOLUTION_ALONE, PROBLEMS],
    arms=arms,
    claims=[
        Statement(
            "modular: power-law numbers end above uniform numbers in right answers",
            FASTER,
            ends_higher(UNIFORM_LAW, POWER_LAW, "modular"),
            history=LONGER,
        ),
        Statement(
            "plain: power-law numbers end above uniform numbers in right answers",
            FASTER,
            ends_higher(UNIFORM_LAW, POWER_LAW, "plain"),
            history=LONGER,
        ),
        Statement(
            "merged steps: power-law numbers end above uniform numbers in right answers",
            FASTER,
            ends_higher(UNIFORM_LAW, POWER_LAW, "merged steps"),
            history=LONGER,
        ),
        Statement(
            "modular: a quarter of the answers are right with less compute under power-law than under uniform numbers",
            FASTER,
            faster(UNIFORM_LAW, POWER_LAW),
        ),
        Statement(
            "modular: power-law numbers end above uniform numbers on problems of the most operations",
            FASTER,
            Custom(higher_on_the_longest, of={"form": "modular"}, level_of=ANSWER),
        ),
        Statement(
            "modular: annealing the exponent from 1.5 to 0 in the first half ends above the fixed power law",
            OWN,
            ends_higher(POWER_LAW, ANNEALED, "modular"),
            history=LONGER,
        ),
    ],
    figure=figure,
)

"""random-labels-transformer: paper C says that a first phase on random labels speeds up modular addition.

Paper C, figure 20: two-layer causal transformers, AdamW, mini-batches. First a small set with random labels, half a
percent of the samples seen afterwards, for 50 epochs (a fifth of all training), then fresh samples with true labels.
Paper: in all it learns faster than fresh samples with true labels from the start.

    lopsided run random-labels-transformer --scale laptop

`laptop` changes: numbers below 100 in two decimal digits each, p = 7, width 32 with 4 heads, 8,000 steps of 32 fresh
samples (the paper does not name its numbers). A fifth of all steps is two fifths of what fresh samples need here, so
that shorter first phases are tried, too: 2,000 steps on 1,280 samples, 400 on 256 and 100 on 64, 50 epochs each. A
further arm has the true labels in the longest phase. Steps count both phases. Learned: a test accuracy of 0.9. Learning
rates are swept per arm, beta_2 is 0.95; each third of the seeds is judged at what the others choose.
"""

from __future__ import annotations

from lopsided.recipe import (
    AHEAD,
    Ahead,
    Arms,
    Custom,
    Figure,
    Paper,
    Recipe,
    Results,
    ScaleName,
    Statement,
    at_every_setting,
    best,
    bests,
    chosen_rates,
    decisions,
    swept,
    tuned_curves,
)
from lopsided.recipes._assumed import ADDITION_SIZES, DECAY, GRID, LENGTH
from lopsided.recipes._sequences import ADDITION_STEPS, EVERY, addition
from lopsided.recipes._transformers import BATCH, RATES, SEEDS, online, rates

RANDOM, TRUE = {"data": "random labels first"}, {"data": "true labels first"}
LONG, MIDDLE, SHORT = ({"phase": length} for length in ("long", "middle", "short"))
FRESH = {"data": "fresh samples only"}
SHARE, EPOCHS = 0.005, 50
"""The longest first phase: its size, as a share of the samples that follow."""
LENGTHS = ((1, LONG), (5, MIDDLE), (20, SHORT))
"""How many times smaller the set of a first phase is than the longest one's."""
TRIED = (
    "one phase of 2,000 steps before (0.72 times as fast), which no saving could have paid back; shorter ones were "
    "added after a trial of four other seeds (100 to 103), in which 100 steps were ahead of fresh samples in three, "
    "and 200, 400 and 800 steps behind them in most"
)


def arms(scale: ScaleName) -> Arms:
    grid, after, batch = rates(scale, RATES), ADDITION_STEPS[scale], BATCH[scale]
    longest = max(4, round(SHARE * after * batch))
    for times, length in LENGTHS:
        size = max(4, longest // times)
        first = EVERY[scale] * max(1, round(EPOCHS * size / batch / EVERY[scale]))  # it ends with an evaluation
        then = {"steps": after, "size": 2**30}  # so many that hardly any comes twice
        for data, labels in ((RANDOM, "random"), (TRUE, "true")):
            if data == RANDOM or length == LONG:
                phases = [{"steps": first, "size": size, "labels": labels}, then]
                plan = {"name": "phases", "batch": batch, "phases": phases}
                yield from swept(addition(scale, plan=plan, steps=first + after), grid, **data, **length)
    yield from swept(addition(scale, plan=online(scale, BATCH)), grid, **FRESH)


def first_phase(r):
    """Number of steps of the longest first phase."""
    return best(r, **RANDOM, **LONG).arm.setting("plan.phases")[0].steps


def from_its_end(r, level):
    first = first_phase(r)

    def faster(fresh, random):
        return decisions.faster(fresh, random._replace(time=random.time - first), "steps", level=level)

    return at_every_setting(r, (FRESH, RANDOM | LONG), faster, AHEAD)


def figure(r: Results) -> Figure:
    moments = {"longest phase ends": float(first_phase(r))}
    return Figure(
        "Random labels first, modular addition",
        [
            tuned_curves(bests(r), "test/accuracy", "steps", "At each arm's best settings", moments=moments),
            chosen_rates(r),
        ],
    )


recipe = Recipe(
    name="random-labels-transformer",
    paper="C",
    figure_number="20",
    question="Does a first phase on random labels help a transformer to add modulo p?",
    about=__doc__,
    threshold=0.9,
    scales={"smoke": (2, 6), "laptop": (SEEDS, 1492, "2 CPU cores, beside four other runs"), "paper": (SEEDS,)},
    assumptions=[DECAY, GRID, LENGTH, *ADDITION_SIZES],
    arms=arms,
    claims=[
        Statement(
            "random labels first need fewer steps in all than fresh samples",
            Paper("faster", "fig. 20"),
            Ahead(RANDOM | LONG, of=FRESH),
        ),
        *(
            Statement(
                f"… so do random labels for {steps} steps",
                Paper("faster", "fig. 20"),
                Ahead(RANDOM | length, of=FRESH),
                history=TRIED,
            )
            for steps, length in ((400, MIDDLE), (100, SHORT))
        ),
        Statement(
            "… counted from the end of the first phase, they need fewer steps, too",
            Paper("follows from fig. 20"),
            Custom(from_its_end, of=(FRESH, RANDOM | LONG)),
        ),
        Statement(
            "true labels first need fewer steps in all than fresh samples",
            Paper("ahead", "fig. 1d, where four phases come before fresh samples and not one"),
            Ahead(TRUE | LONG, of=FRESH),
        ),
    ],
    figure=figure,
)

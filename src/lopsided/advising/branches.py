"""Should I shape my data? Questions, what to do, and the claims that speak for it and against it.

The page "Should I shape my data?" is made of this list and the published verdicts, and `lopsided advise` says which
branches somebody's data are in. No advice without a claim: a test looks every one of them up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lopsided.data.describe import exponent
from lopsided.data.groups import Groups

Evidence = tuple[str, str]
"""A recipe, or an example's page, and how one of its claims begins."""
EVEN, STEEP = 0.3, 1.0
"""Exponents of the sizes of skills below which data are nearly even, and from which they are a power law already: of
those tried, 0.5 is too small to make compositions learnable, and 1 is not."""


@dataclass(frozen=True)
class Branch:
    """A question, and what the rows say."""

    key: str
    question: str
    answer: str
    """What to do if so."""
    code: str
    """The shape to try, with `import lopsided.data as ld`; empty where none is advised."""
    speaks_for: tuple[Evidence, ...]
    against: tuple[Evidence, ...] = ()
    """Where it did not help, or is not decided."""
    applies: Callable[[Groups], str] = lambda groups: ""
    """What of these data says that they are in this branch; empty where their labels do not say."""


def _several(groups: Groups) -> str:
    if groups.uses is None:
        return ""
    return f"rows need up to {int(groups.uses.most)} skills at once"


def _even(groups: Groups) -> str:
    found = exponent(groups.size)
    return f"skills have nearly as many rows each (exponent {found:.2f})" if found < EVEN else ""


def _steep(groups: Groups) -> str:
    found = exponent(groups.size)
    return f"the data are a power law already (exponent {found:.2f})" if found >= STEEP else ""


def _rare(groups: Groups) -> str:
    if groups.uses is not None:  # the evidence is of rows that need one skill
        return ""
    few = int((groups.size < np.median(groups.size) / 10).sum())
    return f"{few:,} of {groups.n_skills:,} skills have less than a tenth of the median skill's rows" if few else ""


BRANCHES = (
    Branch(
        "several-skills",
        "Does one answer need several skills at once, hops or composed operations?",
        "Let some skills be frequent first, then let the law go: a falling exponent, or a tenth of the skills, drawn "
        "at random, with two thirds of the mass that fade.",
        "ld.Anneal(1.5, 0, begin=0, finish=0.5)",
        (
            ("exponent", "exponent 1 ends above uniform skills"),
            ("state-tracking", "annealing the exponent to 0 reaches 90 %"),
            ("multi-hop-qa", "annealing the exponent from 1.5 to 0"),
            ("grade-school-math", "modular: annealing the exponent"),
            ("arithmetic", "annealing the exponent from 1.5 to 0 in the first half ends above uniform operands"),
            ("heavy-skills", "questions: two levels that fade reach 60%"),
            ("which-skills", "random heavy skills reach 90% with less compute than a subgroup"),
            ("countries", "annealed ends with a higher accuracy than power law"),
            ("countries", "two levels that fade ends with a higher accuracy than uniform"),
        ),
        (
            ("arithmetic", "Zipf operands end above uniform operands on held-out"),
            ("grade-school-math", "plain: power-law numbers end above"),
            ("curriculum", "with a mixture of hops, a power law ends above"),
            ("heavy-skills-groups", "D4xZ3: two levels that fade reach 90%"),
            ("countries", "power law ends with a higher accuracy than uniform"),
        ),
        _several,
    ),
    Branch(
        "which-window",
        "Do you not know when to let go?",
        "Let a law decide by your accuracy or, where shortcuts are worth a lot, by a contrast of losses.",
        "ld.ContrastAnneal(groups, total, batch)",
        (
            ("contrast-annealing", "questions: no window set by hand"),
            ("contrast-annealing", "Q8xZ3: no window set by hand"),
            ("contrast-annealing", "Q8xZ3: the law by contrast ends above the law by accuracy"),
            ("digits-sum", "contrast-annealed ends with a higher accuracy than annealed"),
            ("self-annealing", "A5: the window set by hand is at most 25 % ahead"),
            ("self-annealing", "arithmetic: the window set by hand is at most 25 % ahead"),
            ("discovered-text", "Every skill counted alike: self-annealed ends with a lower loss than as is"),
        ),
        (
            ("contrast-annealing", "A5: the law by accuracy is not more than 25 % ahead"),
            ("self-annealing", "questions: the window set by hand is at most 25 % ahead"),
            ("self-annealing-groups", "D4xZ3: neither window set by hand"),
        ),
    ),
    Branch(
        "even-test",
        "Is what you test on more even than what you train on?",
        "Let the tail come before the end. A law that stays steep learns the head alone.",
        "ld.Blend(ld.AsIs(), ld.Uniform())",
        (
            ("exponent", "the tail: exponent 1.5 ends below exponent 1"),
            ("exponent", "annealing from 1 to 0 reaches 95 %"),
            ("plane-strength-frequency", "… to 1 % of the loss, uniform frequencies need fewer"),
        ),
        (("granularity", "the finest law reaches half of all uniform test samples"),),
        _steep,
    ),
    Branch(
        "head-alone",
        "Does only what is frequent count?",
        "Keep a steep law.",
        "ld.PowerLaw(1.5)",
        (
            ("exponent", "the head: exponent 1.5 learns rank bin 1"),
            ("granularity", "the head: the finest law learns rank bin 1"),
            ("arithmetic", "Zipf operands end above uniform operands where all operands come from the most frequent"),
        ),
    ),
    Branch(
        "even-data",
        "Are your skills about as frequent as each other?",
        "The data as they are have no head to begin with: if answers compose skills, make one (above); if not, leave "
        "them.",
        "ld.TwoLevel(heavy=0.1, mass=2 / 3, end=0, finish=0.5, by='random')",
        (
            ("heavy-skills", "A5: two levels, fixed, end above uniform skills"),
            ("heavy-skills-groups", "D4xZ3: two levels, fixed, end above uniform skills"),
            ("exponent", "exponent 0.5 is too small"),
            ("rank-order", "random order at exponent 1.5 ends above uniform"),
        ),
        (
            ("heavy-skills", "questions: two levels, fixed, end above uniform"),
            ("heavy-skills", "arithmetic: two levels, fixed, end above uniform"),
            ("heavy-skills-groups", "S4: two levels, fixed, end above uniform"),
        ),
        _even,
    ),
    Branch(
        "unequal-signals",
        "Are some skills much stronger signals than others?",
        "Make the strong ones the frequent ones, and anneal if the test is even. The other way round costs.",
        "ld.Anneal(1.0, 0, by='given')",
        (
            ("plane-strength-frequency", "strengths of exponent 1: to 10 % of the loss"),
            ("plane-strength-frequency", "with the weakest features most frequent"),
            ("plane-strength-frequency", "a law that is annealed is as fast as exponent 1"),
        ),
        (("plane-strength-frequency", "strengths of exponent .6: uniform frequencies need fewer"),),
    ),
    Branch(
        "repeat",
        "Are samples dear, or does a transformer stand on a plateau?",
        "Repeat a small part first, and let it grow. Fresh samples cost more, and often more steps.",
        "ld.AsIs() & ld.Phases((0.2, 1), (0.02, 1))",
        (
            ("small-vs-large", "full-batch GD: the small set needs less compute"),
            ("small-vs-large-transformer", "parity: six phases need fewer steps"),
            ("small-vs-large-transformer", "in-context regression: four phases need fewer steps"),
            ("small-vs-large-transformer", "modular addition: four phases need fewer steps"),
            ("set-size", "a set in between needs fewer steps than all inputs"),
            ("rate-map", "depth 4: at each moderate rate the small set needs fewer steps than fresh samples"),
            ("rate-map", "depth 2: at each moderate rate the small set needs fewer steps than fresh samples"),
            ("two-sets", "two sets ends with a higher accuracy than all pairs"),
        ),
        (
            ("small-vs-large-transformer", "single-index: a small set first needs fewer steps"),
            ("small-vs-large", "single-index, SGD: a small set first needs fewer steps"),
            ("dense-parity", "dense parity, GD: the small set needs fewer steps"),
        ),
    ),
    Branch(
        "adaptive",
        "Do you train perceptrons with AdamW, or can you give layers rates or starts of their own?",
        "Do that first: it takes most of what repetition gives.",
        "",
        (
            ("adam", "depth 2, AdamW: the small set is not ahead"),
            ("adam-deep", "AdamW: the small set is not ahead"),
            ("layer-lr", "each at its best pair of rates, small and large sets need the same steps"),
        ),
        (
            ("qk", "six phases are less than 25 % ahead of fresh samples with a larger QK start"),
            ("qk", "six phases are less than 25 % ahead of fresh samples with a QK rate of its own"),
            ("qk", "six phases are less than 25 % ahead of fresh samples with QK norm"),
        ),
    ),
    Branch(
        "both",
        "Both: few samples, and skills that compose?",
        "A power law over a set that grows.",
        "ld.PowerLaw(1.0) & ld.Phases((0.3, 1), (0.05, 1))",
        (
            ("plane-frequency-repetition", "both together beat repetition alone"),
            ("plane-frequency-repetition", "under exponent 1, a set that grows"),
        ),
        (("plane-frequency-repetition", "512 distinct samples leave more skills out under exponent 2"),),
    ),
    Branch(
        "rare",
        "Are some classes far rarer than others, with one skill a row?",
        "Train on the data as they are, and balance late: every class alike in the last fifth, of which the last layer "
        "alone may be trained. Not where the rarest class has a tenth of the commonest one's rows.",
        "ld.Blend(ld.AsIs(), ld.Uniform(), begin=0.8, finish=0.81)",
        (
            ("long-tail", "Clothes, imbalance 100: deferred ends with a higher accuracy than as is"),
            ("long-tail", "Clothes, imbalance 100: decoupled ends with a higher accuracy than as is"),
            ("long-tail", "Clothes, imbalance 100: deferred ends with a higher accuracy than balanced"),
            ("long-tail", "Clothes, imbalance 100: decoupled ends with a higher accuracy than balanced"),
            ("long-tail", "Digits, imbalance 100: deferred ends with a higher accuracy than as is"),
            ("long-tail", "Digits, imbalance 100: deferred ends with a higher accuracy than balanced"),
        ),
        (
            ("long-tail", "Digits, imbalance 10: deferred ends with a higher accuracy than as is"),
            ("long-tail", "Digits, imbalance 100: decoupled ends with a higher accuracy than balanced"),
        ),
        _rare,
    ),
    Branch(
        "passes",
        "Will the same rows come many times?",
        "Space the repeats: whole passes rather than a few rows again and again. Whether every pass has an order of "
        "its own hardly matters.",
        "ld.AsIs()",
        (("repeat-order", "with replacement ends with a lower loss than no pause"),),
        (
            ("repeat-order", "same order ends with a lower loss than reshuffled"),
            ("mixture", "The run: whole: 1/4 ends with a lower loss than whole: as is"),
        ),
    ),
    Branch(
        "by-loss",
        "Do you think of weighting skills by their loss?",
        "Not before anything is learned: where all skills are at chance, their losses are equal, and no weight breaks "
        "the symmetry.",
        "",
        (
            ("by-loss", "at every setting, loss-proportional sampling stays within twice chance"),
            ("by-loss", "at every setting, group-dro sampling ends below the self-annealed law"),
        ),
    ),
)


def branches_of(groups: Groups | int) -> dict[str, str]:
    """What of these data says in which branches they are, by the branches' keys. Without skills: `repeat` alone."""
    if isinstance(groups, int):
        return {"repeat": "the rows have no skills, so that only subsets can be shaped"}
    said = {branch.key: branch.applies(groups) for branch in BRANCHES}
    return {key: text for key, text in said.items() if text}

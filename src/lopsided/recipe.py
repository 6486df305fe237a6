"""Everything that a recipe file is written with: `from lopsided.recipe import Recipe, Statement, Ahead, arm, swept`.

Coordinates in `Ahead`, `AheadThroughout`, `Level`, `NotAhead` and `WiderGap` stand for the best arm there, judged
members only. Except for `Level`, a verdict must be the same at every setting of the loser's sweep, else it is
inconclusive. For anything else there are the kinds of `lopsided.claims`, and `Custom` for a function of one's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from lopsided.claims.assumption import Assumption
from lopsided.claims.nuisance import USUAL, Nuisance
from lopsided.claims.places import At
from lopsided.claims.readings import EVERY, Best, Final, Measured, Reaches
from lopsided.claims.recipe import Recipe
from lopsided.claims.several import Custom, Everywhere
from lopsided.claims.slopes import SlopeAbove, SlopeBelow, SlopeNear
from lopsided.claims.statement import OWN, Own, Paper, Statement
from lopsided.claims.times import AHEAD, Ahead, AheadThroughout, Level, NotAhead, WiderGap
from lopsided.claims.values import Above, Below, Higher, Lower, MembersAbove, Near
from lopsided.core.arms import SCALES, ArmSpec, Scale, ScaleName, arm, name_of, swept
from lopsided.core.spec import Spec
from lopsided.figures.panels import (
    PALETTE,
    Contour,
    Figure,
    Heat,
    Line,
    Panel,
    curves,
    over_members,
    slope_line,
    theory_line,
)
from lopsided.figures.sweeps import chosen_rates, tuned_curves, tuned_times
from lopsided.results.every_setting import at_every_setting
from lopsided.results.stored import Arm, Axis, Results
from lopsided.results.sweeps import Tuned, best, bests
from lopsided.stats import decisions
from lopsided.stats.decisions import FIVE_POINTS
from lopsided.stats.times import Times
from lopsided.stats.transitions import evaluations_apart
from lopsided.stats.verdict import Claim, Decision

Arms = Iterator[ArmSpec]

__all__ = [
    "AHEAD",
    "EVERY",
    "FIVE_POINTS",
    "OWN",
    "PALETTE",
    "SCALES",
    "USUAL",
    "Above",
    "Ahead",
    "AheadThroughout",
    "Arm",
    "ArmSpec",
    "Arms",
    "Assumption",
    "At",
    "Axis",
    "Below",
    "Best",
    "Claim",
    "Contour",
    "Custom",
    "Decision",
    "Everywhere",
    "Figure",
    "Final",
    "Heat",
    "Higher",
    "Level",
    "Line",
    "Lower",
    "Measured",
    "MembersAbove",
    "Near",
    "NotAhead",
    "Nuisance",
    "Own",
    "Panel",
    "Paper",
    "Reaches",
    "Recipe",
    "Results",
    "Scale",
    "ScaleName",
    "SlopeAbove",
    "SlopeBelow",
    "SlopeNear",
    "Spec",
    "Statement",
    "Times",
    "Tuned",
    "WiderGap",
    "arm",
    "at_every_setting",
    "best",
    "bests",
    "chosen_rates",
    "curves",
    "decisions",
    "evaluations_apart",
    "name_of",
    "over_members",
    "slope_line",
    "swept",
    "theory_line",
    "tuned_curves",
    "tuned_times",
]

"""Schedules of growing sets grow: each phase is entered before the median member has learned.

Where the first phase lasts longer than learning takes, a recipe compares one repeated set with fresh samples, and says
nothing about a set that grows. Only recipes with published rows can be asked.
"""

from pathlib import Path

import numpy as np
import pytest

from lopsided.core.registry import registered
from lopsided.recipe import bests
from lopsided.recipes import plane_frequency_repetition as plane
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import unpack

ROOT = Path(__file__).parents[2]
LEARNS_EARLIER = {
    "single-index": ("AdamW, small first",),  # within 60 steps, the gap that it closes being that of the first 100
    "complexity-transformer": ("d = 8, k = 4, six phases",),  # in the paper, too, its sets exceed the easier population
    "qk-tasks": ("addition, repeated, QK norm",),  # in the third of four phases: at 2,950 of 3,200 steps
    "leaving-by-norms": ("leaves = 500", "leaves = 600", "leaves = 800"),  # a step set by hand, which can be too late
}
"""Arms that are meant to learn within a phase, by recipe: the end of their names."""

OWN_RULE = {"plane-frequency-repetition": lambda each: plane.times(each).ordinal / plane.BATCH}
"""Steps to learn of an arm, by recipe, where members do not leave by a rule of their specs, and no arm is swept."""


def phases_of(spec) -> tuple:
    """The phases of the spec's plan; () where it has none, or they end by themselves."""
    found = getattr(spec.plan, "phases", ())
    return found if isinstance(found, tuple) else ()


def with_phases() -> list[str]:
    """Recipes with published rows of which an arm has phases."""
    names = sorted(file.stem for file in (ROOT / "results").glob("*.parquet"))
    return [name for name in names if any(map(phases_of, registered("recipe")[name].specs("laptop").values()))]


@pytest.mark.slow
@pytest.mark.parametrize("name", with_phases())
def test_each_phase_is_entered_before_the_median_member_has_learned(name, tmp_path):
    store = unpack(ROOT / "results" / f"{name}.parquet", tmp_path)
    run = claims_of(registered("recipe")[name], recorded(store), store).run
    results = None if run is None else run.results(store)
    assert results is not None
    if name in OWN_RULE:
        learned = [(each.name, each.spec, OWN_RULE[name](each)) for each in results.arms.values()]
    else:
        learned = [(each.name, each.arm.spec, each.times().ordinal) for each in bests(results)]
    phased = [(arm, phases_of(spec), times) for arm, spec, times in learned if phases_of(spec)]
    assert phased
    for arm, phases, times in phased:
        last = sum(phase.steps for phase in phases[:-1])
        meant = arm.endswith(LEARNS_EARLIER.get(name, ("never",)))
        assert meant or np.median(times) >= last, arm

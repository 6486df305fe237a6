"""The page on common learning rates is what `packaging/common_rates.py` writes."""

import sys
from pathlib import Path

import pytest

from lopsided.stats.verdict import Decision

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))
from common_rates import PAGE, page, said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adam-deep", "bias-removal"])
def test_a_recipe_s_lines_are_those_of_its_published_rows(name):
    found = page([name]).split(f"## {name}\n")[1].strip()
    assert found
    assert found in PAGE.read_text()


def test_what_is_said_of_a_rate():
    found = Decision("within-seed ratio of", "steps", 1.25, (1.125, None), "holds", 12, "a test")
    assert said(0.5, found) == "0.5: 1.25 [1.12, ∞], holds"
    assert said(0.5, found._replace(effect=None, verdict="inconclusive")) == "0.5: too few learn, open"

"""The page on common learning rates is what `packaging/common_rates.py` writes."""

import sys
from pathlib import Path

import pytest

from lopsided.core.registry import registered
from lopsided.stats.verdict import Decision

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))
from common_rates import PAGE, page, said


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, recipe in registered("recipe").items() if recipe.paper.startswith("C")]
)
def test_a_recipe_s_lines_are_those_of_its_published_rows(name):
    """The page was written after the last rows were published."""
    _, *found = page([name]).split(f"## {name}\n")
    _, *said = PAGE.read_text().split(f"## {name}\n")
    assert [each.strip() for each in found] == [each.split("\n## ")[0].strip() for each in said]


def test_what_is_said_of_a_rate():
    statement = registered("recipe")["adam-deep"].claims[0]
    found = Decision("within-seed ratio of", "steps", 1.25, (1.125, None), "holds", 12, "a test", ratio=True)
    unknown = found._replace(effect=None, verdict="inconclusive")
    assert said(0.5, statement.with_what(found, "adam-deep", "laptop")) == "0.5: ≥ 1.25 [1.12, ∞], holds"
    assert (
        said(0.5, statement.with_what(unknown, "adam-deep", "laptop"))
        == "0.5: unknown, above 1.12, as too few learn, open"
    )

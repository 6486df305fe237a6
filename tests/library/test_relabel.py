"""Published claims have the words, and the distance from the paper, that recipes give them now."""

import json
import sys
from pathlib import Path

import pytest

from lopsided.core.registry import registered

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

from relabel import relabelled  # noqa: E402

FILES = ("docs/results.json", "docs/paper-results.json")
PUBLISHED = [each for file in FILES for each in json.loads((ROOT / file).read_text())["claims"]]


@pytest.mark.parametrize("name", list(registered("recipe")))
def test_what_is_published_is_said_as_the_recipe_says_it(name):
    """`python packaging/relabel.py` was run after the last change of a source, a history or an assumption."""
    for claim in (each for each in PUBLISHED if each["recipe"] == name):
        assert relabelled(claim, registered("recipe")[name]) == claim, claim["claim"]


def test_a_claim_that_is_the_papers_no_more_says_so():
    recipe = registered("recipe")["biased-online"]
    (claim,) = (c for c in PUBLISHED if c["recipe"] == recipe.name and c["scale"] == "laptop" and "2^4" in c["claim"])
    older = {**claim, "source": "paper", "paper": "not closed", "setting": [{"field": "steps", "here": 1, "paper": 2}]}
    new = relabelled(older, recipe)
    assert (new["source"], new["setting"], new["effect"]) == ("own", [], claim["effect"])
    assert "the opposite" in new["paper"]

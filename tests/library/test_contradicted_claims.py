"""Every claim of a paper that published rows contradict has its line on the page that says what was checked."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def lines() -> list[str]:
    """First cells of the page's table."""
    text = (ROOT / "docs" / "contradicted.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if not row.startswith("recipe: claim")]


def contradicted() -> list[str]:
    """Recipe and words of the papers' claims that are contradicted."""
    claims = json.loads((ROOT / "docs" / "results.json").read_text(encoding="utf-8"))["claims"]
    found = [each for each in claims if each["verdict"] == "contradicted" and each["source"] == "paper"]
    return [f"`{each['recipe']}`: {each['claim']}" for each in found]


def test_the_page_has_the_contradicted_claims_and_no_others():
    assert sorted(lines()) == sorted(contradicted())

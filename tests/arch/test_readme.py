"""The README's library example runs as printed, on fewer steps and seeds; its numbers are those of the results file."""

import json
import re
from pathlib import Path

import pytest

from lopsided.claims.counts import counts
from lopsided.stats.verdict import Claim

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_library_example(tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    small = code.replace("steps=400", "steps=40").replace("seeds=16", "seeds=2")
    assert small != code
    monkeypatch.chdir(tmp_path)
    exec(compile(small, "README.md", "exec"), {})
    assert "small reaches test/accuracy ≥ 0.95 in fewer samples than fresh: inconclusive" in capsys.readouterr().out


def test_it_is_short():
    assert len(README.split()) <= 700


CLAIMS, AT_PAPER_SCALE = (
    [Claim.of_json(each) for each in json.loads((ROOT / f"docs/{name}.json").read_text())["claims"]]
    for name in ("results", "paper-results")
)
NUMBER = r"([−-]?[\d.,]*\d)"
EFFECT = re.compile(rf"{NUMBER}\s\[(?:{NUMBER}|−∞),\s(?:{NUMBER}|∞)\]")
PAGES = (
    "frequency",
    "strength",
    "repetition",
    "repetition-transformers",
    "language",
    "plane",
    "annealing",
    "release-0.1.0",
)
EARLIER = {
    "annealing": {"0.86 [0.78, 0.90]", "2.1 [1.6, 2.9]"},
    "frequency": {
        "0.03 [0.01, 0.07]", "0.05 [0.02, 0.08]", "79 [-26, 180]", "1,870 [1,550, 2,000]",
    },
    "repetition-transformers": {"0.56 [0.38, 0.81]"},
    "repetition": {
        "1.07 [0.93, 1.23]", "1.72 [1.39, 2.22]", "1.21 [1.08, 1.34]", "0.86 [0.82, 0.91]", "2.2 [2.0, 2.5]",
        "1.01 [0.89, 1.15]", "0.79 [0.66, 0.96]",
    },
}  # fmt: skip
"""What pages tell of other settings, other seeds and quantities that no claim is about."""


def test_the_counts_are_those_of_the_results_file():
    found = counts(CLAIMS)
    papers, own = found.papers, found.own
    said = " ".join(README.split())
    verdicts = ("holds", "contradicted", "negligible", "inconclusive")
    assert f"{len(CLAIMS)} claims were [tested]" in said
    assert f"{len(list((ROOT / 'results').glob('*.parquet')))} recipes have [published rows]" in said
    assert (
        f"Of {sum(papers.values())} claims of the papers {papers['holds']} hold, {papers['contradicted']} are "
        f"contradicted, {papers['negligible']} are of a negligible difference, {papers['inconclusive']} are open; of "
        f"{sum(own.values())} of our own {', '.join(str(own[v]) for v in verdicts[:3])} and {own['inconclusive']}."
    ) in said
    assert (
        f"Of all these, {found.with_history} had a test, threshold or setting changed after rows had been seen, "
        f"{found.several_versions} rest on rows of several versions of the code, {found.near_trivial} could hardly "
        "fail."
    ) in said


@pytest.mark.parametrize("page", ["README", *PAGES])
def test_every_effect_with_an_interval_is_one_of_the_results_file(page):
    """To the digits that are written; of a difference or a ratio, also the other way round."""
    text = README if page == "README" else (ROOT / f"docs/{page}.md").read_text()
    unknown = []
    for found in EFFECT.finditer(text):
        said = " ".join(found[0].split())
        if said not in EARLIER.get(page, ()) and not any(_is(found.groups(), c) for c in [*CLAIMS, *AT_PAPER_SCALE]):
            unknown.append(said)
    assert unknown == []


def _is(said, claim):
    ends = (claim.effect, *claim.interval)
    if claim.effect is None:
        return False
    negative = [None if v is None else -v for v in (ends[0], ends[2], ends[1])]
    inverse = [None if not v else 1 / v for v in (ends[0], ends[2], ends[1])]
    return any(all(map(_rounds_to, said, values)) for values in (ends, negative, inverse))


def _rounds_to(text, value):
    if text is None or value is None:
        return (text is None) == (value is None)
    digits = len(text.partition(".")[2])
    return abs(float(text.replace("−", "-").replace(",", "")) - value) <= 0.5000001 * 10**-digits

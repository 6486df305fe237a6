"""Should I shape my data? No advice without a claim, and the branches of somebody's labels."""

import json
from pathlib import Path

import numpy as np
import pytest

import lopsided.data as ld
from lopsided.advising.branches import BRANCHES, branches_of
from lopsided.core.registry import registered
from lopsided.shape.shape import Shape

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = json.loads((DOCS / "examples.json").read_text())
RESULTS = json.loads((DOCS / "results.json").read_text())["claims"] + EXAMPLES
EACH = [(branch, evidence) for branch in BRANCHES for evidence in (*branch.speaks_for, *branch.against)]


@pytest.mark.parametrize(("branch", "evidence"), EACH, ids=lambda each: getattr(each, "key", "") or each[0])
def test_each_evidence_is_one_claim(branch, evidence):
    recipe, begins = evidence
    of_examples = [each["claim"] for each in EXAMPLES if each["recipe"] == recipe]
    claims = of_examples or [s.claim for s in registered("recipe")[recipe].claims]
    assert sum(claim.startswith(begins) for claim in claims) == 1, evidence


@pytest.mark.parametrize("branch", BRANCHES, ids=lambda branch: branch.key)
def test_what_speaks_for_an_answer_holds(branch):
    """A verdict that changes takes its place on the page with it."""
    assert branch.speaks_for
    for recipe, begins in branch.speaks_for:
        (found,) = (c for c in RESULTS if c["recipe"] == recipe and c["claim"].startswith(begins))
        assert found["verdict"] == "holds", (recipe, begins)


@pytest.mark.parametrize("branch", [b for b in BRANCHES if b.code and "(groups" not in b.code], ids=lambda b: b.key)
def test_the_code_is_a_shape(branch):
    assert isinstance(eval(branch.code, {"ld": ld}), Shape)


def test_the_branches_of_labels():
    even, steep = ld.Groups(np.arange(1000) % 10), ld.Groups(np.repeat(np.arange(20), 2000 // np.arange(1, 21)))
    assert set(branches_of(even)) == {"even-data"}
    assert set(branches_of(steep)) == {"even-test"}
    assert "exponent 1.0" in branches_of(steep)["even-test"]
    several = branches_of(ld.Groups([["add", "carry"], ["add"], ["carry", "shift"]] * 30))
    assert several["several-skills"] == "rows need up to 2 skills at once"
    rare = branches_of(ld.Groups([*"abc"] * 100 + ["d"]))
    assert "1 of 4 skills" in rare["rare"]
    assert "rare" not in branches_of(ld.Groups([*[["a", "b"]] * 100, ["d"]]))  # its evidence is of one skill a row
    assert set(branches_of(100)) == {"repeat"}


def test_the_command_says_them(tmp_path, monkeypatch, capsys):
    from lopsided.cli import main

    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("topic\n" + "\n".join(f"t{i % 5}" for i in range(100)))
    Path("loop.py").write_text("def train(stream, seed):\n    return float(stream.at(seed))\n")
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "advise",
                "rows.csv",
                "--skill",
                "topic",
                "--train",
                "loop.py",
                "--samples",
                "200",
                "--budget",
                "1s",
                "--json",
            ]
        )
    assert ended.value.code == 0
    told = capsys.readouterr()
    assert "docs/should-i-shape.md, even-data" in told.err
    assert "even-data" in json.loads(told.out)["branches"]

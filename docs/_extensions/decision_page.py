"""Writes "Should I shape my data?" of `lopsided.advising.branches` and the published verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recipe_pages import DOCS, _update, results

from lopsided.advising.branches import BRANCHES, Branch, Evidence
from lopsided.report.words import effect_text, neighbours_text, setting_text
from lopsided.stats.verdict import Claim

WORDS = {"inconclusive": "open"}
HEAD = """# Should I shape my data?

{number} questions; the list takes five minutes.
Below it, under each: what to do, the shape to try, and the measured claims that speak for it and against it, with
intervals.
"Same side at n of m neighbours" says whether it depends on a setting that somebody chose; claims without it were not
[tried at others](deciding.md#neighbours).
Effects are ratios of cost to learn (above 1: the shape is cheaper) or differences of accuracy, as each line says.
All were measured on [small networks](verdicts.md), so the last answer is your own: [`lopsided advise`](advice.md)
says which of the questions your labels answer, tries shapes in your loop, and tests the best one on fresh seeds.

No labels? [Find some](skills.md) first: shapes of frequency say how often *skills* come.
"""
FOOT = """## What `lopsided advise` chose

On [tasks whose best shape is known](advice.md#how-often-is-it-right): uniform data wherever nothing else is better (a
parity of one bit, linear regression); on two-step composition nearly always the law that anneals itself, with hardly
any regret; on three elements of A5 that law or no decision, and never a shape that does not learn.
On a parity that a repeated set makes faster it is cautious: more often than not it keeps uniform data, half of the time
with the word that it is not decided.

## What this page does not know

- **Large models.** Nothing here has more than a few million parameters, or took a day.
- **One skill a row, and no plateau.** The nearest that we have is text: [source code by module](stdlib-text.md), and
  [docstrings by skills that were found](discovered-text.md).
- **Rare data that repeat.** A trial at 2 % of the samples repeats rare rows 50 times less often.
  [Two sources of text](mixture.md): such trials do not see that a half is too much.
  [`ld.proxy`](your-data.md#shapes) makes one that repeats them as the whole run will.
"""


def write(folder: Path = DOCS) -> None:
    """The page."""
    claims, _ = results()
    for each in json.loads((DOCS / "examples.json").read_text(encoding="utf-8")):
        claims.setdefault(each["recipe"], []).append(Claim.of_json(each))
    asked = [f"{i + 1}. [{b.question}](#{b.key}) {b.answer}" for i, b in enumerate(BRANCHES)]
    text = "\n".join(
        [
            HEAD.replace("{number}", str(len(BRANCHES))),
            *asked,
            "",
            *(section(i + 1, branch, claims) for i, branch in enumerate(BRANCHES)),
            FOOT,
        ]
    )
    _update(folder / "should-i-shape.md", text)


def section(number: int, branch: Branch, claims: dict[str, list[Claim]]) -> str:
    """A question with its answer and its evidence."""
    lines = [f"({branch.key})=", f"## {number}. {branch.question}", "", f"**{branch.answer}**", ""]
    if branch.code:
        lines += [f"`{branch.code}`", ""]
    lines += [line(each, claims) for each in branch.speaks_for]
    if branch.against:
        lines += ["", "Where it did not help, or is open:", "", *(line(each, claims) for each in branch.against)]
    return "\n".join([*lines, ""])


def line(evidence: Evidence, claims: dict[str, list[Claim]]) -> str:
    """A claim, its verdict and its effect, and what neighbouring settings say where some were tried."""
    recipe, begins = evidence
    (claim,) = (each for each in claims[recipe] if each.claim.startswith(begins))  # tests/library/test_branches.py
    verdict = WORDS.get(claim.verdict, claim.verdict)
    apart = "" if claim.source == "own" or not setting_text(claim) else " (in a smaller setting than the paper's)"
    said = claim.claim.replace("<", "&lt;")
    page = f"{recipe}.md" if (DOCS / f"{recipe}.md").exists() else f"recipes/{recipe}.md"
    beside = f"; {nearby}" if (nearby := neighbours_text(claim)) else ""
    return f"- {said}: **{verdict}**, {effect_text(claim)}{apart}{beside} ([{recipe}]({page}))"


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}

"""Writes docs/common-rates.md, claims of paper C at common learning rates: `python packaging/common_rates.py`.

From published rows; nothing is trained. The sweeps behind our verdicts have both arms at common rates, and what a claim
is there needs no further run.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lopsided.claims.recipe import Recipe
from lopsided.core.errors import InputError, MissingData
from lopsided.core.registry import registered
from lopsided.recipe import Ahead, NotAhead, Results, Statement
from lopsided.report.words import size_text
from lopsided.stats.verdict import Claim, Decision
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/common-rates.md"
HEAD = """# At common learning rates

Paper C says that rates are tuned and prints none.
Our verdicts are at each arm's own best rate; somebody who does not tune asks what happens where both have the same one.
The sweeps have both arms at common rates, so that published rows say that, too: here for every claim on steps, or on
compute, to learn whose arms were swept, by the members that chose the rates (six to twelve seeds; verdicts on pages
rest on new ones).
Effects are within-seed ratios with 95 % intervals, "≥" where some members never learn; above 1 the arm that the claim
names first is ahead.
"Not ahead" allows 25 %.
The best rates are those of the two arms, in the order of the claim.
`python packaging/common_rates.py` writes this page.

"""


def at_common_rates(results: Results, statement: Statement) -> Iterator[tuple[float, Decision]]:
    """What the claim's own test finds at every learning rate that both of its arms have, from the lowest on."""
    names = statement.test.reads(results.arms)
    for rate in sorted({results[name].coordinates["lr"] for name in names if "lr" in results[name].swept}):
        alone = results.of(name for name in names if results[name].coordinates.get("lr") == rate)
        try:
            yield rate, statement.test.decide(alone)
        except (InputError, MissingData):  # one of the two was not trained at that rate
            continue


def section(recipe: Recipe, store: Store) -> list[str]:
    """The lines of a recipe's claims; none where nothing is swept."""
    checked = claims_of(recipe, recorded(store), store)
    results = None if checked.run is None else checked.run.results(store)
    if results is None:
        return []
    lines = []
    for statement, claim in zip(recipe.claims, checked.claims, strict=True):
        if not isinstance(statement.test, Ahead | NotAhead):
            continue
        best = [f"{each.arm.coordinates['lr']:g}" for each in statement.test.chosen(results) if "lr" in each.arm.swept]
        common = at_common_rates(results, statement)
        found = [said(rate, statement.with_what(at, recipe.name, results.scale)) for rate, at in common]
        if len(best) == 2 and found:
            lines.append(f"| {claim.claim} | {claim.verdict} | {best[1]}, {best[0]} | {'; '.join(found)} |")
    if not lines:
        return []
    head = ["| claim | at best rates | which are | at common rates |", "|---|---|---|---|"]
    return [f"## {recipe.name}", "", *head, *lines, ""]


def said(rate: float, claim: Claim) -> str:
    """A rate, and the claim's effect and verdict there."""
    few = ", as too few learn" if claim.effect is None else ""
    return f"{rate:g}: {size_text(claim)}{few}, {'open' if claim.verdict == 'inconclusive' else claim.verdict}"


def page(names: Sequence[str]) -> str:
    """The page on the recipes of these names that have published rows."""
    there = [name for name in names if (ROOT / "results" / f"{name}.parquet").exists()]
    if not there:  # of no names `published` opens every file
        return HEAD
    with published(ROOT / "results", there) as stores:
        return HEAD + "\n".join(
            line for name, store in stores.items() for line in section(registered("recipe")[name], store)
        )


if __name__ == "__main__":
    PAGE.write_text(page([name for name, recipe in registered("recipe").items() if recipe.paper.startswith("C")]))

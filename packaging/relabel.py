"""Gives published claims the words that recipes have now: `python packaging/relabel.py`.

Whose claim it is, its figure, the paper's number, its history and what its setting assumes are a recipe's, not
measurements: they change without a run. What was measured and decided stays. Claims that a recipe no longer makes are
named, and stay.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from publish import AT_PAPER_SCALE, RESULTS, counted

from lopsided.claims.counts import counts
from lopsided.claims.deciding import distance
from lopsided.claims.recipe import Recipe
from lopsided.core.registry import registered
from lopsided.report.as_json import as_text
from lopsided.stats.verdict import NOT_RUN, Claim

WORDS = ("source", "paper", "figure", "number", "near_trivial", "history")


def relabelled(claim: Mapping[str, Any], recipe: Recipe) -> dict[str, Any]:
    """The claim with the words of the statement of the same sentence."""
    statement = next((each for each in recipe.claims if each.claim == claim["claim"]), None)
    if statement is None:
        print(f"{recipe.name}: no longer claimed: {claim['claim']}")
        return dict(claim)
    said = statement.with_what(NOT_RUN, recipe.name, claim["scale"])
    arms = recipe.arms_at(claim["scale"])
    now = distance(recipe, statement, [arms[name] for name in statement.test.reads(arms)], claim["scale"])
    setting = list(_setting(claim["setting"], [asdict(each) for each in now["setting"]])) if now["setting"] else []
    words = {word: getattr(said, word) for word in WORDS}
    new = {**claim, **words, "setting": setting, "assumed": list(now["assumed"])}
    # Through JSON, so that tuples are the lists that a file has.
    return json.loads(json.dumps({**new, **Claim.of_json(new).as_json()}))


def _setting(said: Sequence[Mapping[str, Any]], planned: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The distance from the paper as the recipe has it now; of what is swept, as it was trained."""
    swept = [each for each in said if each["field"].startswith("optimizer.")]
    yield from (each for each in said if each in swept or each in planned)
    yield from (each for each in planned if each not in said and not each["field"].startswith("optimizer."))


def main() -> None:
    """Both files of verdicts, and the counts in README.md."""
    for file in (RESULTS, AT_PAPER_SCALE):
        document = json.loads(file.read_text())
        document["claims"] = [relabelled(each, registered("recipe")[each["recipe"]]) for each in document["claims"]]
        document["counts"] = counts(map(Claim.of_json, document["claims"])).as_json()
        file.write_text(as_text(document) + "\n")
    counted(counts(map(Claim.of_json, json.loads(RESULTS.read_text())["claims"])))


if __name__ == "__main__":
    main()

"""Counts what every recipe costs at paper scale, into `recipes/costs.json`: `python -m lopsided.price.paper_costs`.

Recipes whose specs have not changed since keep what was counted for them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from lopsided.claims.recipe import Recipe
from lopsided.core.registry import registered
from lopsided.price.cost import cost
from lopsided.study.catalog import COSTS
from lopsided.study.recipe_run import prepare


def specs_digest(recipe: Recipe) -> str:
    """Digest of the specs and seeds that were counted."""
    hashes = sorted(spec.content_hash() for spec in recipe.specs("paper").values())
    return hashlib.sha256(f"{hashes} {recipe.scales['paper'].seeds}".encode()).hexdigest()[:16]


def counted(recipe: Recipe) -> dict[str, Any]:
    """What one recipe costs on one H100 at 30 % of its peak."""
    found = cost(prepare(recipe.name, "paper", None, ()), "h100")
    largest = max((p.work.state + p.work.temporary for p in found.prices if p.work), default=0)
    return {
        "specs": specs_digest(recipe),
        "members": found.members,
        "samples": sum(p.samples for p in found.prices),
        "tokens": sum(p.tokens for p in found.prices),
        "operations": float(f"{found.operations:.4g}"),
        "memory": largest,
        "storage": found.storage,
        "h100_hours": float(f"{found.hours:.4g}"),
        "adaptive": sum(p.members for p in found.unknown),
    }


if __name__ == "__main__":
    known = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.is_file() else {}
    recipes = [recipe for recipe in registered("recipe").values() if "paper" in recipe.scales]
    for recipe in recipes:
        if known.get(recipe.name, {}).get("specs") != specs_digest(recipe):
            known[recipe.name] = counted(recipe)
            print(recipe.name, known[recipe.name], flush=True)
        rows = {r.name: known[r.name] for r in recipes if r.name in known}
        COSTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")

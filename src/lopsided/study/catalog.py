"""What `lopsided list` says of the recipes, without importing them (and JAX with them).

It lies beside the recipes as `catalog.json`, with a digest of their sources: where they were changed since, they are
imported after all. `python -m lopsided.study.catalog` writes it anew (`make catalog`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lopsided.core.errors import unknown

if TYPE_CHECKING:
    from lopsided.claims.recipe import Recipe

FOLDER = Path(str(files("lopsided.recipes")))
FILE = FOLDER / "catalog.json"
COSTS = FOLDER / "costs.json"
"""What recipes cost at paper scale, by `python -m lopsided.price.paper_costs`."""


def catalog(names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """One row for each recipe, or for each of `names`: names of recipes, or files that define one (FILE.py).

    A row has name, paper, figure, question, about, claims, scales, and the metric and threshold that say when a member
    has learned. Raises `InputError` for a name that no recipe has."""
    found = {row["name"]: row for row in _stored() or described()}
    for name in names:
        if name.endswith(".py"):
            found[name] = _of_file(name)
        elif name not in found:
            raise unknown("recipe", name, found)
    return [found[name] for name in names or found]


def _of_file(name: str) -> dict[str, Any]:
    from lopsided.study.targets import find

    return _row(find(name), None)


def described() -> list[dict[str, Any]]:
    """What the recipes say of themselves; imports them."""
    from lopsided.core.registry import registered

    costs = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.is_file() else {}
    return [_row(recipe, costs.get(recipe.name)) for recipe in registered("recipe").values()]


def _row(recipe: Recipe, counted: Any) -> dict[str, Any]:
    """A recipe's row. `counted`: what it costs at paper scale, if that was counted."""
    return {
        "name": recipe.name,
        "paper": recipe.paper,
        "figure": recipe.figure_number,
        "question": recipe.question,
        "about": (recipe.about or "").strip(),
        "claims": [statement.claim for statement in recipe.claims],
        "metric": recipe.metric,
        "threshold": recipe.goal if math.isfinite(recipe.goal) else None,
        "scales": {
            name: {
                "seconds": scale.seconds if math.isfinite(scale.seconds) else None,
                "seeds": scale.seeds,
                "on": scale.on,
                "counted": counted if name == "paper" else None,
            }
            for name, scale in recipe.scales.items()
        },
    }


def _stored() -> list[dict[str, Any]] | None:
    try:
        data = json.loads(FILE.read_text(encoding="utf-8"))
        return data["recipes"] if data["sources"] == sources() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def sources() -> str:
    """Digest of the recipes' sources."""
    total = hashlib.sha256()
    for file in [*sorted(FOLDER.glob("*.py")), *([COSTS] if COSTS.is_file() else [])]:
        total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()


if __name__ == "__main__":
    FILE.write_text(json.dumps({"sources": sources(), "recipes": described()}, indent=1) + "\n", encoding="utf-8")

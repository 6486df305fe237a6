"""Digests of what a plan of `--until-decided` is made for: a plan of other arms, claims or tests is passed over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lopsided.claims.recipe import Recipe
    from lopsided.core.spec import Spec


def arms_hash(arms: Mapping[str, Spec]) -> str:
    """Digest of the names and specs of a recipe's own arms."""
    return _digest(sorted((name, spec.content_hash()) for name, spec in arms.items()))


def tests_of(recipe: Recipe) -> tuple[str, ...]:
    """Digests of the settings of the claims' tests, in order."""
    from lopsided.claims.as_text import as_text

    return tuple(sha256(as_text(each.test).encode()).hexdigest()[:16] for each in recipe.claims)


def plan_key(arms: str, claims: Sequence[str], tests: Sequence[str]) -> str:
    """Digest of a run's arms, claims and tests. A reader that does not know the recipe tells by it whether a plan of
    `--until-decided` is still that of the run."""
    return _digest([arms, list(claims), list(tests)])


def _digest(said: object) -> str:
    return sha256(json.dumps(said).encode()).hexdigest()[:16]

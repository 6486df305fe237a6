"""Runs that a folder remembers, made anew from their manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from lopsided.claims.recipe import Recipe
from lopsided.core import registry
from lopsided.core.arms import ScaleName
from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.study import manifest
from lopsided.study.manifest import Manifest
from lopsided.study.overrides import overridden
from lopsided.study.recipe_run import RecipeRun, is_swept
from lopsided.study.targets import plain_arms


def of_manifest(found: Manifest) -> RecipeRun:
    """The run that a manifest remembers. Of a recipe that is not known here, or has other arms by now, the arms are
    left, without claims."""
    scale = cast(ScaleName, found.scale)
    recipe: Recipe | None = registry.registered("recipe").get(found.recipe)
    if recipe and scale in recipe.scales:
        try:
            arms = overridden(recipe.name, recipe.specs(scale), found.overrides)
        except InputError:
            arms = {}
        if _same(arms, found, is_swept(recipe, scale)):
            return RecipeRun(recipe, scale, arms, found.seeds, found.overrides, drawn=found.drawn)
    arms = {name: Spec.parse(arm.spec) for name, arm in found.arms.items()}
    plain = plain_arms(found.recipe, arms, found.metric, found.threshold)
    return RecipeRun(plain, scale, arms, found.seeds, found.overrides, drawn=found.drawn)


def _same(arms: Mapping[str, Spec], found: Manifest, swept: bool) -> bool:
    """Whether a manifest is of these arms, and of what was added to their sweeps; their names may have changed."""
    ours, theirs = {s.content_hash() for s in arms.values()}, {arm.hash for arm in found.arms.values()}
    return ours == theirs or (swept and ours < theirs)


def recorded(store: Store, manifests: Sequence[Manifest] | None = None) -> list[RecipeRun]:
    """Runs that the folder remembers, newest last; one whose specs are no longer valid is left out. `manifests`: those
    of the folder, where they have been read (a bad one is told once)."""
    found = []
    for each in manifest.recorded(store) if manifests is None else manifests:
        try:
            found.append(of_manifest(each))
        except InputError:
            continue
    return found


def unreadable(manifests: Sequence[Manifest]) -> dict[str, str]:
    """Why runs that the folder remembers cannot be read here, by title: their tasks come from files that this process
    has not imported, or their specs are of another version."""
    found = {}
    for each in manifests:
        try:
            of_manifest(each)
        except InputError as error:
            found[each.title] = str(error)
    return found


def latest(manifests: Sequence[Manifest], recipe: Recipe) -> RecipeRun | None:
    """The largest-scale unchanged run of a recipe whose arms are still those of the recipe."""
    for scale in ("paper", "overnight", "laptop"):
        for found in manifests:
            same = (found.recipe, found.scale) == (recipe.name, scale) and not found.overrides
            if same and scale in recipe.scales:  # a file may have lost a scale since
                arms = recipe.specs(scale)
                if _same(arms, found, is_swept(recipe, scale)):
                    return RecipeRun(recipe, scale, arms, found.seeds)
    return None

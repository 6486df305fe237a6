"""Known faults of earlier trials, mended later; and what a thirteenth newcomer found."""

from dataclasses import replace

from lopsided.core.arms import arm as named
from lopsided.store.parts import Store
from lopsided.study.manifest import recorded
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.remembered import of_manifest
from tests.library.small import small_recipe, spec


def test_a_folder_judges_a_recipe_files_run_by_its_own_goal(tmp_path):
    """A report of the folder took 0.95 of the test accuracy, whatever the recipe had called learned."""
    specs = {"slow": spec(0.25)}
    arms = [named(each, data=name) for name, each in specs.items()]
    store = Store(tmp_path)
    store.require_writable()
    for metric, threshold in (("train/loss", None), ("test/accuracy", 0.7), ("test/accuracy", None)):
        recipe = replace(small_recipe("own", lambda scale: arms, []), metric=metric, threshold=threshold)
        RecipeRun(recipe, "laptop", specs, 2, ()).note(store)
        again = of_manifest(recorded(store)[-1]).recipe
        assert (again.metric, again.goal) == (recipe.metric, recipe.goal)

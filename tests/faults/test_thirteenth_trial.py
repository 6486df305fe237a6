"""Known faults of earlier trials, mended later; and what a thirteenth newcomer found."""

import shutil
from dataclasses import replace

import pytest

from lopsided.core.arms import arm as named
from lopsided.core.arms import swept
from lopsided.core.errors import StoreError
from lopsided.recipe import Ahead, Own, Statement
from lopsided.store.parts import Store
from lopsided.study.manifest import recorded
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.remembered import of_manifest
from lopsided.study.until_decided import looked, until_decided
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


@pytest.mark.slow
def test_a_plan_whose_choosing_rows_are_gone_trains_them_again(tmp_path, capsys):
    """It was a traceback (`KeyError`) where an arm of a later round was gone, also of `check`."""
    claims = [Statement("the large rate is faster", Own("?"), Ahead({"lr": 0.5}, of={"lr": 0.05}))]
    recipe = small_recipe("gone", lambda scale: swept(spec, {"lr": (0.05, 0.5)}, data="fresh"), claims)
    asked = RecipeRun(recipe, "laptop", recipe.specs("laptop"), 6)
    before, _ = until_decided(asked, Store(tmp_path), looks=(8,))
    for part in (tmp_path / "parts").iterdir():
        shutil.rmtree(part)
    (tmp_path / "index.jsonl").unlink(missing_ok=True)
    with pytest.raises(StoreError, match="are gone"):
        looked(asked, Store(tmp_path))
    again, done = until_decided(asked, Store(tmp_path))
    assert again.claims == before.claims
    arms = asked.grown(Store(tmp_path))[0].arms
    assert len(arms) > 2  # the sweep has a round
    assert done.trained == 6 * len(arms) + sum(before.judged.values())
    assert "trained again" in capsys.readouterr().err

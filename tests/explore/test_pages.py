"""What the page makes of runs, without a browser."""

import csv
import json
import shlex
import time
from pathlib import Path

import numpy as np
import pytest

from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.explore import curves, draw, form, runs, selection
from lopsided.explore.folder import Folder
from lopsided.explore.pages import claims
from lopsided.explore.verdicts import ShownClaims, Verdicts, decided
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study.manifest import Manifest, recorded
from lopsided.study.others import OTHERS, arm_rows
from lopsided.study.recipe_run import prepare
from lopsided.work.worker import run
from tests.conftest import PARITY

pytestmark = pytest.mark.xdist_group("pages")  # one worker trains what they show


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recipe at smoke scale, and two members that a program trained."""
    root = tmp_path_factory.mktemp("runs") / "store"
    prepare("set-size", "smoke", None, ()).train(Store(root))
    run([Spec.parse(PARITY)], 2, Store(root))
    found = Folder(root)
    found.start()
    until = time.monotonic() + 60
    while not found.status or OTHERS not in found.runs:
        assert time.monotonic() < until, found.trouble
        time.sleep(0.05)
    yield found
    found.close()


def test_arms_have_the_recipe_s_coordinates(folder):
    found = folder.runs["set-size-smoke"]
    planned = registered("recipe")["set-size"].arms_at("smoke")
    assert {arm.name: dict(arm.at) for arm in found.arms} == {name: dict(a.coordinates) for name, a in planned.items()}
    assert found.threshold == registered("recipe")["set-size"].goal
    (other,) = folder.runs[OTHERS].arms
    assert other.digest == Spec.parse(PARITY).content_hash()


def test_slices_choose_arms(folder):
    found = folder.runs["set-size-smoke"]
    key, values = next((k, v) for k, v in found.coordinates().items() if len(v) > 1)
    chosen = selection.choose(found, "test/accuracy", {key: values[:1]})
    assert chosen.arms
    assert len(chosen.arms) < len(found.arms)
    assert {runs.text_of(arm.at[key]) for arm in chosen.arms} == set(values[:1])


def arms_of(folder):
    manifests = recorded(folder.store)
    return [row for each in manifests for row in each.rows()] + arm_rows(folder.store, manifests)


@pytest.mark.parametrize("label", ["set-size-smoke", OTHERS])
def test_the_saved_table_and_the_command_give_the_same_rows(folder, label):
    found = folder.runs[label]
    chosen = selection.choose(found, "test/accuracy", {})
    saved = list(csv.DictReader(selection.csv(folder.mirror, chosen).splitlines()))
    _, _, sql, _, out = shlex.split(selection.command(chosen, folder.root))
    assert Path(out) == folder.root
    answer = query(Store(folder.root).as_of_now(), arms_of(folder), sql)
    asked = [(arm, int(seed), int(step), value) for arm, seed, step, _, value in answer.rows]
    mine = [(row["arm"], int(row["seed"]), int(row["step"]), float(row["test/accuracy"])) for row in saved]
    assert asked
    assert sorted(mine) == sorted(asked)


def _rows(seeds, steps, distinct, values, job, complete=True):
    n = len(seeds)
    return {
        "seed": np.array(seeds), "step": np.array(steps), "samples": 10 * np.array(steps),
        "distinct_samples": np.array(distinct, float), "seconds": np.zeros(n), "diverged": np.zeros(n, bool),
        "value": np.array(values, float), "job": np.array(job, object), "complete": np.full(n, complete),
    }  # fmt: skip


ARM = runs.PlacedArm("arm", "0", {}, {})


def test_members_learn_on_their_own_axis():
    """Two members that differ in their distinct samples; the second one leaves early."""
    rows = _rows([0, 0, 0, 1, 1], [1, 2, 3, 1, 2], [5, 50, 500, 7, 9], [0, 0.9, 0.9, 0.9, 0.9], ["a"] * 5)
    found = curves._curves(ARM, rows, "test/loss")
    np.testing.assert_array_equal(found.values[1], [0.9, 0.9, 0.9])
    assert curves.times(found, "distinct", 0.5, False).time.tolist() == [50, 7]
    assert curves.times(found, "steps", 0.5, False).time.tolist() == [2, 1]
    assert found.axis("distinct").tolist() == [6, 29.5, 254.5]


def test_unfinished_jobs_are_known_as_far_as_they_have_come():
    """One job is at step 3, where one of its members left at step 1; another job is at step 2."""
    job = ["far", "far", "far", "far", "near", "near"]
    rows = _rows([0, 0, 0, 1, 2, 2], [1, 2, 3, 1, 1, 2], [1] * 6, [0.1, 0.2, 0.3, 0.9, 0.4, 0.5], job, complete=False)
    found = curves._curves(ARM, rows, "test/loss")
    np.testing.assert_array_equal(found.values, [[0.1, 0.2, 0.3], [0.9, 0.9, 0.9], [0.4, 0.5, np.nan]])


def test_only_the_recipe_s_own_metric_has_a_threshold():
    """A rule of the spec is about its metric; another one falls or rises as it does."""
    ruled = ARM._replace(spec={"until": {"metric": "test/loss", "at_most": 0.1, "at_least": None}})
    falling = _rows([0, 0, 0], [1, 2, 3], [1] * 3, [0.9, 0.05, 0.05], ["a"] * 3)
    found = curves._curves(ruled, falling, "test/loss")
    assert curves.rule(found, "test/loss", None, False) == (0.1, True)
    assert curves.rule(found, "train/loss", None, True) is None
    assert curves.rule(found, "train/loss", 0.3, curves.falls([found], "train/loss")) == (0.3, True)
    assert curves.times(found, "steps", 0.1, True).time.tolist() == [2]
    plane = runs.of_manifest(
        Manifest(
            recipe="plane-strength-frequency", scale="smoke", seeds=1, overrides=(), arms={}, job_size=None, jobs=()
        )
    )
    assert (plane.metric, plane.threshold) == ("population/loss", None)


def test_the_form_refuses_what_the_spec_refuses():
    parts = {kind: form.EXAMPLE.get(kind, {"name": "uniform"})["name"] for kind in form.PART_FIELDS}
    fields = [f for kind, part in parts.items() for f in form.part_fields(kind, part)] + form.other_fields()
    given = {field.path: form.shown(field, form.EXAMPLE) for field in fields}
    assert Spec.parse(form.spec_of(parts, given))
    for path, wrong in {"model.depth": -1, "steps": -1, "optimizer.lr": 0, "plan.size": 2.5}.items():
        with pytest.raises(InputError, match=path.split(".")[-1]):
            Spec.parse(form.spec_of(parts, {**given, path: wrong}))


def test_verdicts_are_those_of_check(folder):
    found, needed, label = decided(str(folder.root), "set-size")
    assert [claim["verdict"] for claim in found] == ["not run"] * len(found) == ["not run"] * len(needed)
    assert label == ""  # smoke scale has no verdicts


def test_every_published_claim_can_be_shown():
    published = json.loads(Path("docs/results.json").read_text())["claims"]
    known = Verdicts.__new__(Verdicts)
    known.recipes, known.waiting, known.errors = {}, [], {}
    for name in {claim["recipe"] for claim in published}:
        mine = [claim for claim in published if claim["recipe"] == name]
        needed = [claim.get("seeds_needed") for claim in mine]
        known.recipes[name] = ShownClaims(name, "A", "?", list(map(Claim.of_json, mine)), needed, "label")
    shown = [
        (row, claims._kept(row, set(claims.COLOURS), claims.ALL, claims.ALL, "")[1]) for row in known.recipes.values()
    ]
    assert sum(len(places) for _, places in shown) == len(published)
    assert all(claims._claims(row, places, "/x/") for row, places in shown)
    holds = [claims._kept(row, {"holds"}, claims.ALL, "fully", "")[1] for row in known.recipes.values()]
    assert sum(map(len, holds)) == sum(c["verdict"] == "holds" and c["replicates"] == "fully" for c in published)


def test_the_form_gives_back_every_recipe_s_specs():
    for name, recipe in registered("recipe").items():
        spec = next(iter(recipe.specs("smoke").values()))
        data = spec.model_dump(mode="json")
        parts = {kind: data[kind]["name"] for kind in form.PART_FIELDS}
        fields = [f for kind, part in parts.items() for f in form.part_fields(kind, part)] + form.other_fields()
        given = {field.path: form.shown(field, data) for field in fields}
        assert Spec.parse(form.spec_of(parts, given)) == spec, name


def test_the_form_names_what_is_no_json():
    parts = {kind: form.EXAMPLE.get(kind, {"name": "uniform"})["name"] for kind in form.PART_FIELDS}
    with pytest.raises(InputError, match="evaluation"):
        form.spec_of(parts, {"evaluation": "{every: 3"})


def test_colours_follow_a_coordinate(folder):
    arms = folder.runs["set-size-smoke"].arms
    key, values = next((k, v) for k, v in folder.runs["set-size-smoke"].coordinates().items() if len(v) > 1)
    assert len(set(draw.colours(arms, key).values())) == len(values)
    assert len(set(draw.colours(arms, None).values())) == len(arms)


def test_the_first_page_lists_runs_that_no_claim_is_of(folder):
    """A twenty-first trial: beside the claims of one recipe nobody saw what else there was."""
    text = json.dumps(claims._runs(folder, "/", ()).to_plotly_json(), default=lambda part: part.to_plotly_json())
    assert "What this folder has" in text
    assert all(run.title in text for run in folder.runs.values())
    beside = claims._runs(folder, "/", {"set-size-smoke"})
    text = json.dumps(beside.to_plotly_json(), default=lambda part: part.to_plotly_json())
    assert "Other runs of this folder" in text
    assert folder.runs[OTHERS].title in text
    assert folder.runs["set-size-smoke"].title not in text
    assert claims._runs(folder, "/", set(folder.runs)) is None

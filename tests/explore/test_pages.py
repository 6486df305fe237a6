"""What the page makes of runs, without a browser."""

import csv
import json
import shlex
import time
from pathlib import Path

import pytest

from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.explore import draw, form, runs, selection
from lopsided.explore.folder import Folder
from lopsided.explore.pages import claims
from lopsided.explore.verdicts import Checked, Verdicts, decided
from lopsided.runs.recipe_run import prepare
from lopsided.runs.worker import run
from lopsided.stats.verdict import Claim
from lopsided.store.parts import Store
from lopsided.store.tables import query
from tests.conftest import PARITY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recipe at smoke scale, and two members that a program trained."""
    root = tmp_path_factory.mktemp("runs") / "store"
    prepare("set-size", "smoke", None, ()).train(Store(root))
    run([Spec.parse(PARITY)], 2, Store(root))
    found = Folder(root)
    found.start()
    until = time.monotonic() + 60
    while not found.status or runs.OTHERS not in found.runs:
        assert time.monotonic() < until, found.trouble
        time.sleep(0.05)
    yield found
    found.close()


def test_arms_have_the_recipe_s_coordinates(folder):
    found = folder.runs["set-size-smoke"]
    planned = registered("recipe")["set-size"].arms_at("smoke")
    assert {arm.name: dict(arm.at) for arm in found.arms} == {name: dict(a.coordinates) for name, a in planned.items()}
    assert found.threshold == registered("recipe")["set-size"].threshold
    (other,) = folder.runs[runs.OTHERS].arms
    assert other.digest == Spec.parse(PARITY).content_hash()


def test_slices_choose_arms(folder):
    found = folder.runs["set-size-smoke"]
    key, values = next((k, v) for k, v in found.coordinates().items() if len(v) > 1)
    chosen = selection.choose(found, "test/accuracy", {key: values[:1]})
    assert chosen.arms
    assert len(chosen.arms) < len(found.arms)
    assert {runs.text_of(arm.at[key]) for arm in chosen.arms} == set(values[:1])


def test_the_saved_table_and_the_command_give_the_same_rows(folder):
    found = folder.runs["set-size-smoke"]
    chosen = selection.choose(found, "test/accuracy", {})
    saved = list(
        csv.DictReader(selection.csv(selection.read(folder.reader, chosen, True), "test/accuracy").splitlines())
    )
    _, _, sql, _, out = shlex.split(selection.command(chosen, folder.root))
    assert Path(out) == folder.root
    store = Store(folder.root).as_of_now()
    from lopsided.runs.manifest import recorded

    answer = query(store, [row for each in recorded(store) for row in each.rows()], sql)
    asked = {(arm, int(seed), int(step)): value for arm, seed, step, _, value in answer.rows}
    mine = {(row["arm"], int(row["seed"]), int(row["step"])): float(row["test/accuracy"]) for row in saved}
    assert asked
    assert {key: mine[key] for key in asked} == asked


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
        known.recipes[name] = Checked(name, "A", "?", list(map(Claim.of_json, mine)), needed, "label")
    shown = [
        (row, claims._kept(row, {"holds", "contradicted", "inconclusive", "not run"}, claims.ALL, claims.ALL, "")[1])
        for row in known.recipes.values()
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

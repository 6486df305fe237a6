"""What a recipe file, a spec or a store of somebody's own may hold: each of these was a traceback, a hang or a wrong
answer."""

import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
from lopsided.advising.any_training import require_names
from lopsided.claims.as_text import as_text
from lopsided.core.arms import arm, swept
from lopsided.core.errors import InputError, MissingData
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.explore import draw as explore_draw
from lopsided.explore import form
from lopsided.explore.server import Served
from lopsided.figures.panels import Figure, Panel, curves, over_members
from lopsided.report.compare_page import IN_LATEX
from lopsided.report.matplotlib_draw import draw
from lopsided.report.page_file import require_page
from lopsided.report.plotly_draw import panel_figure
from lopsided.results.stored import Arm, Results
from lopsided.results.sweeps import beyond, sweeps
from lopsided.stats.sequential import MOST_SEEDS, valid_looks
from lopsided.store.index import Summary
from lopsided.store.mirror import Mirror
from lopsided.store.parts import Store
from lopsided.store.records import LONGEST
from lopsided.store.survey import _chain
from lopsided.store.tables import query
from lopsided.study.overrides import apply
from lopsided.study.processes import Lost, processes
from lopsided.study.publishing import published
from lopsided.study.targets import plain_curves
from lopsided.study.until_decided import _written
from tests.library.small import small_recipe, spec

ROOT = Path(__file__).parents[2]


def run_of(made, at, swept=()):
    """An arm that learns at the step `at`, of six members."""
    steps = np.arange(0, 301, 20)
    curve = np.tile((steps >= at).astype(float), (6, 1))
    return Arm(
        made.name,
        made.spec,
        tuple(range(6)),
        steps,
        32.0 * steps,
        32.0 * steps,
        1.0,
        np.zeros(6, bool),
        {"test/accuracy": curve},
        coordinates=made.coordinates,
        swept=made.swept,
    )


@pytest.mark.parametrize(("best", "added"), [(0.0, []), (0.1, [0.0666667]), (0.2, [0.2667])])
def test_a_sweep_with_zero_goes_on_above_it(best, added):
    planned = {each.name: each for each in swept(lambda wd: spec(0.5 + wd), {"wd": (0.0, 0.1, 0.15, 0.2)}, data="all")}
    arms = {name: run_of(each, 40 if each.coordinates["wd"] == best else 200) for name, each in planned.items()}
    results = Results("own", "laptop", arms)
    assert [each.coordinates["wd"] for each in beyond(results, planned)] == pytest.approx(added, rel=1e-3)
    (tuned,) = sweeps(results)
    assert bool(tuned.edges) == (best != 0.0)


def test_a_sweep_needs_a_rule_before_anybody_trains():
    without = lambda lr: Spec.parse({**spec(lr).model_dump(), "until": None})
    recipe = small_recipe("own", lambda scale: swept(without, {"lr": (0.1, 0.2)}), [])
    with pytest.raises(InputError, match=r"arm 'lr = 0.1' is swept, and its spec has no `until`"):
        recipe.arms_at("laptop")


def test_what_has_no_usual_metric_is_drawn_by_what_it_has():
    found = run_of(arm(spec(0.5)), 40)
    other = Results(
        "own", "laptop", {found.name: replace(found, values={"phase/steps": found.values["test/accuracy"]})}
    )
    assert [panel.title for panel in plain_curves("own", other).panels] == ["phase/steps"]
    draw(Figure("nothing", []))
    assert curves(other, "phase/steps", "steps", "t", arms=[]).lines == []


def test_results_compare_by_the_recipes_own_metric(tmp_path):
    with published(ROOT / "results", ["plane-strength-frequency"]) as stores:
        found = lop.load(stores["plane-strength-frequency"].root, recipe="plane-strength-frequency")
        assert found.metric == "population/loss"


@pytest.mark.parametrize("item", ["0", "4", "x"])
def test_an_item_that_is_not_there_is_missing(item):
    found = replace(run_of(arm(spec(0.5)), 40), values={"strength": np.zeros((6, 16, 3))})
    assert found.metric("strength/3").shape == (6, 16)
    with pytest.raises(MissingData, match=f"no metric 'strength/{item}'; it has strength/1 to strength/3"):
        found.metric(f"strength/{item}")


def part(folder, start, step, parent, final=False):
    return Summary(folder, "job", start, step, final, 0.0, {}, "", parent, None)


class Counting(dict):
    """Parts, and how often one was looked at."""

    looked = 0

    def get(self, folder, default=None):
        self.looked += 1
        return super().get(folder, default)


def test_each_part_of_a_long_chain_is_looked_at_once():
    names = [f"p{i}" for i in range(3_000)]
    parts = Counting({name: part(name, i, i + 1, names[i - 1] if i else "") for i, name in enumerate(names)})
    chain, orphans = _chain(Counting(reversed(parts.items())))
    assert ([each.folder for each in chain], orphans) == (names, [])
    _chain(parts)
    assert parts.looked <= 2 * len(parts)


def test_a_part_that_leads_back_to_itself_is_of_no_chain():
    parts = {"a": part("a", 5, 5, "a"), "b": part("b", 5, 3, "c"), "c": part("c", 3, 5, "b"), "d": part("d", 0, 4, "")}
    chain, orphans = _chain(parts)
    assert ([each.folder for each in chain], sorted(orphans)) == (["d"], ["a", "b", "c"])


@pytest.mark.parametrize("text", ["1e308", "Infinity", "1" + "0" * 400, "0"])
def test_a_factor_that_no_setting_stands_is_one_line(text):
    with pytest.raises(InputError, match="valid is a number above 0"):
        apply(spec(0.5), [f"plan.batch*={text}"])


def test_no_times_zero_steps_are_more():
    warm = Spec.parse({**spec(0.5).model_dump(), "optimizer": {"name": "sgd", "lr": 0.5, "warmup": 0}})
    assert apply(warm, ["optimizer.warmup*=2"]) == warm


def test_looks_that_no_plan_can_hold_are_refused_before_the_training():
    with pytest.raises(InputError, match="from 2 to 1,000,000"):
        valid_looks([2_000_000])
    assert MOST_SEEDS == LONGEST  # of a plan's file


def test_a_plan_that_another_process_wrote_meanwhile_stands(tmp_path, monkeypatch):
    from lopsided.study import until_decided

    theirs = []
    monkeypatch.setattr(until_decided, "_made", lambda *_: theirs)
    monkeypatch.setattr(until_decided, "planned", lambda *_: "theirs")
    assert _written(None, Store(tmp_path), (8, 16)) == "theirs"
    assert not (tmp_path / "plans").exists()


def test_settings_of_a_test_are_told_apart_whatever_holds_them():
    def test(results, levels):
        return results, levels

    class At:
        def __init__(self, level):
            self.level = level

        def __call__(self, results):
            return self.level

    def again(n):
        return again(n - 1) if n else 0

    for one, other in (
        (partial(test, levels=np.array([0.9])), partial(test, levels=np.array([0.5]))),
        ({0.9, 0.5}, {0.9, 0.4}),
        (At(0.9), At(0.5)),
    ):
        assert as_text(one) != as_text(other)
        assert as_text(one) == as_text(one)
    assert as_text({"b", "a"}) == "{'a', 'b'}"
    assert "again=" in as_text(again)


def test_names_stand_at_their_place_on_logarithmic_axes():
    x = np.array([1.0, 10.0, 1000.0])
    lines = [over_members("a", x, x[None], 0)]
    panel = Panel(
        "p", "x", "y", lines, log_x=True, log_y=True, marks={"goal": 20.0, "none": 0.0}, moments={"turn": 200.0}
    )
    said = {each.text: each for each in panel_figure(panel).layout.annotations}
    assert said["goal"].y == pytest.approx(np.log10(20))
    assert said["turn"].x == pytest.approx(np.log10(200))
    assert said["none"].y is None
    plain = {each.text: each for each in panel_figure(replace(panel, log_x=False, log_y=False)).layout.annotations}
    assert (plain["goal"].y, plain["turn"].x) == (20.0, 200.0)


def test_a_form_keeps_what_an_arm_says_of_a_field_that_may_be_empty():
    made = registered("recipe")["grade-school-math"].specs("laptop")["plain, uniform"].model_dump(mode="json")
    assert made["task"]["modulus"] is None
    parts = {kind: made[kind]["name"] for kind in form.PART_FIELDS if made.get(kind)}
    fields = [each for kind, name in parts.items() for each in form.part_fields(kind, name)] + form.other_fields()
    again = form.spec_of(parts, {each.path: form.shown(each, made) for each in fields})
    assert Spec.parse(again) == Spec.parse(made)


def test_a_part_of_somebodys_file_is_named_and_no_error():
    assert form.unknown_parts({"task": {"name": "my-task"}, "model": {"name": "mlp"}}) == "task 'my-task'"


def test_a_server_that_never_served_closes():
    from dash import Dash, html

    def page(address):
        app = Dash(__name__, url_base_pathname=address)
        app.layout = html.Div()
        return app

    Served(page).close()


def test_one_and_one_point_zero_are_one_colour():
    class Shown:
        def __init__(self, name, k):
            self.name, self.at = name, {"k": k}

    found = explore_draw.colours([Shown("a", 1), Shown("b", 1.0), Shown("c", 2)], "k")
    assert found["a"] == found["b"] != found["c"]


@pytest.mark.parametrize("end", ["", ";", ";;", "; -- note", " -- a; b", "; /* ; */"])
def test_a_query_may_end_as_people_end_them(tmp_path, end):
    shutil.copytree(ROOT / "tests/logs", tmp_path / "no store", dirs_exist_ok=True)
    (tmp_path / "parts").mkdir()
    assert query(Store(tmp_path), [], f"SELECT [1, 2], ';'{end}").rows == [([1, 2], ";")]


def test_a_page_does_not_replace_files_beside_it_whatever_its_name(tmp_path):
    page = tmp_path / "report [1].html"
    (tmp_path / "report [1]-files").mkdir()
    (tmp_path / "report [1]-files/mine.txt").write_text("mine")
    with pytest.raises(InputError, match="has files already"):
        require_page(page)
    require_page(tmp_path / "a**b.html")


@pytest.mark.parametrize("shapes", [{0.5: "a", 1.0: "b"}, ["uniform", "power law"], {"uniform": "a", 1: "b"}])
def test_shapes_have_names(shapes):
    with pytest.raises(InputError, match=r"by name|is no text"):
        require_names(shapes)
    with pytest.raises(InputError, match=r"by name|is no text"):
        lop.advise(lambda shape, seed: 0.0, shapes, told=None)


def test_scores_without_a_last_line_end_are_gone_on_from(tmp_path):
    file = tmp_path / "scores.jsonl"
    scores = {"uniform": 0.0, "power law": 3.0}

    def training(shape, seed):
        return scores[shape] + seed % 3

    lop.advise(training, {name: name for name in scores}, out=file, told=None)
    whole = file.read_text()
    file.write_text(whole.rstrip("\n"))
    lop.advise(training, {name: name for name in scores}, out=file, told=None)
    assert file.read_text() == whole


def test_signs_of_latex_are_written_out():
    assert "x^2 {a} $b ~c #1_2 \\".translate(IN_LATEX) == r"x\^{}2 \{a\} \$b \~{}c \#1\_2 \textbackslash{}"


def test_a_process_that_is_killed_is_an_error_and_no_wait():
    with processes(2) as others, pytest.raises(Lost, match="was killed"):
        others.answers(os._exit, [137, 137])


def test_a_copy_that_failed_is_made_again(tmp_path, monkeypatch):
    store = Store(tmp_path)
    lop.run({"one": spec(0.5)}, seeds=2, out=tmp_path)
    mirror = Mirror(store)
    with monkeypatch.context() as broken:
        broken.setattr(mirror, "_index", lambda con: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            mirror.refresh()
    while not mirror.refresh():
        pass
    assert len(mirror.members()) == 2
    mirror.close()


@pytest.mark.parametrize("inside", ["", "paper"])
def test_a_file_that_is_not_the_listed_one_is_refused(tmp_path, inside):
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "results/SHA256SUMS", tmp_path / "SHA256SUMS")
    shutil.copyfile(ROOT / "results" / inside / "tour.parquet", folder / "tour.parquet")
    with published(folder, ["tour"]):
        pass
    with (folder / "tour.parquet").open("ab") as file:
        file.write(b" ")
    with pytest.raises(InputError, match=r"not the file that .*SHA256SUMS' lists"), published(folder, ["tour"]):
        pass

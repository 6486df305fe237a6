"""Known faults of earlier trials, mended later; and what a fourteenth newcomer found."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lopsided.core.arms import arm as named
from lopsided.core.errors import InputError
from lopsided.recipe import Ahead, Own, Statement
from lopsided.report import terminal
from lopsided.store.parts import Store
from lopsided.study import before, manifest
from lopsided.study.recipe_run import RecipeRun
from lopsided.study.targets import require_no_runs_name
from tests.library.small import small_recipe, spec


@pytest.mark.parametrize("name", ["par-laptop", "par-Smoke", "par-paper-0123abcd"])
def test_a_recipe_is_not_called_like_a_run(tmp_path, name):
    """`lop.load(folder, recipe="par-laptop")` was the run of `par`, or the recipe's."""
    with pytest.raises(InputError, match="what a run is called"):
        require_no_runs_name(name, tmp_path / "mine.py")
    require_no_runs_name(f"{name}s-own", tmp_path / "mine.py")


def test_a_narrow_table_shows_whole_names(monkeypatch):
    names = [f"state-tracking-laptop-and-a-very-long-name-{i}" for i in (1, 2)]
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "_console", lambda: Console(file=shown, width=60))
    terminal.query_table(["run", "arm", "median"], [[name, "frequency = power law", 0.25] for name in names])
    first = [line.split()[0] for line in shown.getvalue().splitlines()[2:] if line.strip()]
    assert all(name in "".join(first) for name in names)


def test_specs_that_an_edit_made_were_not_tested_before(tmp_path, monkeypatch):
    """Two sentences said both: that the specs are others, and that their claims are tested anew."""
    runs, claim = {}, Statement("?", Own("none"), Ahead({"data": "one"}, of={"data": "two"}))
    for rate in (0.25, 0.5):
        specs = {"one": spec(rate)}
        arms = [named(each, data=name) for name, each in specs.items()]
        runs[rate] = RecipeRun(small_recipe("own", lambda scale, arms=arms: arms, [claim]), "laptop", specs, 2, ())
    store = Store(tmp_path)
    store.require_writable()
    runs[0.25].note(store)
    monkeypatch.setattr(manifest, "tested", lambda store, label: 2)
    more = {rate: replace(run, seeds=4) for rate, run in runs.items()}
    assert "tested anew" in before.tested_before(more[0.25], store)
    assert before.tested_before(more[0.5], store) == ""
    assert "its specs are others" in before.replaces(more[0.5], store)

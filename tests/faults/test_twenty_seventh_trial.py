"""What the twenty-seventh newcomer found: the interim report of a recipe whose arms measure different things."""

import pytest

import lopsided as lop
from lopsided.cli import report
from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.store.parts import Store
from lopsided.study import reports
from lopsided.study.recipe_run import prepare

WITH_A_LIST = sorted(name for name, recipe in registered("recipe").items() if recipe.shown)
"""Recipes that say which of their arms tables list."""


def begun(name: str, folder, arms: int) -> None:
    """The recorded run of a recipe of which only the last arms are there."""
    run = prepare(name, "smoke", 1, [])
    run.note(Store(folder))
    some = dict(list(run.arms.items())[-arms:])
    lop.run(some, seeds=1, out=folder, progress=False)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "tour")) for name in WITH_A_LIST]
)
def test_an_unfinished_run_has_an_interim_report_whatever_its_arms_measure(name, tmp_path):
    """A traceback: an arm of exact gradient flow has no accuracy."""
    begun(name, tmp_path, len(registered("recipe")[name].specs("smoke")) - 1)
    report(tmp_path)
    page = (tmp_path / "reports" / "report.html").read_text()
    assert "Interim report" in page
    assert "<svg" in page or "<img" in page


def test_a_report_that_fails_leaves_nothing(tmp_path, monkeypatch):
    """Its folder of pictures was taken for somebody else's at the next try."""
    begun("tour", tmp_path / "store", 2)
    page = tmp_path / "all.html"

    def broken(*_):
        raise RuntimeError("no page")

    monkeypatch.setattr(reports, "mixed_text", broken)
    with pytest.raises(RuntimeError, match="no page"):
        report(tmp_path / "store", output=page)
    assert [each.name for each in tmp_path.iterdir()] == ["store"]
    monkeypatch.undo()
    report(tmp_path / "store", output=page)
    assert page.is_file()
    foreign = tmp_path / "other-files"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="has files already"):
        report(tmp_path / "store", output=tmp_path / "other.html")

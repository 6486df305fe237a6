"""What the twenty-fifth newcomer found."""

import pytest

import lopsided as lop
from lopsided.claims.deciding import reason_of
from lopsided.cli import main
from lopsided.core.errors import InputError
from lopsided.stats.bounded import on_a_grid
from lopsided.stats.verdict import Decision
from lopsided.study.targets import find
from tests.library.small import spec


@pytest.mark.parametrize("width", ["80", "140"])
def test_status_and_load_call_a_changed_run_alike(width, tmp_path, capsys, monkeypatch):
    """`status` said eps=0.0001, which may be the optimiser's or the model's; `lop.load` knew the run by the whole name
    alone. In a terminal of 80 characters both were "state-tra…"."""
    monkeypatch.setenv("COLUMNS", width)
    changed = ["run", "state-tracking", "--scale", "smoke", "--seeds", "2", "--set", "optimizer.eps=1e-4"]
    for command in ([*changed, "--out", str(tmp_path)], ["status", str(tmp_path)]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code in (0, None)
    title = "state-tracking-smoke, optimizer.eps=0.0001"
    assert title in " ".join(capsys.readouterr().out.split())
    assert lop.load(tmp_path, recipe=title).recipe == "state-tracking"


@pytest.mark.parametrize(
    ("interval", "reason"),
    [((0.5, 2.0), "grid"), ((0.49999999999999994, 2.0), "grid"), ((0.45, 2.0), "seeds"), ((0.5, 2.2), "seeds")],
)
def test_an_interval_that_ends_on_ratios_of_evaluations_is_open_for_the_grid(interval, reason):
    """ "~401 seeds", where evaluations lay half of the time to learn apart."""
    few = Decision("within-seed ratio of", "steps", 0.9, interval, "inconclusive", 6, "?", p_value=0.3)
    assert reason_of(on_a_grid(few, 0.5), at_edge=False) == reason


def test_check_of_a_spec_says_that_it_makes_no_claims(tmp_path, capsys):
    """It printed nothing."""
    file = tmp_path / "mine.json"
    file.write_text(spec(0.25).canonical_json())
    for words in (["run", str(file), "--seeds", "1"], ["check", str(file)]):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--out", str(tmp_path / "out")])
        assert ended.value.code in (0, None)
    assert "makes no claims; `lopsided report` shows its curves" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("run", ["tour-smoke", "tour-laptop-0123abcd"])
def test_the_name_of_a_run_is_told_from_a_recipe_s(run):
    """ "unknown recipe", and nine names."""
    with pytest.raises(InputError, match=f"'{run}' is the name of a run: give its recipe, tour"):
        find(run)

"""`lopsided run` with several recipes, or all of them."""

import json

import pytest

from lopsided.cli import main
from lopsided.cli.run import _every
from lopsided.study import catalog
from lopsided.study.catalog import catalog as rows

pytestmark = pytest.mark.slow


def code(*words):
    with pytest.raises(SystemExit) as stopped:
        main(["run", *words])
    return stopped.value.code


def test_several_recipes_one_after_the_other(tmp_path, capsys):
    assert code("two-phase-theory", "tour", "--scale", "smoke", "--out", str(tmp_path), "--json") == 0
    heard = capsys.readouterr()
    found = json.loads(heard.out)["runs"]
    assert [each["recipe"] for each in found] == ["two-phase-theory", "tour"]
    assert all(each["finished"] and each["report"] for each in found)
    assert "tour-smoke, 2 of 2" in heard.err


def test_time_is_over_for_all_of_them(tmp_path, capsys):
    words = ("tour", "two-phase-theory", "--scale", "smoke", "--for", "0.001s", "--json")
    assert code(*words, "--out", str(tmp_path)) == 0
    heard = capsys.readouterr()
    (found,) = json.loads(heard.out)["runs"]
    assert not found["finished"]
    assert "are over" in heard.err


def test_all_is_every_recipe_the_shortest_first():
    names = _every((), "laptop")
    assert set(names) == {row["name"] for row in rows()}
    seconds = {row["name"]: row["scales"]["laptop"]["seconds"] for row in rows()}
    assert [seconds[name] for name in names] == sorted(seconds.values())
    assert set(_every((), "paper")) == {row["name"] for row in rows() if "paper" in row["scales"]}


def test_all_runs_them(tmp_path, capsys, monkeypatch):
    some = [row for row in rows() if row["name"] in ("two-phase-theory", "tour")]
    monkeypatch.setattr(catalog, "catalog", lambda names=(): some)
    assert code("--all", "--scale", "smoke", "--out", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert out.count("Report:") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "lopsided list"),
        (["--all", "tour"], "leave tour out"),
        (["tour", "state-trackng"], "Did you mean 'state-tracking'"),
    ],
)
def test_mistakes_are_one_line_and_come_before_any_training(words, said, tmp_path, capsys):
    assert code(*words, "--out", str(tmp_path / "new")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "new" / "parts").exists()

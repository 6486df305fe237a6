"""Ways in that a newcomer takes: a folder by position, a mistyped word, one's own files, JSON for another program."""

import json
import subprocess
import sys

import pytest

import lopsided as lop
from lopsided.cli import main
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.test_hostile_folders import put

SMALL = Spec.parse({**PARITY, "steps": 20})
RECIPE = """
from dataclasses import replace
from lopsided.claims.recipe import Scale
from lopsided.study.targets import plain_arms
from lopsided.core.spec import Spec
print("HELLO")
recipe = replace(plain_arms({name!r}, {{"arm": Spec.parse({spec!r})}}), scales=dict.fromkeys(
    ("smoke", "laptop", "paper"), Scale(2, 1.0, "a second")))
"""


def command(capsys, *words, code=0):
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert (ended.value.code or 0) == code, (words, capsys.readouterr().err)
    return capsys.readouterr()


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "out")
    run([SMALL], 2, made)
    return made.root


def test_a_folder_is_given_by_position_and_by_out(store, capsys):
    for words in (("status",), ("check",), ("compact",), ("query", "SELECT 1"), ("worker", "--stop")):
        assert command(capsys, *words, store) == command(capsys, *words, "--out", store), words
    for words in (("query", "SELECT 1", store), ("worker", store)):
        assert "give one folder" in command(capsys, *words, "--out", "elsewhere", code=2).err
    assert "Unknown" not in command(capsys, "explore", "--out", store / "nothing", code=2).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chek",), "Did you mean 'check'?"),
        (("--versio",), "Did you mean '--version'?"),
        (("run", "adam", "--set", "lr=0.1"), "Did you mean optimizer.lr?"),
    ],
)
def test_a_mistyped_word_is_told_the_nearest(words, said, capsys):
    assert said in command(capsys, *words, code=2).err


def test_help_is_a_command_too(capsys):
    assert command(capsys, "help").out == command(capsys, "--help").out == command(capsys).out


def test_the_package_is_a_program():
    asked = [sys.executable, "-m", "lopsided", "--version"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "0.1.0\n"


def test_what_a_file_prints_is_not_in_the_json(tmp_path, capsys):
    file = put(tmp_path / "mine.py", RECIPE.format(name="mine", spec=SMALL.model_dump(mode="json")))
    for words in (("list", file), ("check", file, "--out", tmp_path / "out"), ("diff", file), ("run", file)):
        (tmp_path / "out/parts").mkdir(parents=True, exist_ok=True)
        out = ("--out", tmp_path / "out", "--scale", "smoke") if words[0] == "run" else ()
        said = command(capsys, *words, *out, "--json")
        json.loads(said.out)
        assert "HELLO" in said.err


@pytest.mark.slow
def test_two_files_that_name_one_recipe_do_not_replace_one_another(tmp_path, capsys):
    spec = SMALL.model_dump(mode="json")
    first = put(tmp_path / "a/mine.py", RECIPE.format(name="mine", spec=spec))
    second = put(tmp_path / "b/mine.py", RECIPE.format(name="mine", spec={**spec, "steps": 40}))
    asked = ("--scale", "smoke", "--out", tmp_path / "out")
    command(capsys, "run", first, *asked)
    assert "another recipe file of that name" in command(capsys, "run", second, *asked, code=2).err
    first.write_text(RECIPE.format(name="mine", spec={**spec, "steps": 60}))  # the same file, edited
    command(capsys, "run", first, *asked)


@pytest.mark.slow
def test_a_report_names_what_is_not_on_the_page(store, tmp_path, capsys):
    file = put(tmp_path / "spec.json", Spec.parse({**PARITY, "steps": 40}).model_dump_json())
    command(capsys, "run", file, "--seeds", 1, "--out", store)
    assert "2 members of no recorded run" in command(capsys, "report", store).err


def test_a_name_with_dollars_or_an_underscore_is_drawn_as_it_is(tmp_path):
    """One dollar too many ended the report after hours of training; a legend left `_a` out."""
    other = Spec.parse({**PARITY, "steps": 20, "optimizer": {"name": "sgd", "lr": 0.1}})
    canvas = lop.run({"_a": SMALL, r"$\frac{1$": other}, 2, tmp_path).plot()
    canvas.canvas.draw()
    names = {text.get_text().strip() for text in canvas.axes[0].get_legend().get_texts()}
    assert names == {"_a", r"\$\frac{1\$"}  # dollars are escaped, and drawn as dollars


def test_a_spec_does_not_change_and_says_so():
    with pytest.raises(lop.InputError, match=r"steps: a Spec does not change; take another one"):
        SMALL.steps = 5

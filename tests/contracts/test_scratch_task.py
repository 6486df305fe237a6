"""A task from outside the package runs through every engine that suits it, and its rows are stored and read."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import lopsided as lop
from lopsided.core import own_files
from lopsided.core.errors import InputError
from lopsided.core.registry import engine_of, register, registered
from lopsided.core.spec import Spec
from lopsided.results.stored import load
from lopsided.store.parts import Store
from lopsided.study.own_code import warn_of_older_rows
from lopsided.work.worker import run
from tests import scratch

LINE = {
    "task": {"name": "gained-line", "gain": 2.0},
    "model": {"name": "scalar-chain", "depth": 1},
    "plan": {"name": "online", "batch": 16},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "loss": "square",
    "steps": 100,
    "evaluation": {"every": 20, "samples": 64},
}
WAYS = {
    "ensemble": {},
    "pool": {"until": {"metric": "test/loss", "at_most": 1e-3}},
    "population": {"plan": {"name": "population"}},
}


def test_it_takes_forty_lines():
    body = inspect.getsource(scratch).split('"""', 2)[2].strip().splitlines()
    assert len([line for line in body if line.strip()]) <= 40


@pytest.mark.parametrize("way", WAYS)
def test_through_every_engine_that_suits_it(way, tmp_path):
    spec = Spec.parse({**LINE, **WAYS[way]})
    assert engine_of(spec).name == way
    store = Store(tmp_path)
    assert run([spec], 4, store).trained == 4
    arm = load(store, "mine", "laptop", {"one": spec}, {"one": 4})["one"]
    assert (arm.final("test/loss") < 0.02).sum() >= 1  # half of the hidden signs suit the start
    assert np.isfinite(arm.final("test/loss")).all()


@pytest.mark.slow
def test_rows_that_an_older_version_of_a_file_made_are_named(tmp_path, capsys, monkeypatch):
    spec, store = Spec.parse({**LINE, "steps": 20}), Store(tmp_path)
    for _ in range(2):
        lop.run(spec, 2, store)
    assert capsys.readouterr().err == ""
    text, text_of = inspect.getsource(scratch), own_files.text_of

    def says(other):
        monkeypatch.setattr(
            own_files, "text_of", lambda file, name: other if file.name == "scratch.py" else text_of(file, name)
        )

    says(f'"""Another one."""\n{text}# changed')
    lop.run(spec, 2, store)
    assert capsys.readouterr().err == ""  # nothing that computes
    says(text.replace("return 0.5", "return 0.25"))
    lop.run(spec, 3, store)  # trains one
    said = capsys.readouterr().err
    assert "2 members" in said
    assert "before scratch.py or lopsided itself changed" in said
    warn_of_older_rows([spec], store)
    assert "2 members" in capsys.readouterr().err


def test_engines_that_do_not_suit_it_say_why():
    for plan, why in (
        ({"name": "idealised"}, "no prediction"),
        ({"name": "two-phase", "size": 4, "a_star": 0.1}, "takes"),
    ):
        with pytest.raises(InputError, match=why):
            Spec.parse({**LINE, "plan": plan})


def test_what_registers_must_be_whole_and_have_a_name_of_its_own():
    class NoTask:
        name = "x"

    with pytest.raises(InputError, match="none of the bases"):
        register(NoTask)
    with pytest.raises(InputError, match="a task named 'sparse-parity' exists"):
        register(type("Mine", (registered("task")["sparse-parity"],), {"__module__": "mine"}))


def test_a_spec_in_a_process_that_does_not_know_the_task_names_it():
    code = f"from lopsided.core.spec import Spec; Spec.parse({LINE!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert "unknown task 'gained-line'" in done.stderr

"""`lopsided sample`: text on the terminal, data sets for other trainers, killed and resumed, mistakes in one line."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Literal

import jax.numpy as jnp
import pytest

from lopsided.cli import main
from lopsided.core import registry
from lopsided.core.batch import Sample
from lopsided.core.errors import InputError
from lopsided.core.keys import words
from lopsided.core.registry import registered
from lopsided.core.shapes import Classes, Tokens
from lopsided.core.task import Task, WritesText
from lopsided.export import export as exporting
from lopsided.export.samples import SampleRange, asked_for, records
from lopsided.skills import Uniform

pytestmark = pytest.mark.slow

SMALL = ["n=9", "ops=2"]


def call(*words):
    """A command that succeeds."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    assert not stop.value.code


def asked(task="arithmetic", overrides=SMALL, law="power-law:1.0", split="train", order="random"):
    return asked_for(task, overrides, law, order, split, 0)


@pytest.mark.parametrize("task", [n for n, c in registered("task").items() if c.__module__.startswith("lopsided.")])
def test_every_task_shows_its_samples(task, capsys):
    call("sample", task, "-n", "3")
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) >= 3
    call("sample", task, "-n", "2", "--split", "test", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["split"] == "test"
    assert len(found["samples"]) == 2


def test_text_answers_skills_and_ranks():
    request = asked()
    for record in records(request, 0, 20):
        text = re.fullmatch(r"User: Calculate (.*)\.\nAssistant:\\boxed\{ (-?\d+)\}", record["text"])
        assert text
        assert eval(text[1]) == int(text[2])
        assert record["answer"] == f"{text[2]}}}"
        assert [int(v) for v in re.findall(r"\d+", text[1])] == [s + 1 for s in record["skills"]]
        assert [request.order[r - 1] for r in record["ranks"]] == record["skills"]


TASK_FILE = """
from typing import Literal
from lopsided.part import *
from lopsided.tasks import SparseParity

@register
class Mine(SparseParity):
    name: Literal["NAME-one"] = "NAME-one"
"""


@pytest.fixture
def forgotten(monkeypatch):
    """What a file registers is not known to later tests."""
    monkeypatch.setitem(registry._OUTSIDE, "task", dict(registry._OUTSIDE["task"]))


@pytest.mark.usefixtures("forgotten")
def test_tasks_of_a_file(tmp_path, capsys):
    one, two = tmp_path / "one_task.py", tmp_path / "two_tasks.py"
    one.write_text(TASK_FILE.replace("NAME", "first"))
    call("sample", str(one), "-n", "3", "--set", "d=6", "k=2")
    assert len(capsys.readouterr().out.splitlines()) >= 3
    text = TASK_FILE.replace("NAME", "second")
    two.write_text(text + text.replace("second-one", "second-two").replace("class Mine", "class Other"))
    call("sample", f"{two}:second-two", "-n", "1", "--json")
    assert json.loads(capsys.readouterr().out)["task"]["name"] == "second-two"


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none_of_it.py", "x = 1", "registers no task"),
        (
            "both.py",
            TASK_FILE.replace("NAME", "a") + TASK_FILE.replace("NAME", "b"),
            "registers a-one, b-one; name one",
        ),
        ("both.py:a-ine", TASK_FILE.replace("NAME", "a") + TASK_FILE.replace("NAME", "b"), "Did you mean 'a-one'"),
    ],
)
def test_a_file_without_the_one_task_is_an_input_error(tmp_path, monkeypatch, name, text, said):
    monkeypatch.chdir(tmp_path)
    Path(name.partition(":")[0]).write_text(text)
    with pytest.raises(InputError, match=said):
        asked(name, [], None)


class Letters(Task, WritesText):
    """Letters after letters, with nothing but inputs and targets in a row."""

    name: Literal["letters"] = "letters"
    weight: float | None = None
    inputs = property(lambda self: Tokens(26, 3))
    outputs = property(lambda self: Classes(26, None))

    def sample(self, key, index, context):
        first = words(key, index, 1)[0] % 20 + jnp.arange(4, dtype=jnp.uint32)
        weights = None if self.weight is None else jnp.full(3, self.weight)
        return Sample(first[:3].astype(jnp.int32), first[1:].astype(jnp.int32), weights)

    def oracle(self, inputs, latent):
        return inputs + 1

    def decode(self, tokens):
        return "".join(chr(97 + t) for t in tokens)

    def example(self):
        return "abc -> bcd"


def test_a_task_from_outside_without_weights_and_segments():
    found = records(SampleRange(Letters(), Uniform(), "random", "train", 0), 0, 100)
    assert len(found) == 100
    for record in found:
        assert len(record["text"]) == 4
        assert record["answer"] == record["text"][1:]


def test_a_split_without_samples_ends():
    with pytest.raises(InputError, match="rows of split train are empty"):
        records(SampleRange(Letters(weight=0.0), Uniform(), "random", "train", 0), 0, 1)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_data_set_holds_the_samples_and_datasets_loads_it(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "PIECE", 64)
    monkeypatch.setattr(exporting, "DRAWN", 32)
    datasets = pytest.importorskip("datasets")
    file, request, told = tmp_path / f"train.{kind}", asked("multi-hop-qa", ["people=5"]), []
    done = exporting.export(request, file, 3000, told.append)
    assert done.tokens >= 3000
    assert len(told) > 2
    assert [p.name for p in tmp_path.iterdir()] == [file.name]
    format_ = "json" if kind == "jsonl" else kind
    found = datasets.load_dataset(format_, data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert found.column_names == ["text", "prompt", "answer", "skills", "split"]
    assert len(found) == done.documents
    for row, record in zip(found, records(request, 0, len(found)), strict=True):
        assert row["text"] == row["prompt"] + row["answer"] == record["text"]
        assert row["answer"].strip() == record["answer"]
        assert row["skills"] == record["skills"]
        assert row["split"] == "train"


def test_a_killed_export_goes_on_and_ends_equal(tmp_path):
    """The process is killed between pieces; the file is the one of an unbroken run."""
    program = (
        "import sys; from lopsided.export import export; export.PIECE, export.DRAWN = 512, 256; "
        "from lopsided.cli import main; main(sys.argv[1:])"
    )

    def command(name):
        words = ["sample", "arithmetic", "--set", *SMALL, "--export", str(tmp_path / name), "--tokens", "200K"]
        return [sys.executable, "-c", program, *words]

    subprocess.run(command("whole.jsonl"), check=True, capture_output=True)
    with subprocess.Popen(command("killed.jsonl"), stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert "documents" in running.stderr.readline()
        running.send_signal(signal.SIGKILL)
    assert not (tmp_path / "killed.jsonl").exists()
    pieces = len(list((tmp_path / ".killed.jsonl.pieces").glob("*.count")))
    assert pieces >= 1
    subprocess.run(command("killed.jsonl"), check=True, capture_output=True)
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["arithmetc"], "unknown task 'arithmetc'. Did you mean 'arithmetic'?"),
        (["arithmetic", "--set", "opps=2"], "unknown key 'opps'"),
        (["arithmetic", "--set", "ops"], "valid is key=value"),
        (["arithmetic", "--law", "powerlaw:1"], "Did you mean 'power-law:1.0'?"),
        (["arithmetic", "--law", "power-law"], "alpha"),
        (["arithmetic", "--law", "power-law:1:2"], "power-law takes alpha"),
        (["arithmetic", "--law", "annealed:1.5"], "moves during training"),
        (["sparse-parity", "--law", "power-law:1"], "has no skills to shape"),
        (["arithmetic", "--split", "valid"], "unknown split"),
        (["arithmetic", "-n", "0"], "-n 0: from 1 to 100,000"),
        (["arithmetic", "--export", "x.csv", "--tokens", "10"], "ends in .parquet or .jsonl"),
        (["arithmetic", "--export", "x.jsonl"], "go together"),
        (["arithmetic", "--export", "x.jsonl", "--tokens", "many"], "a number above 0"),
        (["arithmetic", "--export", "x.jsonl", "--tokens", "inf"], "a number above 0"),
        (["arithmetic", "--law", "binned-power-law:1:60"], "60"),
        (["arithmetic", "--set", "tokens=phrases", "--export", "x.jsonl", "--tokens", "9"], "stand for two texts"),
        (["sparse-parity", "--export", "x.jsonl", "--tokens", "10"], "is not made of text"),
        (["arithmetic", "--export", "no/such/folder/x.jsonl", "--tokens", "10"], "cannot be written"),
    ],
)
def test_mistakes_are_one_line(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["sample", *words])
    assert stop.value.code == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_another_request_does_not_mix_with_old_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "PIECE", 64)

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exporting.export(asked(), tmp_path / "a.jsonl", 10**5, stop)
    with pytest.raises(InputError, match="pieces of another request"):
        exporting.export(asked(law="uniform"), tmp_path / "a.jsonl", 10**5, stop)

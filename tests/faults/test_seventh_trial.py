"""What a seventh newcomer found with the pages alone on 2026-11-28, each as it was found. (Neighbours of a run are in
`tests/library/test_neighbours.py`, texts that say nothing in `test_discovery.py`.)"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.core.spec import Spec
from lopsided.store.parts import Store
from lopsided.store.status import times
from lopsided.study.manifest import recorded
from tests.conftest import PARITY
from tests.faults.test_doors import command

LABELS = ["a"] * 50 + ["b"] * 20 + ["c"] * 6 + ["d"] * 4


@pytest.mark.parametrize(("shape", "then", "cap"), [(ld.PowerLaw(1.0), ld.AsIs(), None), (ld.AsIs(), ld.Uniform(), 10)])
def test_a_stream_that_changes_is_described_whole(shape, then, cap):
    """The table was of the last stretch alone, without what had come before, under the whole run's total."""
    groups = ld.Groups(LABELS, lengths=[10] * len(LABELS))
    stream = ld.Stream(groups, shape, total=500, seed=1, cap=cap).then(then, at=300)
    rows = {
        line.split()[0]: line.split() for line in stream.describe().splitlines() if line[:2] in ("a ", "b ", "c ", "d ")
    }
    names, counts = np.unique(np.array(LABELS)[stream.at(np.arange(500))], return_counts=True)
    assert {name: int(row[2]) for name, row in rows.items()} == dict(zip(names.tolist(), counts.tolist(), strict=True))
    assert "changed at 300" in stream.describe()
    assert stream.tokens == 5000
    most = np.bincount(stream.at(np.arange(500))).max()
    assert f"come most are expected {most} times" in stream.describe()
    assert stream.from_last().describe().startswith("200 samples of 80 examples, seed 1, from position 300 on")


def test_names_that_begin_alike_are_told_apart_in_a_table():
    names = ["python-2019-source", "python-2019-sink", "x" * 60 + "1", "x" * 60 + "2"]
    said = ld.Stream(ld.Groups(names * 10), ld.Uniform(), total=40).describe()
    assert all(name in said for name in names[:2])
    assert len({line.split()[0] for line in said.splitlines()[3:7]}) == 4


def test_a_value_that_is_called_unknown_is_not_a_missing_one():
    found = ld.by_columns({"s": ["unknown"] * 5 + [None] * 3})
    assert sorted(skill.size for skill in found.skills) == [3, 5]


@pytest.mark.slow
def test_time_of_merged_parts_is_of_the_runs_that_took_it(tmp_path, capsys):
    """After `compact`, every run had taken what all had."""
    for name, changes in (("one", {}), ("two", {"steps": 40})):
        (tmp_path / f"{name}.json").write_text(Spec.parse({**PARITY, **changes}).model_dump_json())
        command(capsys, "run", tmp_path / f"{name}.json", "--seeds", 2, "--out", tmp_path / "out")
    store = Store(tmp_path / "out")
    wanted = {each.label: each.members() for each in recorded(store)}
    before = times(store.as_of_now(), wanted)
    command(capsys, "compact", tmp_path / "out")
    assert len(store.as_of_now().parts()) == 1
    assert times(store.as_of_now(), wanted) == before


@pytest.mark.slow
def test_a_run_whose_neighbours_are_cut_off_is_not_finished(tmp_path, capsys, monkeypatch):
    """It printed "nothing to train" and said in JSON that it had finished."""
    from lopsided.core.errors import Stopped
    from lopsided.study import neighbours

    asked = []

    def until_time_is_over(runs, store, progress, stop, *more):
        asked.append(runs)
        assert stop.wait(60)
        raise Stopped

    monkeypatch.setattr(neighbours, "train_neighbours", until_time_is_over)
    monkeypatch.chdir(tmp_path)
    command(capsys, "new", "recipe", "mine.py", "--from", "norm-growth")
    text = Path("mine.py").read_text().replace('"laptop": (400, 300)', '"laptop": (20, 20)')
    Path("mine.py").write_text(text.replace('{"every": 10,', '{"every": 5,'))
    whole = command(capsys, "run", "mine.py", "--seeds", 1, "--json")
    assert json.loads(whole.out)["finished"]
    cut = command(capsys, "run", "mine.py", "--seeds", 1, "--neighbours", 1, "--for", "3s", "--json")
    assert len(asked) == 1  # nothing of the run itself was missing
    assert not json.loads(cut.out)["finished"]
    assert json.loads(cut.out)["trained"] == 0
    assert "3s are over" in cut.err


@pytest.mark.slow
def test_results_of_a_recipe_are_of_its_metric(tmp_path, capsys):
    command(capsys, "run", "norm-growth", "--scale", "smoke", "--out", tmp_path)
    assert "final norm/ratio" in repr(lop.load(tmp_path, recipe="norm-growth"))


def test_settings_of_logs_that_vary_within_an_arm_are_said(tmp_path):
    """An eighth trial: the rate stood in `hparams.yaml`, two of them within each arm, and nothing was said."""
    for arm in "ab":
        for seed in range(4):
            folder = tmp_path / arm / f"version_{seed}"
            folder.mkdir(parents=True)
            rows = "".join(f"{step},{1 / (step + seed + 1)}\n" for step in range(1, 6))
            (folder / "metrics.csv").write_text(f"step,val_loss\n{rows}")
            (folder / "hparams.yaml").write_text(
                f"lr: {0.1 if seed % 2 else 0.01}\nname: run{seed}\nseed: {seed % 2}\n"
            )
    runs = lop.read(tmp_path, arm="{arm}/version_{seed}/metrics.csv")
    said = [note for note in runs.notes if "taken together" in note]
    assert len(said) == 2
    assert all("2 values of lr" in note for note in said)


def test_scores_of_another_program_are_not_taken_for_these(tmp_path):
    """An eighth trial: the sign of the score was changed, and the old scores decided at once."""

    def train(shape, seed):
        return shape + seed % 5

    def other(shape, seed):
        return -shape + seed % 5

    shapes, file = {"uniform": 0.0, "power law": 9.0}, tmp_path / "scores.jsonl"
    first = lop.advise(train, shapes, out=file, told=None)
    assert lop.advise(train, shapes, out=file, told=None).shape == first.shape == "power law"
    for changed in ((other, shapes), (train, {"uniform": 0.0, "power law": 8.0})):
        with pytest.raises(lop.InputError, match="another program, or of other shapes"):
            lop.advise(*changed, out=file, told=None)


@pytest.mark.slow
def test_a_file_that_a_loop_imports_is_part_of_the_program(tmp_path):
    (tmp_path / "rows.csv").write_text("skill\n" + "a\n" * 30 + "b\n" * 10)
    (tmp_path / "loop.py").write_text("from flip import SIGN\n\ndef train(stream, seed):\n    return SIGN * seed\n")
    digests = []
    for sign in (1, -1, 1):
        (tmp_path / "flip.py").write_text(f"SIGN = {sign}\n")
        ask = "from pathlib import Path; from lopsided.advising.questions import from_table; " \
              "print(from_table(Path('rows.csv'), Path('loop.py'), 'skill', 100).digest)"  # fmt: skip
        done = subprocess.run([sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
        digests.append(done.stdout.splitlines()[-1])
    assert digests[0] == digests[2] != digests[1]


def test_what_is_swept_is_not_multiplied(capsys, tmp_path):
    """Arms kept the names of rates that they were not trained at."""
    said = command(capsys, "run", "dense-parity", "--set", "optimizer.lr*=2", "--out", tmp_path, code=2).err
    assert "named by it" in said

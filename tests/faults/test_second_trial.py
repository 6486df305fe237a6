"""What a newcomer found with the pages alone on 2026-11-28, each as it was found."""

import json
import os
import threading

import numpy as np
import pytest

import lopsided as lop
from lopsided.cli import main
from lopsided.core.spec import Spec
from lopsided.executors import orders
from lopsided.executors.base import Executor
from lopsided.executors.elsewhere import Elsewhere
from lopsided.store.parts import Store
from lopsided.study.recipe_run import prepare
from lopsided.work.worker import run
from tests.conftest import PARITY
from tests.faults.test_doors import command
from tests.faults.test_hostile_folders import put

SMALL = Spec.parse({**PARITY, "steps": 20})


@pytest.mark.parametrize("steps", [(10, 20, 10, 20), (10, 20, 30, 10, 20, 30)])
def test_a_log_that_begins_again_is_several_runs_of_one_arm(tmp_path, steps):
    """The number that told them apart became a column without a name: a traceback."""
    for arm in ("base", "mine"):
        rows = "".join(f"{step},{1 / step}\n" for step in steps)
        put(tmp_path / arm / "m.csv", f"step,val_loss\n{rows}")
    runs = lop.read(tmp_path)
    assert {arm: len(of) for arm, of in runs.arms.items()} == {"base": 2, "mine": 2}
    named = "".join(f"{step},{1 / step},base\n" for step in steps)
    put(tmp_path / "named/m.csv", f"step,val_loss,arm\n{named}")
    assert list(lop.read(tmp_path / "named").arms) == ["base"]  # not base#1 and base#2


def test_epochs_are_not_compared_with_steps(tmp_path):
    put(tmp_path / "base/m.csv", "step,loss\n10,1\n200,.4\n")
    put(tmp_path / "mine/m.csv", "epoch,loss\n1,1\n20,.4\n")
    with pytest.raises(lop.InputError, match=r"counts 'epoch' and m\.csv 'step'"):
        lop.read(tmp_path)


def test_percent_and_shares_within_an_arm_are_seen():
    steps, share = np.arange(1, 6), np.linspace(0.1, 0.9, 5)
    mixed = [lop.Curves(name, steps, np.array([share, 100 * share] * 4), "steps") for name in "ab"]
    with pytest.raises(lop.InputError, match="in percent and as shares"):
        lop.compare(*mixed, metric="accuracy").higher()


def test_folders_that_number_runs_are_no_arms(tmp_path):
    for arm in ("base", "mine"):
        for seed in range(2):
            put(tmp_path / arm / f"seed_{seed}" / "m.csv", "step,loss\n1,1\n2,.5\n")
    with pytest.raises(lop.InputError, match="which name seeds and no arms"):
        lop.read(tmp_path)
    assert list(lop.read(tmp_path, arm="{arm}/{seed}/m.csv").arms) == ["base", "mine"]
    with pytest.raises(lop.InputError, match=r"has \{arm\} in it"):
        lop.read(tmp_path, arm="{x}/{y}")


def test_a_run_that_diverged_ended_worse_than_all(tmp_path):
    """The table showed the median of the survivors."""
    rows = ["arm,seed,step,loss"]
    for seed in range(5):
        rows += [f"a,{seed},1,1.0", f"a,{seed},2,{'nan' if seed < 3 else 0.1}", f"b,{seed},1,1.0", f"b,{seed},2,0.5"]
    put(tmp_path / "log.csv", "\n".join(rows))
    table = lop.read(tmp_path / "log.csv").table("loss")
    assert [(row["arm"], row["median"]) for row in table] == [("b", 0.5), ("a", np.inf)]


@pytest.mark.slow
def test_results_without_the_usual_metric_can_be_printed(tmp_path, capsys):
    """`tour`, the recipe of `make demo`, has no test accuracy: the last line of a notebook's cell raised."""
    command(capsys, "run", "tour", "--scale", "smoke", "--out", tmp_path)
    found = lop.load(tmp_path, recipe="tour-smoke")
    assert len(repr(found).splitlines()) == 1 + len(found.arms)
    assert "<table>" in found._repr_html_()


@pytest.mark.slow
def test_a_run_that_cannot_be_read_here_is_named(tmp_path, capsys, monkeypatch):
    """Its task comes from a file: `report` and `load` were silent."""
    from lopsided.core.errors import InputError
    from lopsided.study import remembered

    put(tmp_path / "spec.json", SMALL.model_dump_json())
    command(capsys, "run", tmp_path / "spec.json", "--seeds", 1, "--out", tmp_path / "out")
    command(capsys, "run", "dense-parity", "--scale", "smoke", "--out", tmp_path / "out")
    label = next((tmp_path / "out/runs").glob("spec-*.json")).stem
    real = remembered.of_manifest

    def of_manifest(found):
        if found.label == label:
            raise InputError("unknown task 'facts'")
        return real(found)

    monkeypatch.setattr(remembered, "of_manifest", of_manifest)
    said = command(capsys, "report", tmp_path / "out").err
    assert "left out (unknown task 'facts')" in said
    with pytest.raises(lop.InputError, match="cannot be read here"):
        lop.load(tmp_path / "out", recipe=label)
    with pytest.raises(lop.InputError, match="no store there"):
        lop.load(tmp_path / "nothing", recipe="tour")


def test_one_setting_is_one_run_however_it_is_written(tmp_path, capsys):
    for text in ("0.02", "0.020", "2e-2"):
        command(capsys, "run", "dense-parity", "--scale", "smoke", "--set", f"optimizer.momentum={text}",
                "--out", tmp_path, code=2)  # fmt: skip
    labels = {prepare("norm-growth", "smoke", None, [f"steps={text}"]).label for text in ("50", "5e1", "50.0")}
    assert len(labels) <= 2  # 50 and 50.0
    assert prepare("norm-growth", "smoke", None, ["products=float32"]).overrides == ()  # what it is already


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["task.d=7", "steps=20"], ("steps=20", "task.d=7")),
        (["steps=20", "task.d=7"], ("steps=20", "task.d=7")),
        (["steps=30", "task.d=7", "steps=20"], ("steps=20", "task.d=7")),
        (["products=float32", "steps=20"], ("steps=20",)),
    ],
)
def test_one_run_is_one_run_in_whatever_order_it_is_changed(changes, named):
    """One set of specs had several names, and several reports."""
    assert prepare("set-size", "smoke", None, changes).overrides == named


def test_who_comes_after_a_stop_is_not_stopped(tmp_path):
    """`.stop` stayed in the folder, and every later worker ended at once."""
    store = Store(tmp_path)
    store.require_writable()
    orders.ask_to_stop(store)
    orders.write(store, orders.of("adam", [SMALL], 1, execution="{}"))
    (tmp_path / "work/.stop").touch()  # as one that was asked before the order came
    assert orders.as_worker(store, threading.Event(), 0.2) == 1


def test_a_worker_makes_no_folder(tmp_path, capsys):
    said = command(capsys, "worker", tmp_path / "typo", "--idle", "0.1s", code=2).err
    assert "no store there" in said
    assert not (tmp_path / "typo").exists()


def test_a_head_without_workers_says_so(tmp_path):
    store = Store(tmp_path)
    run([SMALL], 1, store)
    executor: Executor = Elsewhere(tmp_path, 1, {})
    assert (executor.count(), executor.living()) == (1, 0)
    from lopsided.executors.head import Cluster

    assert "no worker lives" in Cluster(executor, "adam")._leave(store)


def test_half_done_members_are_told_with_both_ends(tmp_path, capsys):
    from lopsided.report.folder_tables import status_tables

    row = {"run": "a", "members": 4, "done": 0, "running": 0, "stale": 0, "failed": 0, "waiting": 4, "begun": 4,
           "step": 10, "furthest": 17_520, "of": 20_000, "seconds_left": None}  # fmt: skip
    status_tables({"runs": [row], "running": [], "stale": [], "workers": [], "failed": [], "damaged": [],
                   "unreadable": [], "foreign": []}, {"a": "a"})  # fmt: skip
    assert "committed to step 10 to 17,520 of 20,000" in capsys.readouterr().out


def test_a_pipe_is_no_spec(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.json")
    assert "is no regular file" in command(capsys, "run", tmp_path / "pipe.json", code=2).err


TRAIN = """
import os
def train(stream, seed):
    print("from print")
    os.system("echo from a child")
    return 0.5
"""


def test_advice_is_alone_on_stdout_and_says_that_all_scores_are_equal(tmp_path, capfd):
    put(tmp_path / "train.py", TRAIN)
    put(tmp_path / "table.csv", "skill\n" + "\n".join("abcab" * 8))
    asked = ["advise", str(tmp_path / "table.csv"), "--train", str(tmp_path / "train.py"), "--skill", "skill",
             "--samples", "40", "--out", str(tmp_path / "out")]  # fmt: skip
    with pytest.raises(SystemExit):
        main([*asked, "--json"])
    said = capfd.readouterr()
    json.loads(said.out)
    assert "from a child" in said.err
    with pytest.raises(SystemExit):
        main(asked)
    assert "Every run scored 0.5: nothing was told apart" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"), [("my recipe.py", "cannot name"), ("a.txt", "ends in .py"), ("adam.py", "has a recipe")]
)
def test_a_name_that_will_not_do_is_told_why(name, said, tmp_path, capsys):
    assert said in command(capsys, "new", "recipe", "--from", "adam", tmp_path / name, code=2).err


def test_several_runs_of_one_name_and_unit_are_told_apart(tmp_path):
    """Logs were compared with one another by their arrays: a ValueError of NumPy's."""
    rows = "".join(f"{epoch},{1 / epoch},base\n" for epoch in (1, 2, 1, 2))
    put(tmp_path / "a.csv", f"epoch,loss,arm\n{rows}")
    put(tmp_path / "b.csv", f"step,loss,arm\n{rows}")
    assert len(lop.read(tmp_path / "a.csv")) == 2
    with pytest.raises(lop.InputError, match="all in one unit"):
        lop.read(tmp_path)

"""Logs as programs and people leave them: rows without steps, other orders, words in cells, packed files, links."""

import gzip
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import lopsided as lop
from lopsided.api.runs import Runs
from lopsided.logs import tensorboard_files
from lopsided.logs.cells import numbers

PATH = "{arm}_{seed}.csv"


def arms(folder, lines, header="step,loss", ending="csv"):
    """Eight runs of two arms; `lines(level)` gives a file's rows."""
    for arm, level in (("base", 2.0), ("mine", 1.0)):
        for seed in range(4):
            text = "\n".join([header, *lines(level + seed / 100)])
            (folder / f"{arm}_{seed}.{ending}").write_text(text + "\n")
    return lop.read(folder, arm=f"{{arm}}_{{seed}}.{ending}")


def ends(runs: Runs, arm: str) -> list[float]:
    return [float(run.metrics["loss"].value[-1]) for run in runs.arms[arm]]


def test_a_row_without_a_step_is_no_divergence(tmp_path):
    runs = arms(tmp_path, lambda x: ["100,4", f"200,{x}", f",{x}"])
    assert ends(runs, "mine") == [1.0, 1.01, 1.02, 1.03]
    assert runs.curves("mine", "loss").notes == ()
    assert runs.compare("base", "mine", "loss").better().verdict == "holds"
    assert any("1 row without a 'step' left out" in note for note in runs.notes)


def test_a_line_of_settings_before_the_first_step_is_kept(tmp_path):
    for arm in ("base", "mine"):
        first = {"arm": arm, "seed": 3, "lr": 0.1, "optimizer": "muon"}
        rows = [first, {"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}, {"final": 1.0}]
        (tmp_path / f"{arm}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    runs = lop.read(tmp_path)
    assert [(run.arm, run.seed, run.config["lr"], run.config["optimizer"]) for run in runs.all] == [
        ("base", 3, 0.1, "muon"),
        ("mine", 3, 0.1, "muon"),
    ]
    assert runs.all[0].metrics["loss"].value.tolist() == [2.0, 1.0]
    assert "final" not in runs.all[0].config


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]], ids=["newest first", "shuffled"])
def test_rows_in_another_order_are_no_resumed_run(tmp_path, order):
    runs = arms(tmp_path, lambda x: [f"{100 * i + 100},{x + 4 - i}" for i in order])
    assert runs.all[0].metrics["loss"].step.tolist() == [100, 200, 300, 400, 500]
    assert ends(runs, "base") == pytest.approx([2.0, 2.01, 2.02, 2.03])
    assert any("not in the order of its steps" in note for note in runs.notes)


def test_a_resumed_run_is_still_one(tmp_path):
    rows = [f"{step},{9 - step / 50}" for step in (50, 100, 150, 200, 120, 170, 220)]
    (tmp_path / "a.csv").write_text("\n".join(["step,loss", *rows]))
    (run,) = lop.read(tmp_path).all
    assert run.metrics["loss"].step.tolist() == [50, 100, 120, 170, 220]


def test_rows_that_were_written_twice_count_once(tmp_path):
    runs = arms(tmp_path, lambda x: [line for line in ("0,4", f"100,{x}") for _ in range(2)])
    assert runs.all[0].metrics["loss"].step.tolist() == [0, 100]


def test_runs_that_begin_with_one_value_are_not_one(tmp_path):
    (tmp_path / "a.csv").write_text("step,acc\n0,0.1\n0,0.1\n1,0.2\n1,0.8\n")
    with pytest.raises(lop.InputError, match="begins 2 times"):
        lop.read(tmp_path)


def test_a_long_table_has_empty_values_too(tmp_path):
    rows = ["step,metric,value", "1,loss,3", "2,loss,2", "3,loss,None", "1,acc,0.1"]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    (run,) = lop.read(tmp_path).all
    assert run.metrics["loss"].value.tolist() == [3, 2]
    assert run.metrics["acc"].value.tolist() == [0.1]


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (["0,925", "0,125"], [0.925, 0.125]),
        (["0.5", "91%"], None),
        (["63,592.7", "950.5"], [63592.7, 950.5]),
        (["3,25", "4,168"], [3.25, 4.168]),
        (["91.5%", "92 %"], [91.5, 92]),
        (["None", "2.5"], [np.nan, 2.5]),
        ([" ", "N/A", "1"], [np.nan, np.nan, 1]),
        (["nan", "1"], [np.nan, 1]),
        (["5,000", "4,168"], None),  # either way of writing
        ([[1.0], [2.0]], None),
        (["a", "1"], None),
        (["", None], None),
    ],
)
def test_cells_are_read_as_they_are_written(column, found):
    assert (numbers(column) is None) if found is None else np.array_equal(numbers(column), found, equal_nan=True)


def test_an_ambiguous_number_is_named(tmp_path):
    with pytest.raises(lop.InputError, match=r"'loss' has '5,000' in row 1; write it without a comma"):
        arms(tmp_path, lambda x: ['0,"5,000"', '100,"4,168"'])


def test_lists_in_cells_are_no_metrics(tmp_path):
    rows = [{"step": [1], "loss": 2.0}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(lop.InputError, match=r"row 1: step = \[1\] is no number"):
        lop.read(tmp_path)
    rows = [{"step": s, "loss": 2.0 / s, "lr": [0.1]} for s in (1, 2)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert lop.read(tmp_path).metrics == ["loss"]


def test_dates_are_seconds(tmp_path):
    runs = arms(tmp_path, lambda x: ["1,3,2026-11-30T12:00:00Z", f"2,{x},2026-11-30T12:01:30Z"], "step,loss,timestamp")
    assert runs.all[0].metrics["loss"].seconds.tolist() == [0, 90]


def test_times_of_rows_in_another_order_begin_at_0(tmp_path):
    lines = [f"{s},{4 - s},2026-11-30T12:0{s}:00" for s in (3, 2, 1)]
    (tmp_path / "a.csv").write_text("\n".join(["step,loss,timestamp", *lines]))
    assert lop.read(tmp_path).all[0].metrics["loss"].seconds.tolist() == [0, 60, 120]


def test_an_empty_clock_that_was_asked_for_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("step,loss,clock\n1,2,\n2,1,\n")
    with pytest.raises(lop.InputError, match="clock = '' is neither seconds nor a date"):
        lop.read(tmp_path, seconds="clock")


def test_results_are_no_settings_and_weights_of_losses_are(tmp_path):
    rows = [
        "run,aux_loss_weight,seed,accuracy",
        *(f"r{i},{w},{i % 4},0.8{i % 2}" for i, w in enumerate([0.1, 0.2] * 4)),
    ]
    (tmp_path / "results.csv").write_text("\n".join(rows))
    assert list(lop.read(tmp_path).arms) == ["aux_loss_weight = 0.1", "aux_loss_weight = 0.2"]
    for weight in (0.1, 0.2):
        lines = [f"{step},{3 - step},{weight}" for step in (1, 2)]
        (tmp_path / f"w{weight}.csv").write_text("\n".join(["step,loss,aux_loss_weight", *lines]))
    assert "aux_loss_weight" in lop.read([tmp_path / "w0.1.csv", tmp_path / "w0.2.csv"]).all[0].config


def test_an_empty_clock_hides_no_other(tmp_path):
    (tmp_path / "a.csv").write_text("step,loss,time,timestamp\n1,2,,10\n2,1,,20\n")
    assert lop.read(tmp_path).all[0].metrics["loss"].seconds.tolist() == [10, 20]


def test_a_clock_that_cannot_be_read_is_none_unless_it_was_asked_for(tmp_path):
    runs = arms(tmp_path, lambda x: ["1,3,noon", f"2,{x},later"], "step,loss,time")
    assert runs.all[0].metrics["loss"].seconds is None
    with pytest.raises(lop.InputError, match="time = 'noon' is neither seconds nor a date"):
        lop.read(tmp_path, seconds="time")


def test_an_empty_time_is_an_evaluation_that_nobody_can_place(tmp_path):
    runs = arms(tmp_path, lambda x: ["1,3,0", f"2,{x + 1},", f"3,{x},60", f"4,{x},"], "step,loss,seconds")
    track = runs.curves("mine", "loss", "seconds").tracks[0]
    assert (track.axis.tolist(), track.diverged) == ([0, 60], False)


def test_a_text_that_changes_within_a_run_is_no_arm(tmp_path):
    for arm in ("base", "mine"):
        (tmp_path / arm).mkdir()
        for seed in range(4):
            lines = [f"{s},{2 / s},{arm} {seed} {s}" for s in (1, 2)]
            (tmp_path / arm / f"{seed}.csv").write_text("\n".join(["step,loss,said", *lines]))
    assert list(lop.read(tmp_path).arms) == ["base", "mine"]


def test_packed_files_and_linked_folders_are_read(tmp_path):
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere"
    logs.mkdir()
    elsewhere.mkdir()
    with gzip.open(logs / "a.csv.gz", "wt") as file:
        file.write("step,loss\n1,2\n2,1\n")
    (elsewhere / "b.csv").write_text("step,loss\n1,2\n2,1\n")
    (logs / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(logs)  # a way round in a circle
    assert sorted(run.name for run in lop.read(logs).all) == ["a", "b"]
    (logs / "a.csv.gz").write_bytes((logs / "a.csv.gz").read_bytes()[:-6])
    with pytest.raises(lop.InputError, match=r"a\.csv\.gz: cannot be read"):
        lop.read(logs)


def test_a_folder_has_its_own_name_and_not_that_of_a_link_to_it(tmp_path):
    (tmp_path / "mine").mkdir()
    for seed in range(2):
        (tmp_path / "mine" / f"seed_{seed}.csv").write_text("step,loss\n1,2\n2,1\n")
    (tmp_path / "latest").symlink_to(tmp_path / "mine")
    assert list(lop.read(tmp_path, arm="{arm}/seed_{seed}.csv").arms) == ["mine"]


def test_a_link_to_nothing_is_no_file(tmp_path):
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(lop.InputError, match=r"gone\.csv: no such file"):
        lop.read([tmp_path / "gone.csv"])


def test_a_table_of_results_needs_no_steps(tmp_path):
    rows = [f"{arm},{seed},{level + seed / 1000}" for arm, level in (("base", 0.8), ("mine", 0.9)) for seed in range(8)]
    (tmp_path / "results.csv").write_text("\n".join(["method,seed,accuracy", *rows]))
    found = lop.read(tmp_path).compare("base", "mine", "accuracy").better()
    assert (found.verdict, found.effect) == ("holds", pytest.approx(0.1))
    (tmp_path / "results.csv").write_text("\n".join(["method,accuracy", "base,0.1", "base,0.2"]))
    with pytest.raises(lop.InputError, match="no column of steps"):
        lop.read(tmp_path)


@pytest.mark.parametrize("step", ["Step", "tokens"])
def test_arms_of_an_exported_chart_are_in_its_runs_names(tmp_path, step):
    head = [step, *(f"{arm}-seed{seed} - loss" for arm in ("base", "mine") for seed in range(2))]
    (tmp_path / "export-2026.csv").write_text("\n".join([",".join(head), "1,4,4,4,4", "2,2,2.1,1,1.1"]))
    runs = lop.read(tmp_path, arm="{arm}-seed{seed}", step=step)
    assert {arm: [run.seed for run in of] for arm, of in runs.arms.items()} == {"base": [0, 1], "mine": [0, 1]}


@pytest.mark.parametrize("goes_on", [True, False])
def test_event_files_of_one_folder_are_one_run_if_they_go_on(tmp_path, monkeypatch, goes_on):
    """A run that is resumed goes on in a file of its own."""
    parts = {"events.out.tfevents.1.a": (10.0, [(0, 4.0), (1, 3.0), (2, 9.0)]),
             "events.out.tfevents.2.a": (90.0, [(2, 2.0), (3, 1.0)] if goes_on else [(0, 5.0)])}  # fmt: skip

    class Accumulator:
        def __init__(self, path, **_):
            self.begins, self.rows = parts[path.rpartition("/")[2]]

        def Reload(self):
            pass

        def Tags(self):
            return {"scalars": ["loss"], "tensors": []}

        def Scalars(self, _):
            return [SimpleNamespace(step=s, value=v, wall_time=self.begins + s) for s, v in self.rows]

        def FirstEventTimestamp(self):
            return self.begins

    name = "tensorboard.backend.event_processing.event_accumulator"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(EventAccumulator=Accumulator))
    monkeypatch.setattr(tensorboard_files.importlib, "import_module", lambda name: sys.modules[name])
    for name in parts:
        (tmp_path / name).write_text("")
    runs = lop.read(tmp_path).all
    if not goes_on:
        assert [run.metrics["loss"].value.tolist() for run in runs] == [[4.0, 3.0, 9.0], [5.0]]
        return
    (run,) = runs
    assert run.metrics["loss"].value.tolist() == [4.0, 3.0, 2.0, 1.0]
    assert run.metrics["loss"].seconds.tolist() == [0, 1, 82, 83]

"""What a sixth newcomer found with the pages alone on 2026-11-28, each as it was found."""

import csv
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.claims.deciding import with_reason
from lopsided.core.spec import Spec
from lopsided.explore import curves, draw, selection
from lopsided.explore.folder import Folder
from lopsided.recipes import norm_growth
from lopsided.report.summary import arm_summary
from lopsided.report.text import never_learned, rules, to_learn
from lopsided.report.words import REASON_WORDS, would_decide
from lopsided.stats import decisions
from lopsided.stats.verdict import Reason
from lopsided.store.parts import Store
from lopsided.store.tables import query
from lopsided.study.manifest import recorded, title_of
from lopsided.study.others import OTHERS, arm_rows
from tests.conftest import PARITY
from tests.faults.test_doors import command

pytestmark = pytest.mark.xdist_group("sixth trial")  # one worker makes what its tests share

SMALL = Spec.parse({**PARITY, "steps": 40, "evaluation": {"every": 10, "samples": 64}})
FAST = Spec.parse({**SMALL.model_dump(mode="json"), "optimizer": {"name": "sgd", "lr": 1000.0}, "loss": "square"})


@pytest.fixture(scope="module")
def diverged(tmp_path_factory):
    """A folder in which every member of one of two arms diverges."""
    folder = tmp_path_factory.mktemp("diverged")
    return folder, lop.run({"slow": SMALL, "fast": FAST}, seeds=8, out=folder)


def test_a_metric_that_nobody_gave_a_goal_has_no_time_to_learn():
    assert norm_growth.recipe.goal == float("inf")
    arm = {
        "metric": "norm/ratio", "members": 3, "budget_steps": 10.0, "budget_compute": 20.0,
        "time_to_learn": {"threshold": None, "median_steps": None, "median_compute": None, "censored": 3},
    }  # fmt: skip
    assert [to_learn(arm, "steps"), never_learned(arm), rules([arm])] == ["–", "–", ""]


def test_an_accuracy_has_a_goal_of_its_own(diverged):
    _, results = diverged
    arm = arm_summary(results["slow"], "test/accuracy", 0.95)
    assert rules([arm]) == "test/accuracy 0.95"
    assert never_learned(arm).endswith(" of 8")


def test_the_explorer_says_what_became_of_members_that_diverged(diverged):
    """Their accuracy stood as a measured 0, medians of losses were of the others, "of 8 members"."""
    folder, results = diverged
    assert results["fast"].diverged.all()
    page = Folder(folder)
    page.mirror.refresh()
    page._read_manifests()
    (run,) = page.runs.values()
    for metric, said in (("test/accuracy", "count as 0"), ("test/loss", "in no median")):
        drawn = curves.read(page.mirror, run.arms, metric)
        assert sorted(int(each.diverged.sum()) for each in drawn) == [0, 8]
        text = selection.diverged_text(drawn, metric)
        assert text.startswith("8 of 16 members diverged")
        assert said in text
    shades = draw.colours([each.arm for each in drawn], None)
    figure = draw.lines(drawn, "test/loss", "steps", [], False, shades)
    ends = {int(trace.customdata[-1]) for trace in figure.data if trace.customdata is not None}
    assert ends == {0, 8}
    page.mirror.close()


def test_a_query_of_last_values_knows_members_that_diverged(diverged, capsys):
    """`max_by` passes over NULL: members that diverged counted with their last finite value."""
    folder, _ = diverged
    store = Store(folder)
    manifests = recorded(store)
    arms = [row for each in manifests for row in each.rows()] + arm_rows(store, manifests)
    page = Path("docs/tables.md").read_text(encoding="utf-8")
    sql = next(block for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL) if "tour-laptop" in block)
    sql = sql.replace("tour-laptop", OTHERS)
    rows = {arm: middle for arm, _, middle in query(store.as_of_now(), arms, sql).rows}
    assert sorted(rows.values())[0] == 0.0
    assert "max_by" not in command(capsys, "query", "--help")[0]


def test_a_claim_about_a_member_without_value_does_not_wait_for_longer_runs():
    lost = np.array([0.1] * 7 + [np.nan])
    found = decisions.higher(np.zeros(8), lost, "loss")
    assert (found.verdict, found.reason) == ("inconclusive", "diverged")
    claim = with_reason(norm_growth.recipe.claims[0].with_what(found, "r", "laptop"), found, False)
    assert "run" in would_decide(claim, None)
    assert "longer" not in would_decide(claim, None)
    assert set(Reason.__args__) == set(REASON_WORDS)


def test_results_in_which_members_diverged_are_compared_as_such(diverged):
    """They were "runs that end at different places"."""
    _, results = diverged
    verdict = results.compare("slow", "fast", "test/loss").lower()
    assert verdict.claim.reason == "diverged"
    assert any("8 of 8 runs diverged" in note for note in verdict.notes)


def test_the_saved_table_has_the_seeds_of_the_run(diverged):
    """Another run of the same specs has more: the picture left them out, the table that it saves did not."""
    folder, _ = diverged
    page = Folder(folder)
    page.mirror.refresh()
    page._read_manifests()
    (every,) = page.runs.values()
    run = every._replace(arms=tuple(arm._replace(seeds=range(3)) for arm in every.arms))
    saved = csv.DictReader(selection.csv(page.mirror, selection.choose(run, "test/accuracy", {})).splitlines())
    assert {int(row["seed"]) for row in saved} == {0, 1, 2}
    assert {len(each.seeds) for each in curves.read(page.mirror, run.arms, "test/accuracy")} == {3}
    page.mirror.close()


@pytest.mark.slow
def test_a_name_of_several_runs_says_which_one_was_taken(tmp_path, capsys):
    for words in (("--scale", "smoke"), ("--scale", "smoke", "--set", "optimizer.lr=0.5")):
        command(capsys, "run", "norm-growth", "--out", tmp_path, *words)
    lop.load(tmp_path, recipe="norm-growth")
    assert "load" not in capsys.readouterr().err
    with pytest.raises(lop.InputError, match="seeds"):
        lop.load(tmp_path, 2, recipe="norm-growth")


def test_fields_with_one_last_word_are_named_whole():
    """`--set model.eps=0.001` and `--set optimizer.eps=0.001` were both "eps=0.001"."""
    spec = {"model": {"eps": 1.0, "width": 3}, "optimizer": {"eps": 1.0}, "task": {"group": "D5"}}
    titles = {title_of("lab", "laptop", (f"{part}.eps=0.001",), [spec]) for part in ("model", "optimizer")}
    assert titles == {"lab, model.eps=0.001", "lab, optimizer.eps=0.001"}
    assert title_of("lab", "laptop", ("task.group=Q8", "width=4"), [spec]) == "lab, group=Q8, width=4"


class Iterated:
    """A source that can only be iterated."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


@pytest.mark.parametrize("kind", ["batches", "packed", "feed", "self-annealed", "by loss"])
def test_the_state_of_a_finished_pass_has_nothing_left(kind):
    """Saved after the loop it was that of the beginning: a new process trained the whole run again."""
    stream = ld.Stream(ld.Groups(list("aab") * 20), ld.Uniform(), 64)

    def sampler():
        if kind == "batches":
            return ld.BatchSampler(stream, 8)
        if kind == "packed":
            return ld.Packed(stream, [5] * 60, 16, batch=4)
        if kind == "self-annealed":
            return ld.SelfAnneal(ld.Groups(list("aab") * 20), 64, 8)
        if kind == "by loss":
            return ld.LossProportional(ld.Groups(list("aab") * 20), 64, 8)
        sources = {name: Iterated([name] * 30) for name in "ab"}
        return ld.Feed(ld.interleave(sources, ld.Uniform(), total=64), 8)

    first = sampler()
    whole = list(first)
    assert whole
    state = first.state_dict()
    second = sampler()
    second.load_state_dict(state)
    assert list(second) == []
    with pytest.warns(UserWarning, match="pass 2"):
        assert len(list(second)) == len(whole)
    with pytest.warns(UserWarning, match="pass 2"):
        assert len(list(first)) == len(whole)
    first.load_state_dict(state)
    with pytest.warns(UserWarning, match="pass 3"):
        assert list(first) == []


@pytest.mark.filterwarnings("default")
def test_a_second_pass_is_said_where_workers_read(capfd, monkeypatch):
    """Each pass has workers of its own, which have not seen the others: nobody warned."""
    torch_data = pytest.importorskip("torch.utils.data")
    # pytest keeps warnings in a list, of which a worker has its own
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: os.write(2, str(message).encode()))
    sources = {name: Iterated([name] * 30) for name in "ab"}
    feed = ld.Feed(ld.interleave(sources, ld.Uniform(), total=64), 8)
    loader = torch_data.DataLoader(feed, batch_size=8, num_workers=2)
    assert len(list(loader)) == 8
    assert "pass 2" not in capfd.readouterr().err
    assert len(list(loader)) == 8
    assert capfd.readouterr().err.count("pass 2 begins") == 1

"""`lopsided advise` for programs and tables of one's own."""

import json

import duckdb
import numpy as np
import pytest

import lopsided.data as ld
from lopsided.advising.questions import from_table
from lopsided.cli import main

LOOP = """
import numpy as np

def train(stream, seed):
    rows = stream.at(np.arange(stream.total))
    return float((rows >= 900).mean()) + 0.01 * np.random.default_rng(seed).normal()
"""
OWN = """
import numpy as np

shapes = {"uniform": 0.0, "better": 1.0}

def train(shape, seed):
    return shape + 0.1 * np.random.default_rng(seed).normal()
"""
SPEC = """
import lopsided as lop

spec = lop.Spec(
    task=lop.tasks.SparseParity(d=6, k=2), model=lop.models.MLP(width=8), plan=lop.plans.Online(batch=8),
    optimizer=lop.optim.SGD(lr=0.5), loss="logistic", steps=64, evaluation={"every": 16, "samples": 64},
)
"""
TOPICS = "CASE WHEN i < 900 THEN 'common' WHEN i < 980 THEN 'rare' ELSE NULL END"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = {"loop.py": LOOP, "own.py": OWN, "ask.py": SPEC, "empty.py": "", "bad.py": "1 / 0"}
    programs |= {"one.py": "def train(stream): return 0.5", "none.py": "def train(stream, seed): return None"}
    programs |= {"raises.py": "def train(stream, seed): return 1 / 0"}
    programs |= {"exits.py": "import sys\n\ndef train(stream, seed): sys.exit(0)"}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    duckdb.sql(f"COPY (SELECT i AS id, {TOPICS} AS topic FROM range(1000) t(i)) TO 'rows.parquet'")
    duckdb.sql("COPY (FROM 'rows.parquet') TO 'rows.csv'")
    duckdb.sql("COPY (FROM 'rows.parquet') TO 'rows.jsonl' (FORMAT json)")
    (tmp_path / "broken.parquet").write_text("no table")
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "empty.csv").write_text("id,topic\n")
    (tmp_path / "spec.json").write_text("{}")
    return tmp_path


def code(*words):
    with pytest.raises(SystemExit) as stopped:
        main(["advise", *words])
    return stopped.value.code


@pytest.mark.parametrize("table", ["rows.parquet", "rows.csv", "rows.jsonl"])
def test_a_table_is_shaped_by_its_column(table, folder, capsys):
    asked = (table, "--skill", "topic", "--train", "loop.py", "--samples", "2000")
    assert code(*asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["winner"]) == ("use", "uniform")
    assert found["shape"] == "ld.Stream(groups, ld.Uniform(), 2000)"
    rows = (folder / "lopsided-runs/advice").glob("*.jsonl")
    (before,) = [file.read_text() for file in rows]
    assert code(*asked) == 0  # goes on: nothing is trained again
    (after,) = [file.read_text() for file in (folder / "lopsided-runs/advice").glob("*.jsonl")]
    assert after == before
    said = capsys.readouterr().out
    assert "Use uniform." in said
    (page,) = [
        each.read_text() for each in (folder / "lopsided-runs/advice").glob(f"{table.split('.')[0]}-*-race.html")
    ]
    assert "annealed, growing subsets" in page
    assert "Use uniform." in page


def test_other_samples_or_another_program_are_another_race(folder):
    first = from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000)
    assert first.digest == from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000).digest
    assert first.digest != from_table(folder / "rows.csv", folder / "loop.py", "topic", 2001).digest
    rows = (folder / "rows.csv").read_text()
    (folder / "rows.csv").write_text(rows + rows.splitlines()[-1] + "\n")
    assert first.digest != from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000).digest
    (folder / "rows.csv").write_text(rows)
    assert first.digest == from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000).digest
    (folder / "loop.py").write_text(LOOP + "\n# changed")
    assert first.digest != from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000).digest


def test_a_table_is_read_whatever_its_name(folder):
    """DuckDB takes [1] and ? for patterns: another table was read."""
    (folder / "a[1].csv").write_text("topic\nx\ny\nz\nz\n")
    (folder / "a1.csv").write_text("topic\nother\n")
    assert from_table(folder / "a[1].csv", folder / "loop.py", "topic", 2000).data == "4 rows, 3 skills"


def test_runs_of_one_seed_draw_from_streams_of_that_seed(folder):
    seen = []
    question = from_table(folder / "rows.csv", folder / "loop.py", "topic", 2000)
    assert question.baselines == ("as is", "uniform")
    for name, shape in question.shapes.items():
        stream = ld.Stream(ld.Groups(["a"] * 900 + ["b"] * 100), shape, 2000, seed=3)
        seen.append((name, np.bincount(stream.at(np.arange(2000)), minlength=1000)[900:].sum()))
    often = dict(seen)
    assert often["as is"] == 200
    assert often["uniform"] == 1000
    assert often["power law 1"] < often["power law 0.5"] < 1000


def test_without_a_column_only_subsets_are_tried():
    assert set(ld.candidates(1000, 2000)) == {"as is", "growing subsets", "1/8 of the data, repeated"}
    level = ld.candidates(ld.Groups([0, 0, 1, 1]), 2000)
    assert "as is" not in level  # it is uniform
    assert next(iter(level)) == "uniform"


def test_a_row_may_need_several_skills(folder):
    lines = [json.dumps({"skills": ["add", "carry"] if i % 3 else ["add"]}) for i in range(300)]
    (folder / "several.jsonl").write_text("\n".join(lines))
    question = from_table(folder / "several.jsonl", folder / "loop.py", "skills", 600)
    assert question.train(question.shapes["uniform"], 0) < 0.1


def test_a_program_has_its_own_shapes(folder, capsys):
    assert code("own.py", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["winner"], found["shape"]) == ("use", "better", "1.0")


@pytest.mark.slow
def test_a_program_may_define_a_spec(folder, capsys):
    assert code("ask.py", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (page,) = [each.read_text() for each in (folder / "lopsided-runs/advice").glob("ask-*-race.html")]
    assert found["report"].endswith("-race.html")
    assert "Learning curves" in page
    assert "sparse-parity" in page  # specs to paste


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rows.parquet"], "--train FILE.py"),
        (["rows.parquet", "--train", "loop.py"], "--samples N"),
        (["rows.parquet", "--train", "loop.py", "--samples", "2"], "at least 6"),
        (["rows.parquet", "--train", "empty.py", "--samples", "20"], "has to define train(stream, seed)"),
        (["rows.parquet", "--train", "absent.py", "--samples", "20"], "not found"),
        (["rows.parquet", "--train", "loop.py", "--samples", "20", "--skill", "topc"], "Did you mean 'topic'"),
        (["rows.parquet", "--train", "one.py", "--samples", "20"], "has to define train(stream, seed): too many"),
        (["empty.jsonl", "--train", "loop.py", "--samples", "20", "--skill", "topic"], "has no rows"),
        (["empty.csv", "--train", "loop.py", "--samples", "20", "--skill", "topic"], "has no rows"),
        (["broken.parquet", "--train", "loop.py", "--samples", "20"], "broken.parquet"),
        (["rows.csv", "--train", "rows.parquet", "--samples", "20"], "has to be a Python file"),
        (["absent.parquet", "--train", "loop.py", "--samples", "20"], "not found"),
        (["rows.csv", "--train", "loop.py", "--samples", "20", "--target", "test/accuracy=.9"], "--target: for specs"),
        (["own.py", "--rates", ".5", "1"], "--rates: for specs"),
        (["own.py", "--skill", "topic"], "--skill: for a table"),
        (["empty.py"], "has to define `spec`"),
        (["bad.py"], "ZeroDivisionError"),
        (["rows.txt"], "valid is a spec"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words, said, folder, capsys):
    assert code(*words) == 2
    (line,) = [s for s in capsys.readouterr().err.splitlines() if "shapes:" not in s and "executing" not in s]
    assert said in line


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("none.py", "score None is no number"),
        ("raises.py", "raises.py', line 1: Zero"),
        ("exits.py", "train called exit(0)"),
    ],
)
def test_a_training_that_fails_is_one_line(program, said, folder, capsys):
    assert code("rows.parquet", "--train", program, "--samples", "20") == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("table", ["rows.parquet", "rows.csv", "rows.jsonl"])
def test_what_was_read_is_said(table, folder):
    asked = from_table(folder / table, folder / "loop.py", "topic", 2000)
    assert asked.data == "1,000 rows, 3 skills; the last skill is the 20 rows without a label"
    assert from_table(folder / table, folder / "loop.py", None, 2000).data == "1,000 rows"

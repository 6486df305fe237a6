"""Data as people have them: equal losses, long numbers, many names, ranks from 1; and a copy of a recipe of theory."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import lopsided as lop
import lopsided.data as ld
from lopsided.cli import main
from lopsided.discovery import tables
from lopsided.report.summary import arm_summaries
from lopsided.study.checking import found_in
from lopsided.study.manifest import recorded
from lopsided.study.publishing import published
from lopsided.study.remembered import latest
from lopsided.study.targets import find, plain_arms

ROOT = Path(__file__).parents[2]


def test_equal_losses_are_in_one_part():
    assert Counter(ld.by_difficulty([1.0] * 100)) == {"part 1 of 1": 100}
    values = [0.0] * 90 + [float(i) for i in range(1, 31)]
    found = ld.by_columns({"loss": values}).names
    assert Counter(found) == {"loss: part 1 of 2": 90, "loss: part 2 of 2": 30}
    assert Counter(ld.by_difficulty(range(8))) == {f"part {i} of 4": 2 for i in (1, 2, 3, 4)}


def test_an_infinite_value_is_named_by_its_column():
    with pytest.raises(lop.InputError, match="column 'loss': an infinite value"):
        ld.by_columns({"loss": [*range(100), float("inf")]})


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_long_numbers_are_kept(tmp_path, ending):
    """400 numbers above 2^64 came out as one."""
    table, out = tmp_path / "in.jsonl", tmp_path / f"out{ending}"
    rows = [{"id": 10**21 + i, "share": i / 3, "kind": "ab"[i % 2]} for i in range(40)]
    table.write_text("\n".join(map(json.dumps, rows)))
    tables.write(tables.of_columns(table, ["kind"]), table, out)
    assert [int(value) for value in tables.column(out, "id")] == [row["id"] for row in rows]
    assert tables.column(out, "share") == [row["share"] for row in rows]


def test_large_floats_stay_floats(tmp_path):
    table, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    table.write_text("\n".join(f'{{"x": {x}, "kind": "{k}"}}' for x, k in (("1.5e20", "a"), ("2.5e21", "b"))))
    tables.write(tables.of_columns(table, ["kind"]), table, out)
    assert tables.column(out, "x") == [1.5e20, 2.5e21]
    table.write_text("\n".join(f'{{"x": {10**38 + i}, "kind": "{"ab"[i]}"}}' for i in range(2)))
    tables.write(tables.of_columns(table, ["kind"]), table, out)
    assert tables.column(out, "x") == [1e38, 1e38]  # beyond what Parquet holds


def test_a_missing_embedding_is_named_by_its_row(tmp_path):
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({"e": e}) for e in ([1.0, 2.0], [3.0, 4.0], None)))
    with pytest.raises(lop.InputError, match="row 3 is no list of numbers"):
        tables.of_table(tmp_path / "in.jsonl", None, "e", 2, 0)


def test_rows_of_another_length_are_said_to_be(tmp_path):
    (tmp_path / "in.csv").write_text("text,b\na,1\nb,2,3\n")
    with pytest.raises(lop.InputError, match="rows are of several lengths"):
        tables.column(tmp_path / "in.csv", "text")


def test_a_spec_has_no_scales(tmp_path, capsys):
    (tmp_path / "spec.json").write_text("{}")
    with pytest.raises(SystemExit) as refused:
        main(["diff", str(tmp_path / "spec.json")])
    assert refused.value.code == 2
    assert "is a spec, which has no scales" in capsys.readouterr().err


def test_names_know_what_is_among_them():
    groups = ld.Groups(["a", "b", 3, "a"])
    assert ("a" in groups.names, "c" in groups.names, 3 in groups.names) == (True, False, True)
    assert isinstance(groups.names, list)
    with pytest.raises(TypeError):
        [] in groups.names  # noqa: B015 - it is looked up by its hash, not by going through the list
    with pytest.raises(lop.InputError, match="no skill is named 'c'"):
        ld.Stream(groups, ld.Weights({"a": 1.0, "c": 1.0}), 10)


STREAM = ld.Stream(500, ld.AsIs(), 1000)


@pytest.mark.parametrize(("rank", "world"), [(2, 2), (-1, 2), (0, 0), ("0", 2), (0.5, 2)])
def test_a_rank_that_is_none_is_refused(rank, world):
    """Ranks counted from 1 read the rows of another step."""
    with pytest.raises(lop.InputError, match=r"rank|world"):
        STREAM.batch(0, 96, rank, world)
    with pytest.raises(lop.InputError, match=r"rank|world"):
        ld.BatchSampler(STREAM, 96, rank, world)


def test_whole_numbers_of_numpy_are_positions():
    assert STREAM.state(np.array(3))["position"] == STREAM.position_of(STREAM.state(np.int64(3))) == 3
    assert STREAM.batch(np.int32(1), np.array(96)).tolist() == STREAM.batch(1, 96).tolist()


def test_the_last_rank_reads_its_part():
    assert STREAM.batch(1, 96, 1, 2).tolist() == STREAM.at(range(144, 192)).tolist()


@pytest.mark.parametrize("position", [1001, -4, 2.5, "x", True, None])
def test_a_position_that_cannot_be_loaded_is_not_saved(position):
    with pytest.raises(lop.InputError, match="whole number from 0 to 1,000"):
        STREAM.state(position)
    with pytest.raises(lop.InputError, match="state: position"):
        STREAM.position_of({**STREAM.state(0), "position": position})
    assert STREAM.position_of(STREAM.state(1000)) == 1000


GROUPS = ld.Groups([0, 1] * 50)
WRONG = {
    "sources by place": lambda: ld.interleave([[1], [2]], ld.Uniform(), 10),
    "one share": lambda: ld.AutoSchedule(GROUPS, 5, 100, 10),
    "a text for a goal": lambda: ld.AutoSchedule(GROUPS, (0.5, 1), 100, 10, goal="x"),
    "a text for an accuracy": lambda: ld.SelfAnneal(GROUPS, 100, 10, goal="x"),
    "a text for a window": lambda: ld.ContrastAnneal(GROUPS, 100, 10, window="x"),
    "half a position": lambda: STREAM.visits(2.5),
    "a text for a budget": lambda: lop.advise(lambda shape, seed: 0.0, {"a": 1, "b": 2}, "a", budget="1h"),
    "no folder": lambda: lop.advise(lambda shape, seed: 0.0, {"a": 1, "b": 2}, "a", out="/no/such/folder/x.jsonl"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_an_argument_of_another_kind_is_refused_in_one_line(call):
    with pytest.raises(lop.InputError):
        call()


def test_a_remembered_recipe_of_theory_is_reported():
    """Arms of theory have no accuracy; of somebody's copy of a recipe nothing says which arms a table lists."""
    with published(ROOT / "results", ["tour"]) as stores:
        store = stores["tour"]
        run = latest(recorded(store), find("tour"))
        results = found_in(run, store).results
        plain = plain_arms("copy", run.arms, run.recipe.metric)
        listed = [row["name"] for row in arm_summaries(results, plain)]
    assert 0 < len(listed) < len(results.arms)


@pytest.mark.parametrize(
    "make",
    [
        lambda groups: ld.Packed(ld.Stream(6, ld.AsIs(), 6), [4] * 6, length=8, rank="0"),
        lambda groups: ld.Packed(ld.Stream(6, ld.AsIs(), 6), [4] * 6, length=8, world=None),
        lambda groups: ld.Interleaved({1: [1], "b": [2]}, ld.Uniform(), 10),
        lambda groups: ld.LossProportional(groups, 100, 10, power="x"),
        lambda groups: ld.GroupDRO(groups, 100, 10, rate="x"),
        lambda groups: ld.candidates(groups, "x"),
        lambda groups: ld.AutoSchedule(groups, (0.1, "x"), 100, 10),
        lambda groups: ld.samples_for("x", groups, ld.Uniform()),
    ],
)
def test_a_text_for_a_number_is_one_line(make):
    with pytest.raises(lop.InputError):
        make(ld.Groups([*"aab"] * 2, lengths=[3] * 6))


@pytest.mark.parametrize("state", [{"right": 0.0}, {"right": 0.0, "exponent": "x"}])
def test_a_state_that_lacks_something_changes_nothing(state):
    law = ld.SelfAnneal(ld.Groups([*"aab"] * 2), total=100, batch=10)
    before = law.state_dict()
    with pytest.raises(lop.InputError):
        law.load_state_dict({**before, "exponent": None, **state} if "exponent" not in state else {**before, **state})
    assert law.state_dict() == before


def test_one_skill_has_no_laws_to_race():
    assert not any("power law" in name for name in ld.candidates(ld.Groups(["a"] * 50), 1000))


def test_books_are_packed_as_first_fit_says():
    tokens = [20, 3, 17, 5, 8, 1]
    packed = ld.Packed(ld.Stream(6, ld.AsIs(), 6), tokens, length=8, window=6)
    pieces = [[(p.example, p.start, p.stop) for p in step[0].pieces] for step in packed]
    room, expected = [], []
    for example in ld.Stream(6, ld.AsIs(), 6).at(np.arange(6)).tolist():
        for start in range(0, tokens[example], 8):
            stop = min(start + 8, tokens[example])
            i = next((i for i, left in enumerate(room) if left >= stop - start), len(room))
            if i == len(room):
                room.append(8)
                expected.append([])
            expected[i].append((example, start, stop))
            room[i] -= stop - start
    assert pieces == expected


def test_no_positions_have_no_keys():
    assert ld.Stream(6, ld.AsIs(), 6).keys([]).shape == (0,)

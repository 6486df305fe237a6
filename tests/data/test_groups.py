"""Labels in whatever people keep them in, and the table of which cell uses which skill."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided.data as ld
from lopsided.core.errors import InputError
from lopsided.data.uses import Uses


def test_labels_may_be_texts_and_unknown():
    groups = ld.Groups(["b", "a", "b", "c"])
    assert groups.names == ["a", "b", "c"]
    assert groups.size.tolist() == [1, 2, 1]
    assert groups.cell.tolist() == [1, 0, 1, 2]
    unknown = ld.Groups(np.array([3, -1, 7, -1]))
    assert unknown.names == [3, 7, "unknown"]
    assert unknown.size.tolist() == [1, 1, 2]
    assert ld.Groups([[1, 2], [], [2]]).names == [1, 2, "unknown"]


def columns():
    """The same labels b, a, none, b in whatever people keep them in."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    texts = ["b", "a", None, "b"]
    yield texts
    yield [["b"], ["a"], [], ["b"]]
    yield [{"b"}, {"a"}, set(), {"b"}]
    yield [["b", None], ["a"], [None], ["b"]]
    yield np.array(texts, object)
    series = pandas.Series(texts)
    yield from (series, series.values, series.astype("category"), series.astype("string"))
    yield from (pyarrow.array(texts), pyarrow.chunked_array([texts[:2], texts[2:]]))


def test_labels_come_in_columns_of_all_kinds():
    for column in columns():
        groups = ld.Groups(column)
        assert groups.names == ["a", "b", "unknown"], type(column)
        assert groups.cell[[0, 1, 3]].tolist() == [1, 0, 1]
        assert groups.size.tolist() == [1, 2, 1]
    pandas = pytest.importorskip("pandas")
    floats = np.array([1.0, -1.0, 2.0, 1.0]), pandas.Series([1, 2, None, -1, 1]), [1, 2.0, np.nan, 1]
    for numbers in (*floats, pandas.Series([1, 2, None, 1], dtype="Int64"), [np.array(1), 2, None, 1]):
        groups = ld.Groups(numbers)
        assert groups.names == [1, 2, "unknown"], numbers
        assert groups.size[:2].tolist() == [2, 1]
    assert ld.Groups([[1], [-1], [2]], unknown=np.int64(-1)).names == [1, 2, "unknown"]
    assert ld.Groups(["1", 1, "a"]).names == [1, "1", "a"]  # a number is not its text


def test_labels_are_told_apart_by_their_last_character_too():
    """NumPy forgets NULs at the end of a text: "cat" and "cat\\0" were one skill."""
    groups = ld.Groups(["cat", "cat\0", "cat\0\0", "dog"] * 50)
    assert groups.names == ["cat", "cat\0", "cat\0\0", "dog"]
    assert groups.size.tolist() == [50] * 4
    assert (groups.cell[:4] == [0, 1, 2, 3]).all()
    pandas = pytest.importorskip("pandas")
    for column in (pandas.Series(["cat", "cat\0", "dog"]), pandas.Series(["cat", "cat\0", "dog"], dtype="category")):
        assert ld.Groups(column).names == ["cat", "cat\0", "dog"]
    with pytest.raises(InputError, match="are bytes"):
        ld.Groups([b"cat", b"cat\0"])


def test_one_long_label_among_many_takes_its_own_memory():
    """As an array of NumPy's texts these would take 40 GB."""
    labels = ["a", "b"] * 50_000
    labels[7] = "x" * 100_000
    groups = ld.Groups(labels)
    assert groups.size.tolist() == [50_000, 49_999, 1]


def test_what_is_masked_has_no_label():
    groups = ld.Groups(np.ma.masked_array([1, 2, 3, 2], mask=[0, 1, 0, 0]))
    assert groups.names == [1, 2, 3, "unknown"]
    assert groups.size.tolist() == [1, 1, 1, 1]


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=12))
def test_a_table_of_uses_computes_what_a_dense_one_does(sets):
    dense = np.zeros((len(sets), 6))
    for cell, many in enumerate(sets):
        np.add.at(dense[cell], many, 1.0)
    uses, of_cells, of_skills = Uses(sets, 6), np.arange(1.0, len(sets) + 1), np.arange(6.0) - 2
    np.testing.assert_allclose(uses.of_skills(of_skills), dense @ of_skills)
    np.testing.assert_allclose(uses.of_cells(of_cells), of_cells @ dense)
    assert (uses.examples(np.arange(len(sets))) == (dense > 0).T @ np.arange(len(sets))).all()
    assert uses.most == dense.sum(1).max()
    assert uses.largest(of_cells).tolist() == [of_cells[dense[:, k] > 0].max(initial=0) for k in range(6)]

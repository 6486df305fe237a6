"""Settings by path: a table of numbers is one of them."""

from hypothesis import given
from hypothesis import strategies as st

import lopsided as lop
from lopsided.core.flat import flat

TABLE = [[(i + j) % 5 for j in range(5)] for i in range(5)]


def test_leaves_have_dotted_paths():
    assert flat({"optimizer": {"lr": 0.1}, "groups": [1]}) == {"optimizer.lr": 0.1, "groups.0": 1}


def test_a_table_is_one_setting_and_another_table_is_another():
    found = flat({"task": {"group": TABLE}})
    assert list(found) == ["task.group"]
    assert found["task.group"].startswith("5 x 5 table ")
    assert found != flat({"task": {"group": TABLE[::-1]}})
    assert found == flat({"task": {"group": [list(row) for row in TABLE]}})


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=1, max_size=8))
def test_few_pairs_keep_a_path_for_each_number(pairs):
    assert len(flat({"phases": pairs})) == 2 * len(pairs)


def test_arms_that_differ_in_their_group_have_short_names(tmp_path):
    spec = lop.Spec.parse(
        {
            "task": {"name": "state-tracking", "group": "Z5", "hops": 2},
            "skills": {"name": "uniform"},
            "model": {"name": "transformer", "layers": 1, "width": 8, "heads": 2},
            "plan": {"name": "online", "batch": 4},
            "optimizer": {"name": "adamw", "lr": 0.01},
            "loss": "cross-entropy",
            "steps": 2,
            "evaluation": {"every": 1, "samples": 8},
        }
    )
    other = spec.replace({"task.group": TABLE})
    lop.run({"by name": spec, "by table": other}, seeds=1, out=tmp_path)
    loaded = lop.load(tmp_path, recipe="members of no recipe")
    assert all(len(arm.name) < 60 for arm in loaded.arms.values())
    assert any("5 x 5 table" in arm.name for arm in loaded.arms.values())

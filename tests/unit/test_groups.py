import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lopsided.core.errors import InputError
from lopsided.tasks._groups import from_table, named
from lopsided.tasks.state_tracking import StateTracking

ORDERS = {
    "S3": 6,
    "S4": 24,
    "S5": 120,
    "A4": 12,
    "A5": 60,
    "Z1000": 1000,
    "D4": 8,
    "D7": 14,
    "S3xZ2": 12,
    "Z2xZ2xZ2": 8,
}


@pytest.mark.parametrize(("name", "order"), ORDERS.items())
def test_named_groups_are_groups_of_that_order(name, order):
    group = named(name)
    assert group.order == order
    if order <= 200:
        again = from_table(tuple(map(tuple, group.table.tolist())))
        assert again.identity == group.identity


def test_rightmost_is_applied_first():
    group = named("S3")
    for a, b in itertools.product(range(6), repeat=2):
        p, q = group.points[a], group.points[b]
        assert group.points[group.table[a, b]].tolist() == [p[q[x]] for x in range(3)]


def test_abelian_or_not():
    for name, abelian in {"Z6": True, "S3": False, "D4": False, "Z2xZ3": True}.items():
        table = named(name).table
        assert (table == table.T).all() == abelian


@pytest.mark.parametrize("name", ["S1", "S8", "Q8", "A2", "D2", "Z1", "", "S3x", "S7xZ2", "s3", "S3*Z2"])
def test_unknown_groups_are_refused(name):
    with pytest.raises(InputError, match="group"):
        StateTracking(group=name)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (((0, 1), (0, 1)), "identity"),
        (((0, 1, 2), (1, 1, 1), (2, 1, 0)), "inverse"),
        (((0, 1), (1, 2)), "element numbers"),
        (((0, 1, 2), (1, 2, 0)), "square"),
        # A Latin square with identity that is not associative (a loop of order 5).
        (((0, 1, 2, 3, 4), (1, 0, 3, 4, 2), (2, 4, 0, 1, 3), (3, 2, 4, 0, 1), (4, 3, 1, 2, 0)), "differs from"),
    ],
)
def test_a_table_that_is_no_group_is_refused_with_the_reason(table, why):
    with pytest.raises(InputError, match=why):
        StateTracking(group=table)


def test_digits_need_permutations():
    with pytest.raises(InputError, match="digits"):
        StateTracking(group=((0, 1), (1, 0)), encoding="digits")


@given(st.permutations(range(8)))
def test_a_relabelled_group_is_a_group(labels):
    table, place = named("D4").table, np.argsort(labels)
    relabelled = np.array(labels)[table[place][:, place]]
    assert from_table(tuple(map(tuple, relabelled.tolist()))).identity == labels[named("D4").identity]

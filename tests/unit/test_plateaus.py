"""Plateaus: the losses of a network that knows a task up to a quotient, and time spent near them."""

import itertools

import numpy as np
import pytest

from lopsided.core.spec import Spec
from lopsided.stats.plateaus import plateau_length, rest_length
from lopsided.stats.slopes import difference, of_points
from lopsided.tasks._groups import named
from lopsided.tasks.state_tracking import StateTracking


@pytest.mark.parametrize(
    ("name", "orders"),
    [
        ("S3", [1, 3, 6]),
        ("S4", [1, 4, 12, 24]),
        ("A5", [1, 60]),
        ("S5", [1, 60, 120]),
        ("D4", [1, 2, 4, 4, 4, 8]),
        ("Z6", [1, 2, 3, 6]),
    ],
)
def test_normal_subgroups_of_known_groups(name, orders):
    assert sorted(map(len, named(name).normal_subgroups())) == orders


@pytest.mark.parametrize("name", ["S3", "A4", "D5", "S3xZ2"])
def test_normal_subgroups_are_closed_under_products_and_conjugation(name):
    group = named(name)
    inverse = np.argsort(group.table, axis=1)[:, group.identity]
    for subgroup in group.normal_subgroups():
        for a, b in itertools.product(subgroup, repeat=2):
            assert group.table[a, b] in subgroup
        for g, a in itertools.product(range(group.order), subgroup):
            assert group.table[group.table[g, a], inverse[g]] in subgroup


def test_plateaus_of_a_group():
    logs = np.log
    assert StateTracking(group="S4", hops=3).plateaus == pytest.approx((logs(24), logs(12), logs(4)))
    assert StateTracking(group="A5", hops=3).plateaus == pytest.approx((logs(60),))
    # In digits, neither the sign nor the place of one digit alone says more than chance.
    assert StateTracking(group="S5", hops=2, encoding="digits").plateaus == pytest.approx((logs(5),))
    assert StateTracking(group="S3xZ2", hops=2, encoding="digits").plateaus == pytest.approx(
        ((3 * logs(3) + 2 * logs(2)) / 5, 3 / 5 * logs(3), 2 / 5 * logs(2))
    )


def test_plateau_length_counts_stretches_near_a_level():
    steps = np.array([10, 20, 40, 80])
    loss = np.array([[3.0, 2.9, 1.5, 0.1], [3.0, 3.1, 3.0, 2.95], [np.nan, np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(plateau_length(steps, loss, [3.0, 1.5]), [0, 70, 0])


def test_a_loss_that_passes_a_level_rests_on_no_plateau():
    """Both are within 5 % of 3 for at least a tenth of the run; one is only passing through."""
    steps = np.arange(1, 101)
    passing, resting = np.linspace(3.4, 1.4, 100), np.where(steps < 40, 3.0, 1.0)
    np.testing.assert_array_equal(plateau_length(steps, np.stack([passing, resting]), [3.0]), [0, 26])
    assert (np.abs(passing - 3.0) < 0.15).sum() > 10


def test_difference_of_two_laws_of_the_same_members():
    """Noise that both settings share cancels."""
    rng = np.random.default_rng(0)
    d, shared = np.array([8.0, 16, 32, 64]), rng.normal(0, 0.5, (12, 4))
    steep, flat = (of_points(d, d**power * np.exp(shared)) for power in (2.0, 0.5))
    found = difference(steep, flat)
    assert found.slope == pytest.approx(1.5)
    assert found.high - found.low < 1e-6 < 0.1 * (steep.high - steep.low)


def flow(**plan):
    return Spec.parse(
        {
            "task": {"name": "k-composition", "d": 6, "k": 2},
            "model": {"name": "product", "r": 0.5},
            "plan": {"name": "population", "dynamics": "flow", **plan},
            "optimizer": {"name": "sgd", "lr": 1.0},
            "loss": "square",
            "steps": 400,
            "evaluation": {"every": 5},
            "probes": [{"name": "skill-error"}],
        }
    )


def test_a_settled_flow_stands_still_and_was_not_changed_before():
    from lopsided.core.engine import Member
    from tests.engines import engine

    assert "settled" not in flow().canonical_json()
    runs = [
        np.array([c.metrics["test/loss"][0] for c in engine([Member(flow(**plan), 3)]).run()])
        for plan in ({}, {"settled": 1e-6})
    ]
    early = runs[0] > 1e-5
    assert early.sum() >= 2
    np.testing.assert_allclose(runs[1][early], runs[0][early], rtol=1e-3)
    assert runs[0][-1] < 1e-12
    assert 1e-8 < runs[1][-1] < 1e-6


def test_a_loss_without_known_levels_rests_where_it_stays_flat_and_is_not_yet_learned():
    """A third of the run at half of the first loss, between two falls; and one at a twentieth, which is learned."""
    steps = np.arange(1, 91)
    falls = [np.geomspace(2.0, 1.0, 30), np.full(30, 1.0), np.geomspace(1.0, 0.02, 30)]
    learned = [np.geomspace(2.0, 0.1, 30), np.full(60, 0.1)]
    rests = rest_length(steps, np.stack([np.concatenate(falls), np.concatenate(learned)]))
    assert 15 <= rests[0] <= 30
    assert rests[1] == 0

"""Many claims at once."""

from dataclasses import replace

import pytest

from lopsided.stats.families import holm, q_values, shared
from lopsided.stats.verdict import Claim

PLAIN = Claim(
    recipe="r", claim="c", scale="laptop", kind="ahead", source="paper", paper="12 times", estimand="ratio of",
    unit="steps", effect=2.0, interval=(1.5, 3.0), verdict="holds", members=16, p_value=0.01,
)  # fmt: skip


def test_holm_counts_the_claims_that_cite_a_paper():
    claims = [replace(PLAIN, p_value=p) for p in (0.01, 0.04, 0.02)]
    ours, untested = replace(PLAIN, source="own", p_value=1e-9), replace(PLAIN, p_value=None)
    assert holm([*claims, ours, untested]) == [
        pytest.approx(0.03),
        pytest.approx(0.04),
        pytest.approx(0.04),
        None,
        None,
    ]


def test_q_values_rise_with_p_values_and_leave_out_what_has_none():
    found = q_values([replace(PLAIN, p_value=p) for p in (0.01, None, 0.5, 0.02)])
    assert found == [pytest.approx(0.03), None, pytest.approx(0.5), pytest.approx(0.03)]
    assert q_values([]) == []


def test_one_comparison_of_two_recipes_counts_once():
    other = replace(PLAIN, recipe="s", claim="the same in other words")
    unknown = replace(PLAIN, effect=None, interval=(None, None))
    assert [len(group) for group in shared([PLAIN, other, replace(PLAIN, effect=3.0), unknown, unknown])] == [
        2,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("number", "verdict", "interval", "said"),
    [
        (2.5, "holds", (1.5, 3.0), "fully"),
        (12.0, "holds", (1.5, 3.0), "in direction"),
        (12.0, "holds", (1.5, None), "fully"),
        (2.5, "contradicted", (0.5, 0.9), "not"),
        (2.5, "inconclusive", (0.5, 3.0), ""),
        (None, "holds", (1.5, 3.0), ""),
    ],
)
def test_replication_is_computed_from_the_papers_number(number, verdict, interval, said):
    claim = replace(PLAIN, number=number, verdict=verdict, interval=interval)
    assert claim.replicates == said
    assert claim.as_json()["replicates"] == said
    assert Claim.of_json(claim.as_json()) == claim

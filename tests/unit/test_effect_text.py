"""What is said of an effect: its size, a bound where one end is open, and what is known where it has no size."""

import pytest

from lopsided.report.words import effect_text
from lopsided.stats.verdict import Claim


@pytest.mark.parametrize(
    ("effect", "interval", "said"),
    [
        (1.5, (1.2, 1.9), "1.5 [1.2, 1.9] ratio of steps"),
        (1.5, (1.2, None), "≥ 1.5 [1.2, ∞] ratio of steps"),
        (0.5, (0.0, 0.9), "≤ 0.5 [0, 0.9] ratio of steps"),
        (None, (1.2, None), "unknown, above 1.2: too few members learned (ratio of steps)"),
        (None, (0.0, 0.9), "unknown, below 0.9: too few members learned (ratio of steps)"),
        (None, (0.0, None), "unknown: too few members learned (ratio of steps)"),
    ],
)
def test_an_effect_is_said_as_far_as_it_is_known(effect, interval, said):
    claim = Claim(
        recipe="a", claim="b", scale="laptop", kind="ahead", source="own", paper="", estimand="ratio of", unit="steps",
        effect=effect, interval=interval, verdict="holds", ratio=True,
    )  # fmt: skip
    assert effect_text(claim) == said

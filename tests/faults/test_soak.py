"""A short soak and a few random commands; `python -m tests.faults.soak 30` and `python -m tests.faults.fuzz 10000` are
the long ones."""

import os

import pytest

from tests.faults.fuzz import attack, small_store
from tests.faults.soak import soak, work

pytestmark = pytest.mark.slow

COMMANDS = int(os.environ.get("LOPSIDED_FUZZ", "100"))


def test_rows_after_an_attack_are_those_of_an_unbroken_run(tmp_path):
    counts = soak(tmp_path, 0.15, 3, work(3, 2_000), damage_every=3.0)
    assert counts["failed"] == 0
    assert counts["rows"] > 100


def test_random_commands_end_in_one_line(tmp_path):
    assert attack(COMMANDS, 0, small_store(tmp_path / "store")) == []

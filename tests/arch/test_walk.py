"""The walk from a command to its verdict, as `docs/architecture.md` lists it."""

import importlib
import inspect
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/architecture.md").read_text(encoding="utf-8")
TABLE = PAGE[PAGE.index("## One value's way") : PAGE.index("**Claims are data.**")]
ROWS = [line.split("|")[2] for line in TABLE.splitlines() if line.startswith("| ")][1:]
WALK = re.findall(r"`([\w.]+)`", " ".join(ROWS))
MOST = 30


def found(name):
    """What a dotted name below `lopsided` is."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            there = importlib.import_module(".".join(["lopsided", *parts[:i]]))
        except ModuleNotFoundError:
            continue
        for part in parts[i:]:
            there = getattr(there, part)
        return there
    raise AssertionError(name)


def test_it_is_of_at_most_thirty_functions():
    assert 25 <= len(set(WALK)) == len(WALK) <= MOST


def test_all_of_them_are_there():
    assert [name for name in WALK if not inspect.isroutine(inspect.unwrap(found(name)))] == []

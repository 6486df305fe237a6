"""What rows say of how they were made."""

import sys
from importlib.machinery import ModuleSpec

import pytest

from lopsided.core.provenance import command


@pytest.mark.parametrize(
    ("module", "program"),
    [
        (None, "lopsided"),  # a script of an installed package
        ("lopsided.cli.__main__", "python -m lopsided.cli"),
        ("mine.sweep", "python -m mine.sweep"),
    ],
)
def test_the_command_is_what_one_would_type(module, program, monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", module and ModuleSpec(module, None))
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/lopsided", "run", "adam", "--set", "steps=[1, 2]"])
    assert command() == f"{program} run adam --set 'steps=[1, 2]'"

"""What rows say of how they were made."""

import sys
from importlib.machinery import ModuleSpec

import pytest

from lopsided.core.provenance import command


@pytest.fixture
def started(monkeypatch):
    def start(module, *argv):
        monkeypatch.setattr(sys.modules["__main__"], "__spec__", module and ModuleSpec(module, None))
        monkeypatch.setattr(sys, "argv", list(argv))

    return start


@pytest.mark.parametrize(
    ("module", "program"),
    [(None, "lopsided"), ("lopsided.cli.__main__", "python -m lopsided.cli")],  # a script of an installed package
)
def test_the_command_is_what_one_would_type(module, program, started):
    started(module, "/somewhere/bin/lopsided", "run", "adam", "--set", "steps=[1, 2]")
    assert command() == f"{program} run adam --set 'steps=[1, 2]'"


@pytest.mark.parametrize(("module", "program"), [(None, "train.py"), ("mine.sweep", "python -m mine.sweep")])
def test_arguments_of_other_programs_are_not_kept(module, program, started):
    """They may be keys and passwords, and rows are shared."""
    started(module, "/home/me/train.py", "--key", "sk-secret", "postgres://me:password@host/db")
    assert command() == program


def test_folders_do_not_tell_who_somebody_is(started):
    started(None, "lopsided", "run", "/home/me/mine.py", "--out", "/home/me/rows", "--out=/home/me/rows", "here/rows")
    assert command() == "lopsided run mine.py --out rows --out=rows here/rows"

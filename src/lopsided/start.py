"""Where the command `lopsided` begins. It needs the laboratory, which `pip install lopsided` alone does not bring."""

from __future__ import annotations

import sys


def main() -> None:
    """`lopsided.cli.main`, or one line and exit code 2 where the laboratory is not installed."""
    try:
        from lopsided.cli import main as run
    except ModuleNotFoundError as error:
        if str(error.name).startswith("lopsided"):
            raise
        print(f"lopsided: the command line needs {error.name}: pip install 'lopsided[lab]'", file=sys.stderr)
        sys.exit(2)
    run()

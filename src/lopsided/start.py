"""Where the command `lopsided` begins. It needs the laboratory, which `pip install lopsided` alone does not bring."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from lopsided.core.installing import install


def main() -> None:
    """`lopsided.cli.main`. Without the laboratory: the version, what is installed, or one line and exit code 2."""
    try:
        from lopsided.cli import main as run
    except ModuleNotFoundError as error:
        if str(error.name).startswith("lopsided"):
            raise
        _without_laboratory(str(error.name))
        return
    run()


def _without_laboratory(missing: str) -> None:
    """`--version` and `doctor` need nothing more."""
    asked = sys.argv[1:]
    if asked == ["--version"]:
        print(metadata.version("lopsided"))
        return
    if asked == ["doctor"]:
        for name in ("lopsided", "numpy", "scipy"):
            print(f"{name} {metadata.version(name)}")
        print(f"Python {platform.python_version()}")
        print(f"lopsided.data and lopsided.compare work. Recipes and the command line need {missing}: {install('lab')}")
        return
    print(f"lopsided: the command line needs {missing}: {install('lab')}", file=sys.stderr)
    sys.exit(2)

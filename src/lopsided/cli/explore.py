"""`lopsided explore`: look at a folder of runs in a browser."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from lopsided.cli.options import OUT
from lopsided.core.errors import InputError
from lopsided.core.installing import install


def explore(directory: Path = OUT, /, *, port: int = 0) -> None:
    """Show a folder of runs as a page in the browser: claims, curves, what is running, and a form to try things.

    The page is served on this machine only, under an address with a random word in it. Ctrl-C ends it.

    Parameters
    ----------
    directory
        Folder of the store. Other processes may go on working in it.
    port
        Port of the page; any that is free if left out.
    """
    try:
        from lopsided.explore.server import Explorer
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("dash", "flask", "werkzeug"):
            raise
        raise InputError(f"explore: needs {error.name}: {install('explore')}") from None
    from lopsided.store.parts import Store

    if not (directory / "parts").is_dir():
        raise InputError(
            f"folder {str(directory)!r}: no store there; `lopsided run RECIPE --out {directory}` makes one"
        )
    Store(directory).require_readable()
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: between 0 and 65535")
    page = Explorer(directory, port)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # both end it the same way
    print(f"The page is at {page.address} (Ctrl-C ends it)", flush=True)
    try:
        page.serve()
    finally:
        page.close()
        print("lopsided: the page has ended", file=sys.stderr)

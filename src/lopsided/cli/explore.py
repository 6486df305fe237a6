"""`lopsided explore`: look at a folder of runs in a browser."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lopsided.cli.options import OUT, Out, chosen, no_store
from lopsided.core.errors import InputError
from lopsided.core.installing import install

if TYPE_CHECKING:
    from lopsided.explore.logs import Source


def explore(
    directory: Path | None = None,
    /,
    *,
    out: Out = OUT,
    port: int = 0,
    arm_from: str | None = None,
    seed_from: str | None = None,
    task_from: str | None = None,
    pattern: str | None = None,
) -> None:
    """Show a folder of runs as a page in the browser: claims, curves, what is running, and a form to try things.

    A folder of logs, of whatever loop, is shown as `lopsided compare` judges it.

    The page is served on this machine only, under an address with a random word in it. Ctrl-C ends it.

    Parameters
    ----------
    directory
        Folder of the store, as --out, or of logs. Other processes may go on working in it.
    port
        Port of the page; any that is free if left out.
    arm_from
        For logs: where the arm is said, as in `lopsided compare`.
    seed_from
        For logs: where the seed is said.
    task_from
        For logs: where a task is said.
    pattern
        For logs in text: a regular expression with named groups.
    """
    directory = chosen(directory, out)
    try:
        from lopsided.explore.logs import LogsPage
        from lopsided.explore.server import Explorer
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("dash", "flask", "werkzeug"):
            raise
        raise InputError(f"explore: needs {error.name}: {install('explore')}") from None
    from lopsided.store.parts import Store

    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: between 0 and 65535")
    page: Any
    if (directory / "parts").is_dir():
        Store(directory).require_readable()
        page = Explorer(directory, port)
    else:
        page = LogsPage(_logs(directory, arm_from, seed_from, task_from, pattern), port)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # both end it the same way
    print(f"The page is at {page.address} (Ctrl-C ends it)", flush=True)
    try:
        page.serve()
    finally:
        page.close()
        print("lopsided: the page has ended", file=sys.stderr)


def _logs(
    directory: Path, arm_from: str | None, seed_from: str | None, task_from: str | None, pattern: str | None
) -> Source:
    """What the page asks of logs. Raises `InputError` for a folder that holds neither a store nor logs."""
    from lopsided.api.judged import Question, judged
    from lopsided.api.reading import read
    from lopsided.explore.logs import Source

    if not directory.exists():
        raise no_store(directory)
    arm: Any = (lambda path, config: path.parent.name) if arm_from == "path" else arm_from
    try:
        runs = read(directory, arm, seed_from, task=task_from, pattern=pattern)
    except InputError as error:
        raise InputError(f"{no_store(directory)}; and {error}") from None
    return Source(
        str(directory),
        runs,
        lambda metric, at, axis, baseline: judged(runs, Question(metric, at, axis, baseline, rank=True)),
    )

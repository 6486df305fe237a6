"""The command line. Few flags, frozen by a test: a setting belongs in a spec.

Heavy imports (JAX, SciPy, plotting) happen inside the commands, so that `lopsided --help` is instant.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from lopsided.cli.advise import advise
from lopsided.cli.check import check, diff
from lopsided.cli.compare import compare
from lopsided.cli.cost import cost
from lopsided.cli.explore import explore
from lopsided.cli.forecast import forecast
from lopsided.cli.new import new
from lopsided.cli.options import OUT, Json, Out, chosen, existing, require_values
from lopsided.cli.paper import export, paper
from lopsided.cli.run import run
from lopsided.cli.sample import sample
from lopsided.cli.skills import skills
from lopsided.cli.worker import worker
from lopsided.core.errors import InputError, unknown
from lopsided.core.telling import tell
from lopsided.report.as_json import only_json, print_json
from lopsided.report.exits import exits

TRACEBACK = "--traceback"
MANY_PARTS = 5_000
"""Above it a query says why it is slow: 10,000 parts of one member take 3 s, half of them to open files."""
app = App(
    name="lopsided",
    help="How lopsided should training data be? Recipes that reproduce findings and say whether they hold.",
    help_epilogue=f"With any command, `{TRACEBACK}` shows the whole traceback of an error in your own code.",
    version=lambda: metadata.version("lopsided"),
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # it would end without a word; `exits` says what is kept
)
app.command(run)
app.command(sample)
app.command(check)
app.command(diff)
app.command(paper)
app.command(export)
app.command(cost)
app.command(compare)
app.command(forecast)
app.command(skills)
app.command(advise)
app.command(explore)
app.command(worker)
app.command(new)


@app.command(name="list")
def list_(*names: str, as_json: Json = False) -> None:
    """List the recipes: question, number of claims, time at laptop scale.

    Parameters
    ----------
    names
        Recipes to show in full.
    """
    from lopsided.study.catalog import catalog

    rows = catalog(names)
    if as_json:
        print_json({"recipes": rows})
        return
    from lopsided.report.terminal import recipe_page, recipe_table

    if not names:
        recipe_table(rows)
    for row in rows if names else ():
        recipe_page(row)


@app.command
def report(
    directory: Path | None = None,
    /,
    *,
    out: Out = OUT,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Write one HTML report of every run in a folder, from stored rows.

    Parameters
    ----------
    directory
        Folder of the store, as --out.
    output
        File to write; DIRECTORY/reports/report.html if left out.
    """
    directory = chosen(directory, out)
    from lopsided.report.page_file import require_page
    from lopsided.study.checking import found_in, interim
    from lopsided.study.manifest import recorded as manifests
    from lopsided.study.manifest import titles
    from lopsided.study.others import OTHERS, WHOSE, members, members_of
    from lopsided.study.remembered import recorded, unreadable
    from lopsided.study.reports import write_report

    store = existing(directory)
    page = output or directory / "reports" / "report.html"
    if output is not None:
        require_page(page, directory)
    store.require_readable()
    known = manifests(store)
    if page.absolute().parent in [store.root.absolute() / "reports" / each.label for each in known]:
        raise InputError(f"--output {str(page)!r}: lies where a run has its own page, with its claims; name another")
    for title, why in unreadable(known).items():
        tell(f"{title}: left out ({why}); `lopsided run FILE.py` writes the report of a file's own recipe")
    runs = [found_in(asked, store) for asked in recorded(store, known)]
    runs = [found if found.shown is not None else interim(found.run, store) or found for found in runs]
    if not any(found.shown is not None for found in runs):
        unread = sorted({m.recipe for m in known} - {found.run.recipe.name for found in runs})
        own = f" (`lopsided run FILE.py` writes the report of a recipe file: {', '.join(unread)})" if unread else ""
        begun = sorted({found.run.title for found in runs})
        open_ = f"; not finished: {', '.join(begun)} (the same command goes on)" if begun else ""
        raise InputError(
            f"directory = {str(directory)!r}: holds no finished run of a recipe that can be read here{own}{open_}; "
            "`lopsided explore` shows what there is"
        )
    for found in runs:
        if found.shown is None:
            tell(f"{found.run.title}: left out (no evaluation of it is committed yet; the same command goes on)")
    print(write_report(store, runs, page, titles(known)))
    if others := members(store, members_of(store, known)).get(OTHERS):
        tell(f"{len(others)} {WHOSE} are not on the page; lop.load(FOLDER, recipe={OTHERS!r}) has them")


@app.command
def query(sql: str, directory: Path | None = None, /, *, out: Out = OUT, as_json: Json = False) -> None:
    """Ask the store in SQL: `rows` (spec, seed, step, samples, …, metric, value), `members` and `arms`.

    Parameters
    ----------
    sql
        One SELECT. A median of a run's last accuracies: "SELECT arm, median(last) FROM (SELECT arm, spec, seed,
        coalesce(last(value ORDER BY step), 0) AS last FROM rows JOIN arms USING (spec) WHERE run = 'tour-laptop' AND
        seed < seeds AND metric = 'test/accuracy' GROUP BY ALL) GROUP BY arm".
    directory
        Folder of the store, as --out.
    """
    from lopsided.store.limits import address_space
    from lopsided.store.tables import MOST_SPACE
    from lopsided.store.tables import query as ask
    from lopsided.study.manifest import recorded
    from lopsided.study.others import arm_rows

    store = existing(chosen(directory, out))
    store.require_readable()
    manifests = recorded(store)
    arms = [row for found in manifests for row in found.rows(store)] + arm_rows(store, manifests)
    if (parts := len(store.parts())) > MANY_PARTS:
        tell(f"{parts:,} parts, each a file to open; `lopsided compact` merges those of finished jobs")
    try:
        with address_space(MOST_SPACE):
            answer = ask(store, arms, sql)
    except MemoryError:
        raise InputError("query: takes too much memory") from None
    if as_json:
        print_json({"columns": answer.columns, "rows": answer.rows, "more": answer.more})
        return
    from lopsided.report.terminal import query_table

    query_table(answer.columns, answer.rows)
    if answer.more:
        print(f"lopsided: only the first {len(answer.rows):,} rows are shown", file=sys.stderr)


@app.command
def status(
    directory: Path | None = None,
    /,
    *,
    out: Out = OUT,
    times: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> None:
    """Show what is done, running, stale and failed in a folder, and the time left.

    Parameters
    ----------
    directory
        Folder of the store, as --out.
    times
        Show instead where the time of each run went (compilation, steps, evaluations, waiting for commits, the rest),
        and how fast it computed.
    """
    directory = chosen(directory, out)
    from lopsided.store import status as of
    from lopsided.study.manifest import called, recorded
    from lopsided.study.others import members, members_of

    store = existing(directory)
    manifests = recorded(store)
    runs = members_of(store, manifests)
    runs |= members(store, runs)
    titles, changes = called(runs, manifests)
    if times:
        spent = of.times(store, runs)
        if as_json:
            print_json({"runs": spent})
            return
        from lopsided.price.peak import best
        from lopsided.report.folder_tables import times_table

        times_table(spent, of.TIMES, [best(each["place"]) for each in spent], titles)
        return
    found = of.folder_status(store, runs)
    if as_json:
        print_json({**found, "runs": [{**row, "changes": changes[row["run"]]} for row in found["runs"]]})
        return
    from lopsided.report.folder_tables import status_tables

    status_tables(found, titles)


@app.command
def compact(directory: Path | None = None, /, *, out: Out = OUT, as_json: Json = False) -> None:
    """Merge the many small parts of finished jobs into few, so that a large folder stays quick to read.

    Parameters
    ----------
    directory
        Folder of the store, as --out. Other processes may go on working in it.
    """
    directory = chosen(directory, out)
    from lopsided.store.compact import compact as merge
    from lopsided.store.parts import Store

    existing(directory)
    done = merge(Store(directory))
    if as_json:
        print_json({"parts_before": done.before, "parts_after": done.after})
        return
    parts = f"{done.before:,} part" + ("" if done.before == 1 else "s")
    print(f"{parts} before, {done.after:,} now" if done.after != done.before else f"{parts}; nothing to merge")


@app.command
def doctor() -> None:
    """Check that this machine can run lopsided, and say how it will be used."""
    from lopsided.core.provenance import machine
    from lopsided.engines import devices
    from lopsided.price.peak import peaks, remember
    from lopsided.report.terminal import doctor_table
    from lopsided.store.status import place_of

    devices.setup(1 << 20)
    import jax

    measured = peaks()
    remember(measured, place_of(machine(), jax.devices()[0].device_kind))
    doctor_table(measured)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: user mistakes become one line and exit code 2."""
    # Tracing makes many objects that stay. Looking through them took 7 to 8 % of a warm start; jobs free their arrays
    # without the collector (a test).
    gc.set_threshold(50_000, 20, 50)
    words = sys.argv[1:] if arguments is None else list(arguments)
    with exits(whole=TRACEBACK in words):
        if words[:1] != ["advise"]:  # which shows also the errors that it goes on after
            words = [word for word in words if word != TRACEBACK]
        words = ["--help", *words[1:]] if words[:1] == ["help"] else words
        _require_command(words)
        require_values(words)
        try:
            with only_json() if "--json" in words else nullcontext():
                app(words, exit_on_error=False, print_error=False)
        finally:  # a command may end in sys.exit
            sys.stdout.flush()
            if "--json" in words and arguments is None:
                os.dup2(2, 1)  # what a user's program prints as the process ends is no JSON


def _require_command(arguments: list[str]) -> None:
    """The first word is a command, or an option of its own."""
    known = list(app)
    if arguments and arguments[0] not in known:
        what = "option" if arguments[0].startswith("-") else "command"
        raise unknown(what, arguments[0], [name for name in known if name.startswith("-") == (what == "option")])

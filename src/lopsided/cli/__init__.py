"""The command line. Few flags, frozen by a test: a setting belongs in a spec.

Heavy imports (JAX, SciPy, plotting) happen inside the commands, so that `lopsided --help` is instant.
"""

from __future__ import annotations

import gc
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from lopsided.cli.advise import advise
from lopsided.cli.cost import cost
from lopsided.cli.explore import explore
from lopsided.cli.options import OUT, Json, Out
from lopsided.cli.run import run
from lopsided.cli.sample import sample
from lopsided.cli.worker import worker
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json
from lopsided.report.exits import exits

app = App(
    name="lopsided",
    help="How lopsided should training data be? Recipes that reproduce findings and say whether they hold.",
    version=lambda: metadata.version("lopsided"),
    version_flags=["--version"],
)
app.command(run)
app.command(sample)
app.command(cost)
app.command(advise)
app.command(explore)
app.command(worker)


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
    directory: Path = OUT,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Write one HTML report of every run in a folder, from stored rows.

    Parameters
    ----------
    directory
        Folder of the store.
    output
        File to write; DIRECTORY/reports/report.html if left out.
    """
    from lopsided.study.checking import found_in
    from lopsided.study.manifest import recorded as manifests
    from lopsided.study.recipe_run import recorded
    from lopsided.study.reports import write_report

    store = _existing(directory)
    page = output or directory / "reports" / "report.html"
    if page.is_dir() or not page.name:
        raise InputError(f"--output {str(page)!r}: is a folder; name a file")
    store.require_readable()
    runs = [found_in(asked, store) for asked in recorded(store)]
    if not any(found.shown is not None for found in runs):
        unread = sorted({m.recipe for m in manifests(store)} - {found.run.recipe.name for found in runs})
        own = f" (`lopsided run FILE.py` writes the report of a recipe file: {', '.join(unread)})" if unread else ""
        raise InputError(
            f"directory = {str(directory)!r}: holds no finished run of a recipe that can be read here{own}; `lopsided "
            "explore` shows what Python programs trained"
        )
    print(write_report(store, runs, page))


@app.command
def check(*recipes: str, out: Out = OUT, as_json: Json = False) -> None:
    """Every claim: the paper's number, what was measured, and the verdict from stored rows.

    Parameters
    ----------
    recipes
        Names of recipes; all of them if left out.
    """
    from lopsided.claims.counts import counts
    from lopsided.core.registry import registered
    from lopsided.study.checking import claims_of
    from lopsided.study.manifest import recorded
    from lopsided.study.own_code import say_rows_of_the_first_rule, warn_of_older_rows
    from lopsided.study.reports import made
    from lopsided.study.targets import find

    asked = [find(name) for name in recipes or registered("recipe")]
    store = _existing(out)
    store.require_readable()
    manifests, claims, needed, runs, specs = recorded(store), [], [], {}, []
    for recipe in asked:
        found = claims_of(recipe, manifests, store)
        claims += found.claims
        needed += found.needed
        if found.problem:
            print(f"lopsided: {recipe.name}: looks of --until-decided passed over: {found.problem}", file=sys.stderr)
        if found.run is not None:
            warn_of_older_rows(found.run.arms.values(), store)
            specs += found.run.arms.values()
            said = {"scale": found.run.scale, "seeds": found.seeds}
            runs[recipe.name] = {**said, "made": made(store, found.run) if as_json else []}
    say_rows_of_the_first_rule(specs, store)
    if as_json:
        every = [{**c.as_json(), "seeds_needed": n} for c, n in zip(claims, needed, strict=True)]
        print_json({"claims": every, "counts": counts(claims).as_json(), "runs": runs})
        return
    from lopsided.report.terminal import claim_table

    which = [i for i, c in enumerate(claims) if recipes or c.verdict != "not run"]
    shown = [claims[i] for i in which]
    claim_table(shown, needed=[needed[i] for i in which])
    if waiting := len(claims) - len(shown):
        print(f"{waiting} claims of {len(asked) - len(runs)} recipes are not run yet; `lopsided check NAME` shows them")
    known = {recipe.name for recipe in asked}
    others = sorted({manifest.recipe for manifest in manifests} - known)
    if others and not recipes:
        print(f"Also run here, from files: {', '.join(others)}; `lopsided check FILE` shows their claims")


@app.command
def diff(recipe: str, *, scale: str = "laptop", as_json: Json = False) -> None:
    """How far a recipe's setting is from the paper's own: every field in which their specs differ.

    Parameters
    ----------
    recipe
        Name of a recipe, or FILE.py.
    scale
        Compared with the scale `paper`.
    """
    from dataclasses import asdict

    from lopsided.claims.setting import apart
    from lopsided.report.terminal import difference_table
    from lopsided.study.targets import find

    asked = find(recipe)
    if "paper" not in asked.scales:
        raise InputError(f"diff: {asked.name} has no scale 'paper'; it has {', '.join(asked.scales)}")
    rows = apart(asked.arms_at(asked.scale_named(scale)), asked.arms_at("paper"))
    if as_json:
        found = [{**asdict(row.difference), "arms": list(row.arms) or None} for row in rows]
        print_json({"recipe": asked.name, "scale": scale, "differences": found, "assumptions": dict(asked.assumptions)})
        return
    difference_table(asked.name, scale, rows, asked.assumptions)


@app.command
def query(sql: str, /, *, out: Out = OUT, as_json: Json = False) -> None:
    """Ask the store in SQL: `rows` (spec, seed, step, samples, …, metric, value), `members` and `arms`.

    Parameters
    ----------
    sql
        One SELECT, for example "SELECT arm, median(value) FROM rows JOIN arms USING (spec) GROUP BY arm".
    """
    from lopsided.store.tables import query as ask
    from lopsided.study.manifest import recorded
    from lopsided.study.others import arm_rows

    store = _existing(out)
    store.require_readable()
    manifests = recorded(store)
    arms = [row for found in manifests for row in found.rows()] + arm_rows(store, manifests)
    answer = ask(store, arms, sql)
    if as_json:
        print_json({"columns": answer.columns, "rows": answer.rows, "more": answer.more})
        return
    from lopsided.report.terminal import query_table

    query_table(answer.columns, answer.rows)
    if answer.more:
        print(f"lopsided: only the first {len(answer.rows):,} rows are shown", file=sys.stderr)


@app.command
def status(
    directory: Path = OUT, /, *, times: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False
) -> None:
    """Show what is done, running, stale and failed in a folder, and the time left.

    Parameters
    ----------
    directory
        Folder of the store.
    times
        Show instead where the time of each run went (compilation, steps, evaluations, waiting for commits, the rest),
        and how fast it computed.
    """
    from lopsided.store import status as of
    from lopsided.study.looks import in_hand
    from lopsided.study.manifest import recorded
    from lopsided.study.others import members

    store = _existing(directory)
    runs = {r.label: r.members() for r in recorded(store)} | in_hand(store)
    runs |= members(store, runs)
    if times:
        spent = of.times(store, runs)
        if as_json:
            print_json({"runs": spent})
            return
        from lopsided.price.peak import best
        from lopsided.report.terminal import times_table

        times_table(spent, of.TIMES, [best(each["place"]) for each in spent])
        return
    found = of.folder_status(store, runs)
    if as_json:
        print_json(found)
        return
    from lopsided.report.terminal import status_tables

    status_tables(found)


@app.command
def compact(directory: Path = OUT, /, *, as_json: Json = False) -> None:
    """Merge the many small parts of finished jobs into few, so that a large folder stays quick to read.

    Parameters
    ----------
    directory
        Folder of the store. Other processes may go on working in it.
    """
    from lopsided.store.compact import compact as merge
    from lopsided.store.parts import Store

    _existing(directory)
    done = merge(Store(directory))
    if as_json:
        print_json({"parts_before": done.before, "parts_after": done.after})
        return
    print(f"{done.before:,} parts before, {done.after:,} now")


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


def _existing(folder: Path) -> Any:
    from lopsided.store.parts import Store

    if not (folder / "parts").is_dir():
        raise InputError(f"folder {str(folder)!r}: no store there; `lopsided run RECIPE --out {folder}` makes one")
    return Store(folder).as_of_now()


def main(arguments: list[str] | None = None) -> None:
    """Entry point: user mistakes become one line and exit code 2."""
    # Tracing makes many objects that stay. Looking through them took 7 to 8 % of a warm start; jobs free their arrays
    # without the collector (a test).
    gc.set_threshold(50_000, 20, 50)
    with exits():
        _require_values(sys.argv[1:] if arguments is None else arguments)
        app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()


def _require_values(arguments: list[str]) -> None:
    """`--set` and `--looks` without a value are mistakes, not a run without them; and an empty value (a variable of the
    shell that is not set) is not the present folder."""
    for flag, following in zip(arguments, [*arguments[1:], "--"], strict=True):
        if flag == "--set" and following.startswith("--"):
            raise InputError("--set: takes key=value, for example --set optimizer.lr=0.01")
        if flag == "--looks" and following.startswith("--"):
            raise InputError("--looks: takes numbers of new seeds, for example --looks 8 24 64")
        if flag.startswith("--") and not following:
            raise InputError(f"{flag}: its value is empty")

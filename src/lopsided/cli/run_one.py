"""One run of `lopsided run`: trained, decided, reported."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lopsided.core.telling import tell
from lopsided.store.paths import folder_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lopsided.core.execution import Execution
    from lopsided.report.live import Display
    from lopsided.store.parts import Store
    from lopsided.study.checking import FoundRun
    from lopsided.study.recipe_run import RecipeRun
    from lopsided.work.done import Done, Runner


def run_one(
    asked: RecipeRun,
    store: Store,
    runner: Runner,
    execution: Execution,
    until: tuple[int, ...] | None,
    seconds: float | None,
    as_json: bool,
    around: Sequence[RecipeRun] = (),
) -> dict[str, Any]:
    """Train and decide one run, write its report, and print its outcome (unless `as_json`), which is returned.
    `until` has the looks of `--until-decided`, () the usual ones; None trains without looks."""
    from lopsided.report.summary import arm_summaries
    from lopsided.report.terminal import outcome
    from lopsided.study.checking import found_in
    from lopsided.study.neighbours import train_neighbours
    from lopsided.study.reports import write_report
    from lopsided.study.until_decided import until_decided

    _say_before(asked, store, execution, until)
    before = _complete(store, [asked, *around])
    done: Done | None = None
    with _watched(asked, store, seconds, around) as (stop, display):
        if until is not None and asked.scale != "smoke":  # which has no verdicts
            own = until_decided(asked, store, display, stop, until, runner, execution)[1]
        else:
            own = asked.train(store, display, stop, execution, runner)
        done = own.plus(train_neighbours(around, store, display, stop, execution, runner)) if around else own
    store = store.as_of_now()
    found = found_in(asked, store)
    _say_mixed(found, store)
    _say_coarse(found)
    page, arms = None, []
    if found.shown is not None:
        page = write_report(store, [found], store.root / "reports" / asked.label / "index.html")
        arms = arm_summaries(found.shown, found.run.recipe)
        if not as_json:
            others = len(found.shown.arms) - len(arms)
            run = found.run
            outcome(run.recipe, run.scale, arms, found.claims, found.judged_by, done, page, run.overrides, others)
    return {
        "recipe": asked.recipe.name,
        "scale": asked.scale,
        "out": str(store.root.absolute()),
        "report": str(page.absolute()) if page else None,
        "finished": done is not None,
        "trained": done.trained if done else _complete(store, [found.run, *around]) - before,
        "seeds": found.seeds,
        "arms": arms,
        "claims": [c.as_json() for c in found.claims],
    }


def _say_before(asked: RecipeRun, store: Store, execution: Execution, until: tuple[int, ...] | None) -> None:
    """Refuse what cannot be trained, before anything is written, and say what the folder has of this run."""
    from lopsided.engines.choosing import require_engines
    from lopsided.study.before import replaces, tested_before
    from lopsided.study.own_code import warn_of_older_rows
    from lopsided.study.until_decided import planned

    require_engines(asked.arms.values(), execution)
    store.require_writable()
    warn_of_older_rows(asked.arms.values(), store, range(asked.seeds))
    asked.require_own_file(store)
    if until is not None:
        planned(asked, store, until)
    for said in filter(None, (tested_before(asked, store) if until is None else "", replaces(asked, store))):
        tell(said)


@contextmanager
def _watched(
    asked: RecipeRun, store: Store, seconds: float | None, around: Sequence[RecipeRun]
) -> Iterator[tuple[threading.Event, Display]]:
    """What stops training, and what shows it: the screen and a log file. Ends where the time is over."""
    from lopsided.core.errors import Stopped
    from lopsided.report.live import Display, Screen
    from lopsided.study import manifest
    from lopsided.work.signals import stop_on_signals, stopped_after

    def arms_now() -> dict[str, str]:
        """Names and hashes as manifests have them, which know what was added to sweeps."""
        named = {}
        for each in (asked, *around):
            now, changed = manifest.read(store, each.label), f" ({', '.join(each.overrides)})" if each in around else ""
            named |= {f"{name}{changed}": arm.hash for name, arm in now.arms.items()} if now else {}
        return named

    log = folder_in(store.root, "logs") / f"{asked.label}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    with (
        stop_on_signals() as stop,
        stopped_after(seconds, stop) as over,
        Display(Screen(), arms_now, asked.recipe.metric, log, asked.title) as display,
    ):
        try:
            yield stop, display
        except Stopped:
            if not over.is_set():
                raise


def _say_mixed(found: FoundRun, store: Store) -> None:
    """Say on stderr if rows are of several versions of the code. (Claims say so themselves.)"""
    from lopsided.study.own_code import mixed_text

    run = found.run
    if not found.claims and (said := mixed_text(run.arms.values(), store, range(run.seeds))):
        tell(said)


def _say_coarse(found: FoundRun) -> None:
    """Warn on stderr if an arm is evaluated too rarely to know when it learned, unless a claim says so. At smoke scale
    every recipe of this package is evaluated too rarely, so that nothing is said there."""
    from lopsided.report.words import coarse_text
    from lopsided.results.grid import grid_text

    run = found.run
    known = any(map(coarse_text, found.claims)) or (run.scale == "smoke" and not run.file.path)
    if found.shown is None or known:
        return
    if said := grid_text(found.shown.arms.values(), run.recipe.metric, run.recipe.goal):
        tell(said)


def _complete(store: Store, runs: Sequence[RecipeRun]) -> int:
    """How many complete members the specs of these runs have."""
    specs = {spec.content_hash() for run in runs for spec in run.arms.values()}
    return sum(spec in specs for spec, _ in store.survey_new().complete)

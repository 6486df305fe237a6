"""`lopsided run`: train what is missing, decide the claims, write the report."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lopsided.cli.options import OUT, Json, Out
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json

if TYPE_CHECKING:
    from lopsided.core.execution import Execution
    from lopsided.runs.done import Done, Runner
    from lopsided.runs.recipe_run import RecipeRun
    from lopsided.runs.until_decided import State
    from lopsided.store.parts import Store


def run(
    target: str,
    /,
    *,
    scale: str = "laptop",
    seeds: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative="")] = (),
    until_decided: Annotated[bool, Parameter(negative="")] = False,
    for_: Annotated[str | None, Parameter(name="--for")] = None,
    devices_per_member: int = 1,
    on: str | None = None,
    workers: int | None = None,
    on_set: Annotated[tuple[str, ...], Parameter(name="--on-set", consume_multiple=True, negative="")] = (),
    out: Out = OUT,
    as_json: Json = False,
) -> None:
    """Run a recipe (its name), a recipe file (FILE.py) or a spec (SPEC.json), then write its report.

    What is already in the store is not trained again.

    Parameters
    ----------
    target
        Name of a recipe, a Python file that defines one, or a JSON file that holds a spec.
    scale
        smoke (seconds, exercises the code), laptop (must show the effect) or paper (the paper's numbers).
    seeds
        Members per arm; the recipe's own number if left out.
    set_
        Changes to every arm's spec: key=value, for example --set steps=500 optimizer.lr=0.01.
    until_decided
        Then freeze the best settings and train new seeds, 8, 16, 32, 64, until every claim is decided.
    for_
        Stop cleanly when this time is over: 30m, 2h. The same command goes on.
    devices_per_member
        Devices that share one member: its batch, its parameters and what its optimizer keeps.
    on
        Who trains: this process if left out; local, slurm or ray for workers that go on when this process ends;
        elsewhere for workers that you start yourself (lopsided worker).
    workers
        How many of them; one if left out.
    on_set
        Settings of that engine: key=value, for example --on-set partition=gpu gpus_per_node=1.
    out
        Folder of the store.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.report.live import Display, Screen
    from lopsided.runs.recipe_run import prepare
    from lopsided.runs.reports import write_report
    from lopsided.runs.signals import duration, stop_on_signals, stopped_after
    from lopsided.store.parts import Store

    asked = prepare(target, scale, seeds, set_)
    store = Store(out)
    names = {spec.content_hash(): name for name, spec in asked.arms.items()}
    store.require_writable()
    log = store.root / "logs" / f"{asked.label}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log.parent.mkdir(exist_ok=True)
    seconds = None if for_ is None else duration(for_)
    execution = execution_of(devices_per_member)
    runner = _runner(target, store, on, workers, on_set, seconds, devices_per_member)
    with (
        stop_on_signals() as stop,
        stopped_after(seconds, stop) as over,
        Display(Screen(), names, asked.recipe.metric, log) as display,
    ):
        done, judged, left = _trained(asked, store, display, stop, until_decided, over, runner, execution)
    store = store.as_of_now()
    asked, results = asked.grown(store)  # of the seeds that choose; what is judged has its claims in `judged`
    if left:
        said = f"lopsided: {for_} are over; what is computed is committed, and the same command goes on"
        print(said, file=sys.stderr)
    claims = asked.marked(judged.claims if judged is not None else asked.claims(results), store)
    page, arms = None, []
    if results is not None:
        from lopsided.report.summary import arm_summaries

        page = write_report(store, [(asked, results, claims)], store.root / "reports" / asked.label / "index.html")
        arms = arm_summaries(results, asked.recipe)
    if as_json:
        print_json(
            {
                "recipe": asked.recipe.name,
                "scale": scale,
                "out": str(store.root.absolute()),
                "report": str(page.absolute()) if page else None,
                "finished": not left,
                "trained": done.trained if done else None,
                "seeds": judged.seeds if judged is not None else asked.seeds,
                "arms": arms,
                "claims": [c.as_json() for c in claims],
            }
        )
        return
    if page is None:
        return
    from lopsided.report.terminal import outcome

    outcome(asked.recipe, scale, arms, claims, done, page, asked.overrides)


def execution_of(devices_per_member: int) -> Execution:
    """How members lie on devices."""
    from lopsided.core.execution import Execution

    if not 1 <= devices_per_member <= 4096:
        raise InputError(f"--devices-per-member {devices_per_member}: between 1 and 4096")
    return Execution(batch_devices=devices_per_member, shard=devices_per_member > 1)


def _runner(
    target: str,
    store: Store,
    on: str | None,
    workers: int | None,
    options: tuple[str, ...],
    seconds: float | None,
    devices_per_member: int,
) -> Runner:
    """Who trains."""
    from lopsided.runs.worker import run as here

    if on is None:
        if workers is not None or options:
            raise InputError("--workers and --on-set belong to --on local, slurm or ray")
        return here
    from lopsided.executors.runners import executor, runner

    pairs = [option.partition("=") for option in options]
    for key, equals, _ in pairs:
        if not key or not equals:
            raise InputError(f"--on-set {key!r}: valid is key=value, for example partition=gpu")
    number = 1 if workers is None else workers
    if on == "local" and devices_per_member > 1:
        raise InputError("--devices-per-member: each worker of --on local has its own devices; leave one out")
    found = executor(on, store.root, number, {key: value for key, _, value in pairs})
    return runner(found, target, None if seconds is None else time.time() + seconds)


def _trained(
    asked: RecipeRun,
    store: Store,
    display: Any,
    stop: threading.Event,
    until: bool,
    over: threading.Event,
    runner: Runner,
    execution: Execution,
) -> tuple[Done | None, State | None, bool]:
    """What was trained (None where the time was over before the end), the state of the looks if there were any, and
    whether the time was over."""
    from lopsided.core.errors import Stopped
    from lopsided.runs.until_decided import looked, until_decided

    try:
        if until and asked.scale != "smoke":  # which has no verdicts
            state, done = until_decided(asked, store, display, stop, runner=runner, execution=execution)
            return done, state, False
        return asked.train(store, display, stop, execution, runner), None, False
    except Stopped:
        if not over.is_set():
            raise
        now = store.as_of_now()
        return None, looked(asked, now) if until else None, True

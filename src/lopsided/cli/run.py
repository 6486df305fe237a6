"""`lopsided run`: train what is missing, decide the claims, write the report."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lopsided.cli.options import OUT, Json, Out
from lopsided.cli.run_one import run_one
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json

if TYPE_CHECKING:
    from lopsided.core.execution import Execution
    from lopsided.store.parts import Store
    from lopsided.study.recipe_run import RecipeRun
    from lopsided.work.done import Runner


def run(
    *targets: str,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    scale: str = "laptop",
    seeds: int | None = None,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative="")] = (),
    until_decided: Annotated[bool, Parameter(negative="")] = False,
    looks: Annotated[tuple[int, ...], Parameter(consume_multiple=True, negative="")] = (),
    neighbours: int | None = None,
    for_: Annotated[str | None, Parameter(name="--for")] = None,
    devices_per_member: int = 1,
    across_hosts: Annotated[bool, Parameter(negative="")] = False,
    on: str | None = None,
    workers: int | None = None,
    on_set: Annotated[tuple[str, ...], Parameter(name="--on-set", consume_multiple=True, negative="")] = (),
    out: Out = OUT,
    as_json: Json = False,
) -> None:
    """Run a recipe (its name), a recipe file (FILE.py) or a spec (SPEC.json), or several, then write their reports.

    What is already in the store is not trained again.

    Parameters
    ----------
    targets
        Names of recipes, Python files that define one, or JSON files that hold a spec.
    all_
        Every recipe, the shortest first.
    scale
        smoke (seconds, exercises the code), laptop (meant to show the effect), overnight (eight hours of two cores, for
        a few recipes) or paper (the paper's numbers, where it prints them).
    seeds
        Members per arm; the recipe's own number if left out.
    set_
        Changes to every arm's spec: key=value, for example --set steps=500 optimizer.lr=0.01, or key*=factor for what
        each arm has: --set plan.batch*=2. Or to one arm's: --set "power law: skills.alpha=1".
    until_decided
        Then freeze the best settings and train new seeds, 8, 16, 32, 64, until every claim is decided.
    looks
        Other numbers of new seeds for --until-decided: --looks 32 128 512. Fixed before the first of them is trained.
    neighbours
        Then train the recipe at so many neighbouring settings as well (width, rate, batch, steps, drawn from a key), a
        few seeds each: does a verdict depend on what somebody chose?
    for_
        Stop cleanly when this time is over (of all targets together): 30m, 2h. The same command goes on.
    devices_per_member
        Devices that share one member: its batch, its parameters and what its optimizer keeps.
    across_hosts
        The same command runs on several hosts (srun, mpirun, Kubernetes), and they share members.
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
    from lopsided.stats.sequential import valid_looks
    from lopsided.store.parts import Store
    from lopsided.study.recipe_run import prepare
    from lopsided.work.signals import duration

    asked_for = _every(targets, scale) if all_ else targets
    if not asked_for:
        raise InputError("run: takes a recipe, a file, or --all; `lopsided list` shows the recipes")
    if looks and not until_decided:
        raise InputError("--looks: belongs to --until-decided")
    if looks:
        valid_looks(looks)
    end = None if for_ is None else time.monotonic() + duration(for_)
    prepared = [(target, prepare(target, scale, seeds, set_)) for target in asked_for]
    labels = [asked.label for _, asked in prepared]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise InputError(
            f"run: two targets are {twice[0]!r}, and one report would replace the other; rename one, or give it once"
        )
    for _, asked in prepared:
        if set_ and not asked.overrides:
            print(f"lopsided: --set {' '.join(set_)}: {asked.title} has that already", file=sys.stderr)
    if across_hosts and on is not None:
        raise InputError("--across-hosts: the hosts train here, together; leave --on out")
    if across_hosts and not _joined_as_head():
        return
    until = looks if until_decided else None
    found: list[dict[str, Any]] = []
    for i, (target, asked) in enumerate(prepared):
        if len(prepared) > 1:
            print(f"lopsided: {asked.title}, {i + 1} of {len(prepared)}", file=sys.stderr)
        seconds = None if end is None else max(end - time.monotonic(), 0.001)
        runner = _runner(target, Store(out), on, workers, on_set, seconds, devices_per_member)
        around = () if neighbours is None else _around(asked, neighbours)
        execution = execution_of(devices_per_member)
        found.append(run_one(asked, Store(out), runner, execution, until, seconds, as_json, around))
        if not found[-1]["finished"]:
            said = f"lopsided: {for_} are over; what is computed is committed, and the same command goes on"
            print(said, file=sys.stderr)
            break
    if as_json:
        print_json(found[0] if len(prepared) == 1 else {"runs": found})


def _around(asked: RecipeRun, count: int) -> list[RecipeRun]:
    from lopsided.study.neighbours import neighbours

    return neighbours(asked, count)


def _joined_as_head() -> bool:
    """Join the other hosts. All but the first do what that one says until it ends, and this returns False there."""
    from lopsided.engines import hosts
    from lopsided.engines.several_hosts import follow

    hosts.join()
    if not hosts.is_head():
        follow()
    return hosts.is_head()


def _every(targets: tuple[str, ...], scale: str) -> tuple[str, ...]:
    """Every recipe that has the scale, the shortest first."""
    from lopsided.study.catalog import catalog

    if targets:
        raise InputError(f"run: --all is every recipe; leave {' '.join(targets)} out")
    rows = [row for row in catalog() if scale in row["scales"]]

    def seconds(row: dict[str, Any]) -> float:
        its = row["scales"][scale]
        return its["seconds"] or 3600 * (its["counted"] or {}).get("h100_hours", 0.0)

    return tuple(row["name"] for row in sorted(rows, key=seconds))


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
    """What trains: this process, or workers elsewhere."""
    from lopsided.work.worker import train as here

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

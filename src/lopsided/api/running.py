"""Train specs and read their results, from Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lopsided.api.results import Results, of_stored
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.results import stored
from lopsided.results.grid import grid_text
from lopsided.store.parts import Store
from lopsided.store.paths import folder_in
from lopsided.study.manifest import LOOKS
from lopsided.study.others import OTHERS, OtherArm, with_seeds
from lopsided.study.own_code import mixed_text, warn_of_older_rows
from lopsided.work import worker
from lopsided.work.signals import committed_on_signals

if TYPE_CHECKING:  # a program that trains specs needs no recipes
    from lopsided.study.recipe_run import RecipeRun

FOLDER = "lopsided-runs"


def run(
    arms: Mapping[str, Spec] | Spec,
    seeds: int | Sequence[int] = 8,
    out: str | Path | Store = FOLDER,
    *,
    progress: bool | None = None,
    execution: Execution = DEFAULT,
) -> Results:
    """Train every arm on every seed, unless the folder `out` holds it already, and read the results.

    `arms`: specs by name, or one spec; `seeds`: how many (0, 1, ...) or which; `progress`: show lines on stderr (left
    out: where somebody looks, in a terminal or a notebook). The first Ctrl-C or SIGTERM commits what is computed; a run
    that was stopped goes on from there when it is called again. Raises `InputError` for bad arms, or for a folder that
    cannot be used.

    >>> import lopsided as lop, tempfile
    >>> spec = lop.Spec(task=lop.tasks.SparseParity(d=6, k=2), model=lop.models.MLP(width=8),
    ...     plan=lop.plans.Online(batch=8), optimizer=lop.optim.SGD(lr=0.5), loss="logistic", steps=4,
    ...     evaluation={"every": 2, "samples": 16})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = lop.run({"one": spec}, seeds=2, out=folder)
    >>> results["one"].metric("test/accuracy").shape
    (2, 2)
    """
    named, seeds = _named(arms), _seeds(seeds)
    store = out if isinstance(out, Store) else Store(out)
    specs = list(named.values())
    warn_of_older_rows(specs, store, _each(seeds))
    with committed_on_signals() as stop:
        if _somebody_looks() if progress is None else progress:
            from lopsided.report.live import Display, Screen

            store.require_writable()
            log = folder_in(store.root, "logs") / f"library-{time.strftime('%Y%m%d-%H%M%S')}.log"
            hashes = {name: spec.content_hash() for name, spec in named.items()}
            with Display(Screen(), lambda: hashes, "test/accuracy", log) as display:
                worker.run(specs, seeds, store, display, execution, stop)
        else:
            worker.run(specs, seeds, store, None, execution, stop)
    found = load(named, seeds, store)
    if said := grid_text(found.arms.values()):
        tell(said)
    return found


def load(
    arms: Mapping[str, Spec] | Spec | str | Path | Store,
    seeds: int | Sequence[int] | None = None,
    out: str | Path | Store = FOLDER,
    *,
    recipe: str | None = None,
) -> Results:
    """Results that are complete in the folder `out`, of 8 seeds if nothing is said; nothing is trained. Raises
    `InputError` if a member is missing.

    Given a folder in place of `arms`, and the name of a `recipe` (or of a run, as `lopsided status` gives it), the
    results of what the command line ran there: `lop.load("lopsided-runs", recipe="state-tracking")`; of what Python
    programs trained there, `recipe="members of no recipe"`. Such a run has its own seeds. The name of a recipe stands
    for its newest complete run with nothing changed by hand; where there are several, stderr says which one was taken.

    >>> import lopsided as lop, tempfile
    >>> spec = lop.Spec(task=lop.tasks.SparseParity(d=6, k=2), model=lop.models.MLP(width=8), loss="logistic",
    ...     plan=lop.plans.Online(batch=8), optimizer=lop.optim.SGD(lr=0.5), steps=4,
    ...     evaluation={"every": 2, "samples": 16})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = lop.run({"one": spec}, seeds=2, out=folder)
    ...     again = lop.load({"one": spec}, seeds=2, out=folder)
    >>> again["one"].seeds
    (0, 1)
    """
    # `lop.recipes.state_tracking`, or the recipe in it
    recipe = getattr(getattr(recipe, "recipe", recipe), "name", recipe)
    if recipe is not None and not isinstance(recipe, str):
        raise InputError(f"load: recipe= takes the name of a run, not a {type(recipe).__name__}")
    if isinstance(arms, str | Path | Store):
        if seeds is not None:
            raise InputError("load: `seeds` goes with specs; a recorded run has its own (`results[arm].seeds`)")
        return _of_run(arms if isinstance(arms, Store) else Store(arms), recipe)
    if recipe is not None:
        raise InputError("load: `recipe` goes with a folder, lop.load(folder, recipe=...), not with specs")
    named, seeds = _named(arms), _seeds(8 if seeds is None else seeds)
    store = out if isinstance(out, Store) else Store(out)
    found = stored.load(store, "library", "library", named, dict.fromkeys(named, seeds))
    if found is None:
        raise InputError(f"load: {str(store.root)!r} does not hold every member; `lopsided.run` trains what is missing")
    _say_mixed(named, store, _each(seeds))
    return of_stored(found)


def _of_run(store: Store, recipe: str | None) -> Results:
    """Results of a recorded run: the newest one of that name that is complete, unchanged runs before those that were
    changed by hand."""
    from lopsided.study import manifest
    from lopsided.study.remembered import recorded, unreadable

    if not (store.root / "parts").is_dir():
        raise InputError(f"load: folder {str(store.root)!r}: no store there")
    known = manifest.recorded(store)
    if recipe == OTHERS:
        return _of_others(with_seeds(store, known), store)
    runs = recorded(store, known)
    others = [repr(OTHERS)] if with_seeds(store, known) else []
    names = "; ".join([*(f"{run.title!r}" for run in runs), *others]) or "none"
    if hidden := sorted(unreadable(known)):
        names += f" (once the files of their tasks are imported also {', '.join(map(repr, hidden))})"
    if recipe is not None and recipe.endswith(LOOKS):
        for run in runs:
            if recipe.removesuffix(LOOKS) in (run.label, run.title):
                return _of_looks(run, store)
    if recipe is None:
        raise InputError(f"load: name a run of {str(store.root)!r} by recipe=. Valid: {names}")
    chosen = [run for run in runs if recipe in (run.label, run.title)]
    # A recipe's name is that of its unchanged runs: one that was changed by hand has to be named.
    chosen = chosen or [run for run in runs if recipe == run.recipe.name and not run.overrides]
    if not chosen:
        for why in unreadable([each for each in known if recipe in (each.label, each.title, each.recipe)]).values():
            raise InputError(f"load: {recipe!r} cannot be read here ({why}); import the file of its task first")
        raise InputError(f"load: {str(store.root)!r} has no run {recipe!r}. Valid: {names}")
    for run in reversed(chosen):
        grown, found = run.grown(store.as_of_now())
        if found is not None:
            _say_mixed(grown.arms, store, range(run.seeds))
            if same := [each.title for each in chosen if each is not run]:
                tell(f"load: {recipe!r} is {run.title!r} here; other runs of that name: {', '.join(same)}")
            if said := _judged_by(run, store):
                tell(f"load: {said}")
            return of_stored(found)
    raise InputError(f"load: {recipe!r} is not complete in {str(store.root)!r}; `lopsided run` goes on with it")


def _judged_by(run: RecipeRun, store: Store) -> str:
    """Which seeds judge a run's claims, where the folder has a plan of `--until-decided`; otherwise empty."""
    from lopsided.study import looks
    from lopsided.study.manifest import judging_plan

    if (plan := judging_plan(store, run.label)) is not None:
        judged = f"recipe={run.title + LOOKS!r} has those that judge its claims"
        return f"seeds below {plan.first} of {run.title!r} chose; {judged}"
    if looks.plan_of(store, run.label) is not None:
        return (
            f"the plan of --until-decided of {run.title!r} was made for other claims or arms and is passed over; its "
            f"verdicts are of these {run.seeds} seeds"
        )
    return ""


def _of_looks(run: RecipeRun, store: Store) -> Results:
    """Results of the seeds that judge a run's claims, and chose nothing."""
    from lopsided.study.looks import judged_of
    from lopsided.study.manifest import judging_plan

    plan = judging_plan(store, run.label)
    arms = {} if plan is None else run.grown(store)[0].arms
    hashes = {name: spec.content_hash() for name, spec in arms.items()}
    judged = {} if plan is None else judged_of(store, plan, run.label, hashes)
    seeds = {name: tuple(judged[name]) for name in arms if judged.get(name)}
    specs = {name: arms[name] for name in seeds}
    found = stored.load(store, run.recipe.name, run.scale, specs, seeds, run.planned) if specs else None
    if found is None:
        said = f": {_judged_by(run, store)}" if plan is None else ""
        raise InputError(f"load: no look of {run.title!r} is over in {str(store.root)!r}{said}")
    _say_mixed(specs, store)
    return of_stored(found)


def _of_others(arms: Sequence[tuple[OtherArm, tuple[int, ...]]], store: Store) -> Results:
    """Results of what Python programs trained, arms by the settings in which they differ, with all of their seeds."""
    if not arms:
        from lopsided.study.manifest import recorded
        from lopsided.study.others import members, members_of

        if begun := members(store, members_of(store, recorded(store))).get(OTHERS):
            said = f"load: {len(begun)} members of Python programs in {str(store.root)!r} are not complete"
            raise InputError(f"{said}; the program that began them goes on when it is run again")
        raise InputError(f"load: no Python program trained anything in {str(store.root)!r}")
    specs = {arm.name: Spec.parse(dict(arm.spec)) for arm, _ in arms}
    found = stored.load(store, "library", "library", specs, {arm.name: seeds for arm, seeds in arms})
    assert found is not None  # they are those that are complete
    _say_mixed(specs, store)
    return of_stored(found)


def _each(seeds: int | tuple[int, ...]) -> Container[int]:
    return range(seeds) if isinstance(seeds, int) else set(seeds)


def _say_mixed(arms: Mapping[str, Spec], store: Store, seeds: Container[int] | None = None) -> None:
    """Say on stderr if rows of several versions of the code are about to be compared."""
    if said := mixed_text(arms.values(), store.as_of_now(), seeds):
        tell(said)


def _somebody_looks() -> bool:
    """Whether stderr is a terminal, or this is a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"


MOST_SEEDS = 10**6
"""A number that was meant as a seed is refused, before a list of so many members fills memory."""


def _seeds(seeds: Any) -> int | tuple[int, ...]:
    """How many, or which, each once and in order."""
    if isinstance(seeds, (int, np.integer)) and not isinstance(seeds, bool):
        if 1 <= seeds <= MOST_SEEDS:
            return int(seeds)
    elif isinstance(seeds, Iterable) and not isinstance(seeds, (str, bytes)):
        which = list(seeds)
        whole = all(isinstance(s, (int, np.integer)) and 0 <= s < 2**63 for s in which)
        if which and whole and len(set(which)) == len(which):
            return tuple(sorted(int(s) for s in which))
    raise InputError(
        f"seeds = {seeds!r}: how many (1 to {MOST_SEEDS:,}), or a list of which, each once and from 0 to 2^63 - 1"
    )


def _named(arms: Mapping[str, Spec] | Spec) -> dict[str, Spec]:
    named = {"arm": arms} if isinstance(arms, Spec) else dict(arms) if isinstance(arms, Mapping) else {}
    if not named or not all(isinstance(name, str) and isinstance(spec, Spec) for name, spec in named.items()):
        raise InputError("arms: valid is a Spec, or Specs by name")
    return named

"""`lopsided advise`: which shape should the data of a spec have?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lopsided.cli.options import OUT, Json, Out
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json


def advise(
    spec: Path,
    /,
    *,
    target: str | None = None,
    budget: str | None = None,
    rates: Annotated[tuple[float, ...], Parameter(consume_multiple=True, negative="")] = (1.0,),
    out: Out = OUT,
    as_json: Json = False,
) -> None:
    """Try shapes of a spec's data, and test the best one on fresh seeds. The same command goes on where it was stopped.

    Parameters
    ----------
    spec
        A JSON file that holds a spec. For data and loops of your own, see `lopsided.advise` in Python.
    target
        What to reach with little compute: test/accuracy=.9. Left out: the highest final test accuracy, or the lowest
        final test loss.
    budget
        Computing time that the whole race may take: 30m, 2h.
    rates
        Factors of the learning rate to choose from for each shape: --rates .5 1 2.
    out
        Folder of the store.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.core.shapes import has_accuracy
    from lopsided.report.advice import as_json as as_data
    from lopsided.report.advice import words
    from lopsided.runs.advice import Goal, advise, shapes_of
    from lopsided.runs.signals import duration, stop_on_signals
    from lopsided.runs.targets import find
    from lopsided.store.files import replace_text
    from lopsided.store.parts import Store

    if spec.suffix != ".json":
        raise InputError(
            f"{str(spec)!r}: valid is a spec as JSON; for your own training, use lopsided.advise in Python"
        )
    (asked,) = find(str(spec)).specs("laptop").values()
    rated = has_accuracy(asked.task.outputs)
    goal = _goal(target) if target else Goal("test/accuracy" if rated else "test/loss")
    if goal.metric == "test/accuracy" and not rated:
        raise InputError(f"--target: task {asked.task.name!r} has no accuracy")
    if not rates or any(not rate > 0 for rate in rates) or len(set(rates)) < len(rates):
        raise InputError(f"--rates {' '.join(map(str, rates))}: different factors above 0")
    names = list(shapes_of(asked))
    say = lambda line: print(f"lopsided: {line}", file=sys.stderr, flush=True)  # noqa: E731
    say(f"shapes: {'; '.join(names)}")
    store = Store(out)
    with stop_on_signals() as stop:
        seconds = None if budget is None else duration(budget, "--budget")
        found = advise(asked, store, goal, seconds, rates, say, stop=stop)
    file = store.root / "advice" / f"{spec.stem}-advised.json"
    replace_text(file, found.spec.model_dump_json(indent=1))
    if as_json:
        print_json({**as_data(found.advice), "seconds": found.seconds, "spec": str(file.absolute())})
        return
    for line in words(found.advice, found.plan.looks[-1]):
        print(line)
    print(f"It took {found.advice.runs} runs, {found.seconds / 60:.2g} minutes of computing.")
    print(f"The spec to train with: {file}")


def _goal(text: str):
    from lopsided.runs.advice import Goal

    metric, equals, value = text.partition("=")
    try:
        at = float(value)
    except ValueError:
        at = float("nan")
    if not equals or metric != "test/accuracy" or not 0 < at <= 1:
        raise InputError(f"--target {text!r}: valid is an accuracy and a value up to 1, for example test/accuracy=.9")
    return Goal(metric, at)

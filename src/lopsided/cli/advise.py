"""`lopsided advise`: which shape should data have? For a spec, a training function, or a table of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lopsided.cli.options import OUT, Json, Out
from lopsided.core.errors import InputError, Stopped
from lopsided.core.telling import tell
from lopsided.report.as_json import print_json

if TYPE_CHECKING:
    from lopsided.advising.advice import Goal
    from lopsided.advising.questions import RaceQuestion
    from lopsided.core.spec import Spec


def advise(
    what: Path,
    /,
    *,
    target: str | None = None,
    budget: str | None = None,
    rates: Annotated[tuple[float, ...], Parameter(consume_multiple=True, negative="")] = (1.0,),
    train: Path | None = None,
    skill: str | None = None,
    text: str | None = None,
    samples: int | None = None,
    traceback: Annotated[bool, Parameter(negative="")] = False,
    out: Out = OUT,
    as_json: Json = False,
) -> None:
    """Try shapes of data, and test the best one on fresh seeds. The same command goes on where it was stopped.

    Parameters
    ----------
    what
        A JSON file that holds a spec; a Python file that defines `spec`, or `train(shape, seed)` and `shapes`; or a
        table (.parquet, .csv, .jsonl) whose rows are your examples.
    target
        Of a spec: what to reach with little compute, test/accuracy=0.9 or test/loss=0.1. Left out: the highest final
        test accuracy, or the lowest final test loss.
    budget
        Computing time that the whole race may take: 30m, 2h.
    rates
        Of a spec: factors of the learning rate to choose from for each shape, --rates 0.5 1 2.
    train
        Of a table: a Python file that defines `train(stream, seed)`. It trains on the rows stream.at(0), stream.at(1),
        … and returns a score, of which more is better.
    skill
        Of a table: the column that says which skill each row needs (or which several). Left out: only small subsets
        are tried.
    text
        Of a table without labels: a column of texts, in which skills are found (as `lopsided skills` does).
    samples
        Of a table: rows that one run trains on, repeats counted.
    traceback
        Of a program or a table: show the whole traceback of an error, not its last line.
    out
        Folder of the store.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.discovery.tables import READERS
    from lopsided.work.signals import duration

    seconds = None if budget is None else duration(budget, "--budget")
    table = what.suffix in READERS
    for flag, given in (("--train", train), ("--skill", skill), ("--text", text), ("--samples", samples)):
        if given is not None and not table:
            raise InputError(f"{flag}: for a table ({', '.join(READERS)}), not for {str(what)!r}")
    if skill is not None and text is not None:
        raise InputError("--skill and --text: a column that names skills, or one in which they are found; not both")
    found = _asked(what, train, skill, text, samples)
    if isinstance(found, tuple):
        _of_spec(what, *found, target, rates, seconds, out, as_json)
        return
    if target is not None or rates != (1.0,):
        raise InputError(f"{'--rates' if target is None else '--target'}: for specs; your own train() decides both")
    _of_training(what, found, seconds, out, as_json, traceback)


def _asked(
    what: Path, train: Path | None, skill: str | None, text: str | None, samples: int | None
) -> tuple[Spec] | RaceQuestion:
    """The spec, or what a race of somebody's own training needs."""
    from lopsided.advising.questions import from_program, from_table
    from lopsided.discovery.tables import READERS
    from lopsided.study.targets import find

    if what.suffix == ".json":
        return tuple(find(str(what)).specs("laptop").values())  # type: ignore[return-value]
    if what.suffix == ".py":
        return from_program(what)
    if what.suffix not in READERS:
        raise InputError(f"{str(what)!r}: valid is a spec (.json), a program (.py), or a table ({', '.join(READERS)})")
    if train is None or samples is None:
        flag = "--train FILE.py (a program that defines train(stream, seed))" if train is None else "--samples N"
        raise InputError(f"{str(what)!r}: a table needs {flag}")
    return from_table(what, train, skill, samples, text)


def _of_spec(
    file: Path,
    spec: Spec,
    target: str | None,
    rates: tuple[float, ...],
    seconds: float | None,
    out: Path,
    as_json: bool,
) -> None:
    from lopsided.advising.advice import Goal, advise, shapes_of
    from lopsided.advising.advice import curves as curves_of
    from lopsided.core.shapes import has_accuracy
    from lopsided.report.race_page import write_race
    from lopsided.store.files import replace_text
    from lopsided.store.parts import Store
    from lopsided.study.own_code import warn_of_older_rows
    from lopsided.work.signals import stop_on_signals

    rated = has_accuracy(spec.task.outputs)
    goal = _goal(target) if target else Goal("test/accuracy" if rated else "test/loss")
    if goal.metric == "test/accuracy" and not rated:
        raise InputError(f"--target: task {spec.task.name!r} has no accuracy")
    if not rates or any(not rate > 0 for rate in rates) or len(set(rates)) < len(rates):
        raise InputError(f"--rates {' '.join(map(str, rates))}: different factors above 0")
    tell(f"shapes: {'; '.join(shapes_of(spec))}")
    store = Store(out)
    warn_of_older_rows([spec], store)
    with stop_on_signals() as stop:
        found = advise(spec, store, goal, seconds, rates, tell, stop=stop)
    label = f"{file.stem}-{spec.content_hash()[:8]}-{goal.slug}"
    advised = store.root / "advice" / f"{label}-advised.json"
    replace_text(advised, found.spec.model_dump_json(indent=1))
    code = {name: each.model_dump_json(indent=1) for name, each in found.specs.items()}
    page = advised.with_name(f"{label}-race.html")
    panels = [curves_of(found, store.as_of_now(), goal)]
    write_race(page, file.stem, found.advice, found.plan, found.scores, goal.label, code, panels)
    data = {"seconds": found.seconds, "spec": str(advised.absolute())}
    last = [
        f"It took {found.advice.runs} runs, {found.seconds / 60:.2g} minutes of computing.",
        f"The spec to train with: {advised}",
    ]
    if goal.at is not None and not any(score == score for of in found.scores.values() for score in of.values()):
        last.insert(0, f"No run reached {goal.metric} {goal.at:g}: an easier --target, or more steps, tells more.")
    _told(found, last, data, page, as_json)


def _of_training(
    file: Path, question: RaceQuestion, seconds: float | None, out: Path, as_json: bool, traceback: bool
) -> None:
    from lopsided.advising.any_training import advise
    from lopsided.advising.branches import BRANCHES
    from lopsided.report.race_page import write_race
    from lopsided.work.signals import terminated_as_interrupted

    if question.data:
        tell(question.data)
    for key, why in question.branches.items():
        branch = next(each for each in BRANCHES if each.key == key)
        tell(f"{why}: {branch.answer} (docs/should-i-shape.md, {key})")
    tell(f"shapes: {'; '.join(question.shapes)}")
    folder = out / "advice"
    folder.mkdir(parents=True, exist_ok=True)
    rows = folder / f"{file.stem}-{question.digest}.jsonl"
    try:
        with terminated_as_interrupted():
            given = {"budget": seconds, "out": rows, "told": tell, "traceback": traceback}
            found = advise(question.train, question.shapes, question.baselines, **given)
    except KeyboardInterrupt:
        raise Stopped(f"stopped; the scores so far are in {rows}. The same command goes on.") from None
    page = folder / f"{file.stem}-{question.digest}-race.html"
    write_race(page, file.stem, found.advice, found.plan, found.scores, "score", question.code, data=question.data)
    last = [f"It took {found.advice.runs} runs; their scores: {rows}", f"To train with: {question.code[found.shape]}"]
    if question.data:
        last.insert(0, f"The data: {question.data}")
    scores = {score for each in found.scores.values() for score in each.values()}
    if len(scores) == 1:
        last.insert(
            0, f"Every run scored {scores.pop():g}: nothing was told apart. Does train() return what it measured?"
        )
    data = {
        "data": question.data,
        "branches": dict(question.branches),
        "scores": str(rows.absolute()),
        "shape": question.code[found.shape],
    }
    _told(found, last, data, page, as_json)


def _told(found: Any, last: list[str], data: dict[str, Any], page: Path, as_json: bool) -> None:
    from lopsided.report.advice import as_json as as_data
    from lopsided.report.advice import words

    if as_json:
        print_json({**as_data(found.advice), **data, "report": str(page.absolute())})
        return
    for line in (*words(found.advice, found.plan.looks[-1]), *last, f"Report: {page}"):
        print(line)


def _goal(text: str) -> Goal:
    from lopsided.advising.advice import Goal

    metric, equals, value = text.partition("=")
    try:
        at = float(value)
    except ValueError:
        at = float("nan")
    if (
        not equals
        or metric not in ("test/accuracy", "test/loss")
        or not 0 < at < float("inf")
        or ("accuracy" in metric and at > 1)
    ):
        raise InputError(f"--target {text!r}: valid is an accuracy up to 1, or a loss: test/accuracy=.9, test/loss=.1")
    return Goal(metric, at)

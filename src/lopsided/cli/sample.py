"""`lopsided sample`: what a task looks like, and data sets for other people's trainers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lopsided.cli.options import Json
from lopsided.core.errors import InputError
from lopsided.report.as_json import print_json


def sample(
    task: str,
    /,
    *,
    n: Annotated[int, Parameter(name="-n")] = 10,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", consume_multiple=True, negative="")] = (),
    law: str | None = None,
    rank_order: str = "random",
    split: str = "train",
    seed: int = 0,
    file: Annotated[Path | None, Parameter(name="--export")] = None,
    tokens: str | None = None,
    as_json: Json = False,
) -> None:
    """Print samples of a task as text, with answers, skills and ranks; or write a data set for another trainer.

    Parameters
    ----------
    task
        Name of a task, for example arithmetic; or a Python file that registers one (FILE.py, or FILE.py:NAME).
    n
        Samples to print.
    set_
        Fields of the task: key=value, for example --set ops=2 n=20.
    law
        How often skills occur: uniform, power-law:1.0, binned-power-law:1.5:4.
    rank_order
        Which skill has which rank: random, lexicographic or reversed.
    split
        train, or test for what training never draws.
    seed
        Seed of the samples, the rank order, and the world of tasks that have one.
    file
        Write a .parquet or .jsonl file of text instead; running the command again goes on where it stopped.
    tokens
        Size of that file, for example 10M.
    as_json
        Print one JSON document on stdout, nothing else.
    """
    from lopsided.export.samples import asked_for, records

    asked = asked_for(task, set_, law, rank_order, split, seed)
    if (file is None) != (tokens is None):
        raise InputError("--export FILE and --tokens NUMBER go together, for example --export train.jsonl --tokens 10M")
    if file is not None and tokens is not None:
        from lopsided.export.export import export, token_number

        tell = lambda done: print(f"{done.documents:,} documents, {done.tokens:,} tokens", file=sys.stderr)
        done = export(asked, file, token_number(tokens), tell)
        if as_json:
            print_json({"file": str(file.absolute()), "documents": done.documents, "tokens": done.tokens})
        else:
            print(f"{file}: {done.documents:,} documents, {done.tokens:,} tokens")
        return
    if not 1 <= n <= 100_000:
        raise InputError(f"-n {n}: from 1 to 100,000; larger sets are written with --export")
    found = records(asked, 0, n)
    if as_json:
        print_json({**asked.describe(), "samples": found})
        return
    from lopsided.report.terminal import samples

    samples(found)

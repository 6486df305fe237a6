"""What `lopsided advise` is asked: a program or a table of somebody's, read."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lopsided.advising.any_training import require_names
from lopsided.advising.branches import branches_of
from lopsided.core.code import function_digest
from lopsided.core.errors import InputError
from lopsided.core.spec import Spec
from lopsided.data.candidates import candidates
from lopsided.data.groups import Groups
from lopsided.data.stream import Stream
from lopsided.discovery.tables import column, number_of_rows, of_table
from lopsided.shape.shape import Shape, factors
from lopsided.study.targets import program

SAID = 8
"""Skills that a line has room for."""


@dataclass(frozen=True)
class RaceQuestion:
    """What a race of somebody's own training needs."""

    train: Callable[[Any, int], Any]
    shapes: Mapping[str, Any]
    baselines: tuple[str, ...]
    code: Mapping[str, str]
    """What to paste for each shape."""
    digest: str
    """Names program (with the files that it imports), data and shapes: scores of other ones are never mixed in."""
    data: str = ""
    """How many rows and skills the table has, as a sentence; empty if there is no table."""
    branches: Mapping[str, str] = field(default_factory=dict)
    """Branches of "Should I shape my data?" that these data are in, and what says so."""


def from_program(path: Path) -> tuple[Spec] | RaceQuestion:
    """What a Python file asks: it defines `spec`, or `train(shape, seed)` and `shapes` by name (and `baselines`, if
    they are not "uniform" or the first shape)."""
    module = vars(program(path, "program"))
    spec, train, shapes = module.get("spec"), module.get("train"), module.get("shapes")
    if isinstance(spec, Spec):
        return (spec,)
    if not callable(train) or not isinstance(shapes, Mapping) or not shapes:
        raise InputError(
            f"program {str(path)!r}: has to define `spec`, a lopsided.Spec, or `train(shape, seed)` and `shapes`, a "
            "dictionary; for a table, give the table and --train"
        )
    require_names(shapes)
    base = module.get("baselines") or ("uniform" if "uniform" in shapes else next(iter(shapes)))
    baselines = (base,) if isinstance(base, str) else tuple(base)
    _require_two(train, path, "train(shape, seed)")
    code = {str(name): repr(shape) for name, shape in shapes.items()}
    digest = _digest(path.read_bytes(), code, function_digest(train))
    return RaceQuestion(train, dict(shapes), baselines, code, digest)


def from_table(table: Path, path: Path, skill: str | None, samples: int, text: str | None = None) -> RaceQuestion:
    """Shapes of the rows of a table, for the `train(stream, seed)` that a Python file defines. Skills are those that a
    column names, or those that are found in a column of texts."""
    groups, data = _read(table, skill) if text is None else _found(table, text)
    shapes = candidates(groups, samples)
    train = vars(program(path, "program")).get("train")
    if not callable(train):
        raise InputError(f"program {str(path)!r}: has to define train(stream, seed)")
    _require_two(train, path, "train(stream, seed)")
    given, said = (
        ("groups", "") if text is None else ("ld.Groups(ld.discover(texts).names)", f"  # the column {text!r}")
    )
    code = {name: f"ld.Stream({given}, {_pasted(shape)}, {samples}){said}" for name, shape in shapes.items()}
    with table.open("rb") as file:
        rows = hashlib.file_digest(file, "sha256").hexdigest()
    return RaceQuestion(
        lambda shape, seed: train(Stream(groups, shape, samples, seed=seed), seed),
        shapes,
        tuple(name for name in ("as is", "uniform") if name in shapes),
        code,
        _digest(path.read_bytes(), code, skill or text, rows, function_digest(train)),
        data,
        branches_of(groups),
    )


def _require_two(train: Callable[..., Any], path: Path, form: str) -> None:
    """Raise `InputError` if `train` cannot be called with two arguments. `form` is how it should look."""
    try:
        inspect.signature(train).bind(None, 0)
    except TypeError as error:
        raise InputError(f"program {str(path)!r}: has to define {form}: {error}") from None
    except ValueError:  # a function of C says nothing of its arguments
        return


def _read(table: Path, skill: str | None) -> tuple[Groups | int, str]:
    """The rows of a table by the skills that a column names, or their number; and how many rows and skills there are,
    in words, so that a wrong column is seen at once."""
    if skill is None:
        if (rows := number_of_rows(table)) < 2:
            raise InputError(f"table {str(table)!r}: has one row; there is nothing to shape")
        return rows, f"{rows:,} rows"
    values = column(table, skill)
    unlabelled = sum(value is None or value == [] for value in values)
    if unlabelled or any(isinstance(value, list) for value in values):  # a list without labels is "unknown"
        values = [value if isinstance(value, list) else [] if value is None else [value] for value in values]
    try:
        groups = Groups(values)
    except InputError as error:
        raise InputError(f"table {str(table)!r}, column {skill!r}: {error}") from None
    if groups.n_skills < 2 or groups.n_skills == groups.n_examples:
        what = "one skill" if groups.n_skills < 2 else "as many skills as rows"
        raise InputError(
            f"table {str(table)!r}, column {skill!r}: {what}; a shape says how often skills come, which several rows "
            "share. Leave --skill out to try subsets alone"
        )
    said = f"{groups.n_examples:,} rows, {groups.n_skills:,} skills"
    return groups, f"{said}; the last skill is the {unlabelled:,} rows without a label" if unlabelled else said


def _found(table: Path, text: str) -> tuple[Groups | int, str]:
    """The rows of a table by the skills that are found in a column of texts, or their number if there are none; and
    which these are and how sure that is, in words."""
    found = of_table(table, text, None, None, 0)
    if not found.skills:
        return len(found.labels), f"{len(found.labels):,} rows; {found}: only small subsets are tried"
    names = ", ".join(f"{skill.name!r} ({skill.size:,})" for skill in found.skills[:SAID])
    more = f", and {len(found.skills) - SAID} more" if len(found.skills) > SAID else ""
    said = f"{len(found.labels):,} rows, {len(found.skills)} skills found in column {text!r}"
    return Groups(found.names), f"{said} (halves of the rows agree about them by {found.agreement:.2f}): {names}{more}"


def _pasted(shape: Shape) -> str:
    """With `import lopsided.data as ld`."""
    return " & ".join(f"ld.{factor!r}" for factor in factors(shape))


def _digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

"""Errors that a user can cause, each phrased as one line: field, value, what would be valid."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, ClassVar

LONG = 300
"""Characters up to which an error message lists all valid names."""
FEW = 8
"""Names that it lists at most where all of them would be longer."""


class InputError(ValueError):
    """A mistake in what the user asked for.

    The command line prints its message as one line and exits with code 2; nothing has been written by then.

    >>> import lopsided as lop
    >>> try:
    ...     lop.tasks.SparseParity(d=3, k=5)
    ... except ValueError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __init__(self, message: str):
        super().__init__(" ".join(message.split()))


class StoreError(InputError):
    """A folder that cannot be read or written; what was committed before is intact."""


class MissingData(Exception):
    """Rows do not hold what a claim or a figure needs: a metric that was not measured, too few evaluations."""


class Stopped(Exception):
    """A requested stop: everything computed is committed. Its text, if it has one, says what else goes on."""

    exit_code: ClassVar[int] = 130
    """Exit code of a process that stops so: 128 and the number of the signal that asked, which `work.signals` adds."""
    by_signal: ClassVar[bool] = False
    """Whether a signal asked."""


def require_numbers(**values: object) -> None:
    """Raise `InputError` for the first value that is no number: a text, a list, True or False."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InputError(f"{name} = {value!r}: a number")


def require_whole(**values: object) -> None:
    """Raise `InputError` for the first value that is no whole number."""
    for name, value in values.items():
        if whole(value) is None:
            raise InputError(f"{name} = {value!r}: a whole number")


def whole(value: Any) -> int | None:
    """The whole number that a value is, NumPy's, JAX's and PyTorch's too; None for True, 2.0 and anything else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def unknown(what: str, name: object, valid: Iterable[str]) -> InputError:
    """An unknown name, with the nearest valid one, and the choice: of a long one, a few names if none is near."""
    choice = sorted(valid)
    near = difflib.get_close_matches(str(name), choice, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    plain = not any("," in each for each in choice)
    shown = choice if plain else [repr(each) for each in choice]  # a name with commas would end at the first of them
    said = f" Valid: {', '.join(shown) or 'none'}."
    if len(said) > LONG:
        said = "" if near else f" Valid: {_first_of(shown)}."
    return InputError(f"unknown {what} {str(name)!r}.{hint}{said}")


def _first_of(names: Sequence[str]) -> str:
    """A few names, no more than fit into one line of the terminal or two, and how many more there are."""
    few = next((n for n in range(FEW, 1, -1) if len(", ".join(names[:n])) <= LONG), 1)
    left = len(names) - min(few, len(names))
    return ", ".join(names[:few]) + (f" and {left} more" if left else "")

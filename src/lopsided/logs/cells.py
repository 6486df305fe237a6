"""Cells of logs as numbers, in the ways that people and programs write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

NUMBERS = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf, "infinity": np.inf, "-infinity": -np.inf}
EMPTY = frozenset({"", "na", "n/a", "<na>", "none", "null"})
"""Words of cells that hold nothing. NaN is no such word: it is a value."""
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
"""63,592.7: groups of thousands."""
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")


def is_empty(cell: Any) -> bool:
    """Whether a cell holds nothing: it is not evaluated there."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in EMPTY)


def first_filled(cells: Sequence[Any]) -> Any:
    """The first cell that holds something; None if there is none."""
    return next((cell for cell in cells if not is_empty(cell)), None)


def numbers(column: Sequence[Any]) -> np.ndarray | None:
    """A column as numbers, NaN where it is empty; None if it holds anything else, or nothing."""
    try:
        found = np.array([np.nan if cell is None or cell == "" else cell for cell in column], np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.empty((0, 0))
    if found.ndim != 1:  # a list in every cell would make a table
        each = [np.nan if is_empty(cell) else number(cell) for cell in column]
        if any(value is None for value in each):
            return _as_written(column)
        found = np.array(each, np.float64)
    return found if np.isfinite(found).any() or first_filled(column) is not None else None


def number(cell: Any) -> float | None:
    """A cell as a number; None for anything else."""
    if isinstance(cell, str) and cell.strip().lower() in NUMBERS:
        return NUMBERS[cell.strip().lower()]
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
    except OverflowError:  # a whole number of hundreds of digits; as a text it would be infinite
        return -np.inf if isinstance(cell, int) and cell < 0 else np.inf


def _as_written(column: Sequence[Any]) -> np.ndarray | None:
    """A column of texts as numbers, where it can be told how they are written: 63,592.7 or 3,25 or 91.5 %. None where
    it cannot: 3,250 may be either."""
    written = [cell.strip() if isinstance(cell, str) else str(cell) for cell in column]
    texts = [text.removesuffix("%").strip() for text in written]
    there = [i for i, cell in enumerate(column) if not is_empty(cell)]
    if len({written[i].endswith("%") for i in there}) > 1:  # 0.5 and 91 % are of two kinds
        return None
    filled = [texts[i] for i in there]
    commas = [text for text in filled if "," in text]
    if not all(number(text) is not None for text in filled if "," not in text):
        return None
    if commas and all(map(GROUPED.fullmatch, commas)) and any("." in t or t.count(",") > 1 for t in filled):
        plain = [text.replace(",", "") for text in texts]
    elif commas and all(map(DECIMAL_COMMA.fullmatch, commas)) and not all(map(GROUPED.fullmatch, commas)):
        plain = [text.replace(",", ".") for text in texts]
    elif not commas:
        plain = texts
    else:
        return None
    each = [np.nan if is_empty(cell) else number(text) for cell, text in zip(column, plain, strict=True)]
    return np.array(each, np.float64)

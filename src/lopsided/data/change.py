"""Going on with another law or other data: who has had how many turns, and what an epoch still has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.epochs import Epochs, Members
from lopsided.data.groups import Groups
from lopsided.data.segment import Segment, Settings, Standing
from lopsided.data.turns import Carried
from lopsided.data.words import U, bits, key


def go_on(old: Segment, settings: Settings) -> Segment:
    """The segment that follows `old` from position `settings.begin` on.

    Turns go on. A cell whose examples and subset stay as they are goes on with its epoch; in any other, the examples
    that did not come in their epoch come first, new ones among them, and then whole epochs of all. Raises `InputError`
    for what cannot be done.
    """
    number = old.number + 1
    if old.replacement:
        return Segment(settings, old.seed, True, number)
    stands = old.standing(settings.begin - old.settings.begin, settings.cap is not None)
    change = _change(old, settings, stands)
    # Subsets come with the schedule of the segment, which knows nothing of what was before.
    subset = Segment(settings._replace(cap=None), old.seed, False).schedule.subset[0]
    start = Standing(_carried(stands, change), _epochs(old, stands, change, subset, number), _visits(stands, change))
    return Segment(settings, old.seed, False, number, start)


class ChangedData(NamedTuple):
    """Old data against new: N, C of the old, N', C' of the new."""

    groups: Groups | int
    was: np.ndarray | None
    """(N',) index that each example had, -1 for a new one; None where the data are the same."""
    of: np.ndarray
    """(C',) number that each cell had, -1 for a new one."""
    members: Members


def _change(old: Segment, settings: Settings, stands: Standing) -> ChangedData:
    groups = settings.groups
    if settings.same is None and (groups is old.groups or (isinstance(groups, int) and groups == old.groups)):
        return ChangedData(groups, None, np.arange(old.cells), stands.epochs.members)
    n = groups if isinstance(groups, int) else groups.n_examples
    n_before = len(stands.epochs.members.example)
    was = np.arange(n) if settings.same is None else _indices(settings.same, n, n_before)
    was = np.where(was < n_before, was, -1)
    if isinstance(groups, int) or isinstance(old.groups, int):
        of = np.array([0]) if isinstance(groups, int) and isinstance(old.groups, int) else -np.ones(_cells(groups), int)
    else:
        number = {int(word): i for i, word in enumerate(old.groups.ident)}
        of = np.array([number.get(int(word), -1) for word in groups.ident])
    return ChangedData(groups, was, of, _members(groups, old.seed))


def _indices(same: object, n: int, n_before: int) -> np.ndarray:
    found = np.asarray(same)
    if found.shape != (n,) or found.dtype.kind not in "iu" or (found < -1).any() or (found >= n_before).any():
        raise InputError(
            f"same: for each of the {n:,} examples the index that it had, 0 to {n_before - 1:,}, or -1 for a new one"
        )
    if (np.bincount(found[found >= 0], minlength=1) > 1).any():
        raise InputError("same: two examples had one index")
    return found.astype(np.int64)


def _cells(groups: Groups | int) -> int:
    return 1 if isinstance(groups, int) else groups.n_cells


def _members(groups: Groups | int, seed: int) -> Members:
    if isinstance(groups, Groups):
        return groups.members(seed)
    order = np.lexsort((bits(key(seed, "member order"), np.arange(groups, dtype=U)),)).astype(np.uint32)
    return Members(order, np.array([0, groups]))


def _carried(stands: Standing, change: ChangedData) -> Carried:
    known = change.of >= 0
    level, turns = (np.where(known, x[change.of], 0) for x in stands.carried)
    return Carried(level.astype(float), turns.astype(np.int64))


def _visits(stands: Standing, change: ChangedData) -> np.ndarray | None:
    if stands.visits is None or change.was is None:
        return stands.visits
    return np.where(change.was >= 0, stands.visits[change.was], 0)


def moved(values: np.ndarray, settings: Settings) -> np.ndarray:
    """(N',) of values (N,) of the examples before a change those of the examples after it, 0 for new ones."""
    n = settings.groups if isinstance(settings.groups, int) else settings.groups.n_examples
    was = np.arange(n) if settings.same is None else np.asarray(settings.same)
    return np.where((was >= 0) & (was < len(values)), values[np.clip(was, 0, len(values) - 1)], 0)


def _epochs(old: Segment, stands: Standing, change: ChangedData, subset: np.ndarray, number: int) -> Epochs:
    """Epochs of the first phase of the new segment; `subset` (C',) examples that are drawn from."""
    epochs, turns = stands.epochs, stands.carried.turns
    if change.was is None and (subset == epochs.size).all():
        return epochs
    ident = change.groups.ident if isinstance(change.groups, Groups) else np.zeros(1, U)
    salt = bits(key(old.seed, "epochs", number, 0), ident)
    begin = np.where(change.of >= 0, turns[change.of], 0)
    kept = _kept(epochs, change, old) & (subset == epochs.size[change.of])
    example, begins = change.members
    visited = epochs.visited(turns)
    came = visited if change.was is None else (change.was >= 0) & visited[change.was]
    sizes = np.diff(begins)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    last = came[example] & ~kept[cell]
    rest = np.minimum(np.bincount(cell[~last], minlength=len(sizes)), subset)
    rest = np.where(rest == 0, subset, rest)
    if last.any():  # what came in this epoch is behind what did not
        example = example[np.lexsort((last, cell))]
    return Epochs(
        epochs.key,
        np.where(kept, epochs.salt[change.of], salt),
        np.where(kept, epochs.begin[change.of], begin),
        np.where(kept, epochs.rest[change.of], rest),
        subset,
        Members(example, begins),
    )


def _kept(epochs: Epochs, change: ChangedData, old: Segment) -> np.ndarray:
    """(C',) whether a cell has the examples that it had, in the order that it had."""
    if change.was is None:
        return np.ones(len(change.of), bool)
    example, begins = change.members
    sizes, before = np.diff(begins), np.diff(epochs.members.begins)
    kept = (change.of >= 0) & (sizes == before[change.of])
    cell = np.repeat(np.arange(len(sizes)), sizes)
    at = np.where(kept[cell], epochs.members.begins[change.of[cell]] + np.arange(len(cell)) - begins[cell], 0)
    same = change.was[example] == epochs.members.example[at]
    return kept & (np.bincount(cell[~same], minlength=len(sizes)) == 0)

"""How many turns a cell may have so that none of its examples comes more often than a cap allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.turns import Turns

if TYPE_CHECKING:
    from lopsided.data.segment import Standing

LOOKED = 64
"""Larger caps that are tried, to say which one can be met."""


def room_of(turns: Turns, cap: float, start: Standing | None) -> np.ndarray | None:
    """(P, C) turns of each cell in each phase, with which no example comes more than `cap` times; a cap that is no
    whole number is rounded down where that leaves room for all samples, else up. None where even then a few are
    missing, which rounding of the law does: 1e-9 of a cap. Raises `InputError` where whole epochs of several phases
    leave too little."""
    tried = sorted({float(np.floor(cap)), float(np.ceil(cap))})
    for whole in tried:
        room = _room(turns, whole, start)
        if room is not None:
            return room
    if turns.schedule.phase[-1] == 0 and start is None:
        return None
    fits = next((c for c in np.arange(1, LOOKED) + tried[-1] if _room(turns, c, start) is not None), None)
    can = "" if fits is None else f"; {fits:g} can be met"
    raise InputError(f"cap = {cap:g}: whole epochs of the phases, and what came before, leave too few samples{can}")


def _room(turns: Turns, cap: float, start: Standing | None) -> np.ndarray | None:
    """None where the rooms hold fewer samples than the run has."""
    s = turns.schedule
    phases = int(s.phase[-1]) + 1
    most = 2.0**62 if not np.isfinite(cap) else cap
    drawn = s.expected() > 0
    had, rest, worst = (np.zeros(len(drawn)), np.zeros(len(drawn)), np.zeros(len(drawn)))
    if start is not None and start.visits is not None:
        had, rest, worst = _before(start)
    found, given = np.zeros((phases, len(drawn)), np.int64), 0.0
    for p in range(phases):
        size = np.maximum(s.subset[s.phase == p][0], 1).astype(float)
        room = rest * (had < most) + size * np.maximum(most - worst, 0)
        found[p] = np.minimum(room * drawn, 2.0**61)
        last = p == phases - 1
        begin, end = turns.before(p), np.inf if last else turns.before(p + 1)
        n = np.minimum(found[p], float(s.total) if last else end - begin)
        given += float(n.sum())
        worst = worst + np.ceil(np.maximum(n - rest, 0) / size)
        rest, had = np.zeros(len(drawn)), worst
    return found if given >= s.total else None


def _before(start: Standing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three arrays (C,) of cells: most visits of the examples that the cell's epoch still has, how many these are, and
    the most visits of any of the cell's examples once that epoch is over."""
    assert start.visits is not None
    epochs, turns = start.epochs, start.carried.turns
    since, length = epochs.this_epoch(turns)
    example, begins = epochs.members
    sizes = np.diff(begins)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(len(example)) - begins[cell]
    visits = start.visits[example]
    fresh = (rank < length[cell]) & ~epochs.visited(turns)[example]
    of_fresh, of_all = np.zeros(len(sizes)), np.zeros(len(sizes))
    np.maximum.at(of_fresh, cell[fresh], visits[fresh])
    inside = rank < epochs.size[cell]
    np.maximum.at(of_all, cell[inside], visits[inside])
    rest = (length - since).astype(float)
    return of_fresh, rest, np.maximum(of_all, np.where(rest > 0, of_fresh + 1, 0))

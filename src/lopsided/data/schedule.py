"""A shape over given examples and a given length, as stages of constant weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.groups import Groups
from lopsided.data.words import U, bits, key, unit
from lopsided.shape.laws import AsIs, Uniform
from lopsided.shape.phases import Phases
from lopsided.shape.shape import Shape, factors

# Proportional fitting of cells to the frequencies of skills: it ends where they are right to a millionth in all, or
# after so many rounds where no weights reach them (`describe` says how far off they are).
ROUNDS = 500
CLOSE = 1e-6
"""Difference of frequencies, summed over skills, at which a fit ends: a million draws could not show it."""


class Stages(NamedTuple):
    """S stages, C cells."""

    start: np.ndarray  # (S,) first position of each stage
    begin: np.ndarray  # (S,) the share of the run at which it begins, as the shape says it
    end: np.ndarray  # (S,) and at which it ends
    weight: np.ndarray  # (S, C) how often each cell comes, summing to 1
    subset: np.ndarray  # (S, C) examples of each cell that are drawn from
    phase: np.ndarray  # (S,) number of the subset that a stage draws from
    phase_start: np.ndarray  # (S,) first position of that phase
    base: np.ndarray  # (S, C) expected samples of each cell before the stage
    total: int

    def expected(self) -> np.ndarray:
        """(C,) samples of each cell in the whole run."""
        return self._length() @ self.weight

    def epochs(self) -> np.ndarray:
        """(C,) how often the examples of each cell come that are drawn most."""
        return self._length() @ (self.weight / np.maximum(self.subset, 1))

    def _length(self) -> np.ndarray:
        return np.diff(np.append(self.start, self.total)).astype(float)


def schedule(groups: Groups | int, shape: Shape, total: int, seed: int, cap: float | None) -> Stages:
    """Raises `InputError` for a shape that leaves nothing to draw, or a cap that cannot be met."""
    edges = np.array(sorted({float(e) for e in shape.edges()}))
    rounded = np.round(edges * total).astype(np.int64)
    start = np.unique(rounded[rounded < total])
    # A shape is asked at its own edges: the share of a rounded position may lie on either side of one.
    begin = edges[np.searchsorted(rounded, start, side="right") - 1]
    end = np.append(begin[1:], 1.0)
    sizes = np.array([groups]) if isinstance(groups, int) else groups.cell_size
    examples = int(sizes.sum())
    # A random number for each cell rounds the size of its subset.
    offset = unit(bits(key(seed, "offset"), np.zeros(1, U) if isinstance(groups, int) else groups.ident))
    shares = np.array([shape.subset(float(share), examples, total) for share in begin])
    weight = _weights(groups, shape, begin, end, seed)
    subset = np.clip(np.floor(shares[:, None] * sizes + offset), np.minimum(sizes, 1), sizes).astype(np.int64)
    phase = np.cumsum(np.concatenate([[0], np.diff(shares) != 0])).astype(int)
    length = np.diff(np.append(start, total)).astype(float)
    if cap is not None:
        weight = _capped(weight, length, subset, float(cap))
    phase_start = np.array([start[phase == p][0] for p in phase])
    base = np.zeros_like(weight)
    np.cumsum(length[:-1, None] * weight[:-1], 0, out=base[1:])
    return Stages(start, begin, end, weight, subset, phase, phase_start, base, total)


def _weights(groups: Groups | int, shape: Shape, begins: np.ndarray, ends: np.ndarray, seed: int) -> np.ndarray:
    if isinstance(groups, int):
        _require_no_law(shape)
        return np.ones((len(begins), 1))
    found, tilt = [], np.zeros(groups.n_skills)
    for begin, end in zip(begins, ends, strict=True):
        skills = shape.weights(groups, float(begin), float(end), seed)
        if skills is None and groups.uses is not None:
            found.append(groups.cell_size / groups.n_examples)
            continue
        skills = groups.size.astype(float) if skills is None else skills
        target = _target(skills, groups, float(begin))
        if groups.mean_length is not None:  # shares of tokens, as shares of samples
            target = target / groups.mean_length
            target /= target.sum()
        if groups.uses is None:
            found.append(target)
        else:
            weight, tilt = _tilted(groups, target, tilt)
            found.append(weight)
    return np.stack(found)


def _require_no_law(shape: Shape) -> None:
    """Raise `InputError` for a law over skills where there are none."""
    for factor in factors(shape):
        if not isinstance(factor, AsIs | Uniform | Phases):
            raise InputError(f"shape: {factor!r} is a law over skills; give Groups(labels), not a number of examples")


def _target(skills: np.ndarray, groups: Groups, at: float) -> np.ndarray:
    """(R,) summing to 1; 0 for skills without examples."""
    if not np.isfinite(skills).all() or (skills < 0).any():
        raise InputError(f"weights: have to be numbers of at least 0, at {at:.3g} of the run they are not")
    present = np.where(groups.size > 0, skills, 0.0)
    if present.max() > 1e300:
        present = present / present.max()  # their sum may be infinite
    if present.sum() <= 0:
        raise InputError(f"weights: at {at:.3g} of the run no skill that has examples has a weight")
    return present / present.sum()


def _tilted(groups: Groups, target: np.ndarray, tilt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where examples need several skills: cells as often as their size times exp(sum of their skills' tilts), fitted
    so that the skills that samples need have the target frequencies (generalised iterative scaling). What cannot be
    reached is come as close to as it gets; `Stream.describe` says how close."""
    assert groups.uses is not None
    wanted = target > 0
    blocked = groups.uses.of_skills((~wanted).astype(float)) > 0  # a cell with an unwanted skill is not drawn
    if (blocked | (groups.cell_size == 0)).all():
        blocked[:] = False
    most = groups.uses.most
    for _ in range(ROUNDS):
        weight = groups.cell_size * np.exp(np.clip(groups.uses.of_skills(tilt), -60, 60)) * ~blocked
        weight /= weight.sum()
        found = groups.occurrences(weight)
        step = np.where(wanted & (found > 0), np.log(np.maximum(target, 1e-300) / np.maximum(found, 1e-300)), 0.0)
        tilt = tilt + step / most
        if np.abs(np.where(wanted, found - target, 0)).sum() < CLOSE:
            break
    return weight, tilt


def _capped(weight: np.ndarray, length: np.ndarray, subset: np.ndarray, cap: float) -> np.ndarray:
    """No cell's examples come more than `cap` times; what is taken from it goes to the others in proportion
    (water-filling, as UniMax does)."""
    if not cap > 0:
        raise InputError(f"cap = {cap:g}: epochs per example, above 0")
    full = np.zeros(weight.shape[1], bool)
    for _ in range(weight.shape[1] + ROUNDS):
        epochs = length @ (weight / np.maximum(subset, 1))
        over = epochs > cap * (1 + 1e-9)
        if not over.any():
            return weight
        scale = np.where(over, cap / np.maximum(epochs, 1e-300), 1.0)
        full |= over
        weight = weight * scale
        rest = weight[:, ~full].sum(1)
        if (rest <= 0).any():
            break
        missing = 1 - weight.sum(1)
        weight[:, ~full] *= (1 + missing / rest)[:, None]
    least = float(length.sum() / subset[-1].sum())
    raise InputError(
        f"cap = {cap:g}: cannot be met; this shape needs more of its examples (all of them: {least:.3g} epochs)"
    )

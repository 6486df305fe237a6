"""What a shape does to given data, before anything is trained."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lopsided.core.errors import InputError, require_numbers
from lopsided.data.groups import Groups
from lopsided.data.stream import Stream
from lopsided.shape.laws import Weights
from lopsided.shape.shape import Shape, factors

FEW = 0.02
"""Share of the examples below which a run would be one of the few: a warning, no limit."""
MANY = 10**6
"""Samples over which the mean is taken: enough that no stretch of a shape is rounded away."""
SHOWN = 8
"""Rows shown of either end of a long table."""
LONGEST = 40
"""Letters of a name in the table, so that a row fits a terminal of 80."""
NAMED = 5
"""Skills that a warning names."""


class Expected(NamedTuple):
    """What comes in a run, by cell (C,): samples, and how often the examples come that come most."""

    samples: np.ndarray
    epochs: np.ndarray


def expected(stream: Stream) -> Expected:
    """What comes from the beginning of the stream to its end; after a change of law or data counted, not expected."""
    if (visits := _counted(stream)) is None:
        return Expected(stream.schedule.expected(), stream.schedule.epochs())
    groups = stream.groups
    if isinstance(groups, int):
        return Expected(np.array([visits.sum()], float), np.array([visits.max()], float))
    most = np.zeros(groups.n_cells)
    np.maximum.at(most, groups.cell, visits)
    return Expected(np.bincount(groups.cell, visits, groups.n_cells), most)


def _counted(stream: Stream) -> np.ndarray | None:
    """(N,) how often each example comes in a stream whose law or data change on the way, of which no schedule knows the
    whole; None for others."""
    return stream.visits(stream.total).astype(float) if len(stream.segments) > 1 else None


def effective_share(stream: Stream) -> float:
    """Share of the examples that the run would use as much of, if all came equally often: (sum visits)² / sum
    visits², over the number of examples.

    >>> import lopsided.data as ld
    >>> groups = ld.Groups(["a"] * 90 + ["b"] * 10)
    >>> float(round(ld.effective_share(ld.Stream(groups, ld.Uniform(), total=1000)), 2))
    0.36
    """
    if (visits := _counted(stream)) is not None:
        return float(visits.sum() ** 2 / (visits**2).sum() / stream.n_examples)
    s = stream.schedule
    length = np.diff(np.append(s.start, s.total)).astype(float)
    total = squares = 0.0
    for c in range(s.weight.shape[1]):
        ends = np.unique(np.concatenate([[0], s.subset[:, c]]))
        for low, high in pairwise(ends):  # examples that the same phases draw from
            visits = float((length * s.weight[:, c] / np.maximum(s.subset[:, c], 1) * (s.subset[:, c] >= high)).sum())
            total, squares = total + visits * (high - low), squares + visits**2 * (high - low)
    return total**2 / squares / stream.n_examples


def samples_for(tokens: float, groups: Groups, shape: Shape, seed: int = 0) -> int:
    """How many samples have as many tokens, on average: `total` of a `Stream` with this budget and without a cap (one
    changes frequencies: see `Stream.tokens`). Raises `InputError` if `groups` have no lengths.

    >>> import lopsided.data as ld
    >>> groups = ld.Groups(["short", "long"] * 50, lengths=[10, 30] * 50)
    >>> ld.samples_for(tokens=3000, groups=groups, shape=ld.Uniform())
    200
    """
    require_numbers(tokens=tokens)
    per_sample = Stream(groups, shape, MANY, seed).tokens / MANY
    if not per_sample <= tokens < np.inf:
        raise InputError(f"tokens = {tokens!r}: at least those of one sample, {per_sample:.3g}")
    return round(tokens / per_sample)


def exponent(counts: np.ndarray) -> float:
    """Exponent alpha, 0 to 20, of the power law p_r ∝ r^-alpha (r: rank by frequency) under which the counts (R,) of
    R skills are most likely.

    >>> import lopsided.data as ld
    >>> round(ld.exponent([1200, 600, 400, 300, 240]), 2)
    1.0
    """
    n = np.sort(np.asarray(counts, float))[::-1]
    if n.ndim != 1 or not np.isfinite(n).all() or (n < 0).any() or n.sum() == 0:
        raise InputError("counts: valid are numbers of at least 0, not all of them 0")
    log_rank = np.log(np.arange(1.0, len(n) + 1))
    mean = float((n * log_rank).sum() / n.sum())
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        p = np.exp(-middle * log_rank)
        low, high = (middle, high) if float((p * log_rank).sum() / p.sum()) > mean else (low, middle)
    return (low + high) / 2


def _off(stream: Stream, groups: Groups) -> float:
    """Where examples need several skills not every law can be reached: the largest total variation of any stage."""
    s, worst = stream.schedule, 0.0
    for weight, a, b in zip(s.weight, s.begin, s.end, strict=True):
        wanted = stream.shape.weights(groups, float(a), float(b), stream.seed)
        if wanted is not None:
            wanted = np.where(groups.size > 0, wanted, 0.0)
            worst = max(worst, float(np.abs(groups.occurrences(weight) - wanted / wanted.sum()).sum() / 2))
    return worst


def describe(stream: Stream) -> str:
    """A table of skills (the most and the least frequent ones) and what to think of."""
    share, counted = effective_share(stream), expected(stream)
    epochs, begin = counted.epochs, stream.segments[0].settings.begin
    lines = [f"{stream.total - begin:,} samples of {stream.n_examples:,} examples, seed {stream.seed}"]
    lines[0] += f", from position {begin:,} on" if begin else ""
    if changes := [f"{segment.settings.begin:,}" for segment in stream.segments[1:]]:
        lines[0] += f"; changed at {', '.join(changes)}, and counted with what comes before"
    if isinstance(stream.groups, Groups):
        lines += _skills(stream, stream.groups, counted)
    lines.append(
        f"the examples that come most are expected {epochs.max():.3g} times; the run uses as much as {share:.1%} of "
        "the data would"
    )
    if share < FEW:
        lines.append(
            f"warning: only {share:.1%} of the examples carry the run; a cap, or a smaller exponent, uses more"
        )
    return "\n".join(lines)


def _skills(stream: Stream, groups: Groups, come: Expected) -> list[str]:
    samples, epochs = come
    found = groups.occurrences(samples)
    uses = samples.sum() if groups.uses is None else float(groups.uses.of_cells(samples).sum())
    reuse = epochs if groups.uses is None else groups.uses.largest(epochs)
    counted = groups.size if groups.mean_length is None else groups.cell_size
    shown_names, wide = _short([str(name) for name in groups.names])
    head = f"{'skill':<{wide}}  examples       samples most visits"
    tokens = None if groups.mean_length is None else samples * groups.mean_length
    if tokens is not None:
        head += "      tokens     share"
    lines = [f"exponent of the data as it is: {exponent(groups.size):.2f}", head]
    order = np.argsort(-found)
    shown = order if len(order) <= 2 * SHOWN else np.concatenate([order[:SHOWN], order[-SHOWN:]])
    for i, k in enumerate(shown):
        if len(order) > 2 * SHOWN and i == SHOWN:
            lines.append(f"... {len(order) - 2 * SHOWN:,} more")
        line = f"{shown_names[k]:<{wide}}{counted[k]:>10,}{found[k] * uses:>14,.0f}{reuse[k]:>12.3g}"
        lines.append(line if tokens is None else f"{line}{tokens[k]:>12,.0f}{tokens[k] / tokens.sum():>10.3f}")
    if tokens is not None:
        lines.append(f"about {tokens.sum():,.0f} tokens; shapes are shares of them")
    if groups.uses is not None:
        lines.append(
            f"frequencies of skills are off the shape's by at most {_off(stream, groups):.3f} (total variation)"
        )
    lines += _missing(stream, groups, found, found * uses)
    return lines


def _short(names: list[str]) -> tuple[list[str], int]:
    """The names, long ones without their middle, and the width of their column."""
    cut = [name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-(LONGEST // 2 - 1) :]}" for name in names]
    return cut, max(12, *map(len, cut))


def _missing(stream: Stream, groups: Groups, share: np.ndarray, expected: np.ndarray) -> list[str]:
    """What will never come, or hardly, by name."""
    lines = []
    never, hardly = share == 0, (share > 0) & (expected < 1)
    if never.any():
        lines.append(f"{never.sum():,} of {groups.n_skills:,} skills never come: {_names(groups, never)}")
    if hardly.any():
        said = f"warning: {hardly.sum():,} of {groups.n_skills:,} skills are expected less than once"
        lines.append(f"{said}: {_names(groups, hardly)}")
    for factor in factors(stream.shape):
        if isinstance(factor, Weights) and isinstance(factor.given, Mapping):
            left_out = np.array([name not in factor.given for name in groups.names])
            if left_out.any():
                lines.append(f"warning: the weights do not name {_names(groups, left_out)}")
    return lines


def _names(groups: Groups, which: np.ndarray) -> str:
    named = [str(groups.names[k]) for k in np.flatnonzero(which)[:NAMED]]
    more = int(which.sum()) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")

"""Position in a run's one stream of samples -> index of an example: pure, random access, nothing stored but the
groups.

Batch size, accumulation, ranks and workers are layouts of the positions; the whole state of a run is one integer.
"""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lopsided.core.errors import InputError
from lopsided.data import state
from lopsided.data.change import go_on, moved
from lopsided.data.groups import Groups
from lopsided.data.permutation import LARGEST
from lopsided.data.recent import Recent
from lopsided.data.schedule import Stages
from lopsided.data.segment import Segment, Settings
from lopsided.data.words import bits, key
from lopsided.shape.shape import Shape, as_shape

AHEAD = 4096
"""Small requests are answered from so many positions, made at once."""
KEPT = 16
"""Blocks kept: a loader asks for the same few blocks again and again, one for each of its workers."""
LONGEST = 2**50
"""Positions are times, as floating-point numbers: beyond, turns of one cell would come at equal times."""


class Stream:
    """`shape` over `groups` (or over N examples without skills, given as a number) for `total` samples.

    *Stratified* (the default): at every time each skill has come as often as its expectation says, within 1; time is
    position but for a distance of about sqrt(skills / 6). So a batch holds nearly its expectation of each frequent
    skill. At every position of a phase the visits of a skill's examples differ by at most 1; their order is shuffled
    anew in every epoch. What comes before a position depends on nothing after it: streams of one seed are equal as long
    as their laws agree, whatever their totals and whatever other skills there are. With `replacement`, every sample is
    drawn on its own, as lopsided's plan `fixed` does.

    `cap`: how often an example comes at most, exactly for whole numbers; what a rare skill cannot give goes to the
    others in proportion. With `replacement`, a cap is kept on average. Raises `InputError` for what cannot be done.

    >>> import lopsided.data as ld
    >>> stream = ld.Stream(ld.Groups(["a"] * 90 + ["b"] * 10), ld.Uniform(), total=1000)
    >>> bool(abs((stream.at(range(200)) < 90).mean() - 0.5) < 0.02)
    True
    """

    def __init__(
        self,
        groups: Groups | int,
        shape: Shape,
        total: int,
        seed: int = 0,
        cap: float | None = None,
        replacement: bool = False,
    ):
        settings = Settings(_sound(groups), as_shape(shape), 0, total, cap)
        _require(settings)
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise InputError(f"seed = {seed!r}: a whole number")
        self.seed, self.replacement = int(seed), bool(replacement)
        self.segments: tuple[Segment, ...] = (
            Segment(settings._replace(total=int(total)), self.seed, self.replacement),
        )
        """The run so far, each change a segment."""
        self._ahead: Recent[np.ndarray] = Recent(KEPT)

    def then(
        self,
        shape: Shape | None = None,
        *,
        at: int,
        groups: Groups | int | None = None,
        total: int | None = None,
        cap: float | None = None,
        same: ArrayLike | None = None,
    ) -> Stream:
        """The stream that is this one before position `at`, and goes on with another law, other data or another length
        from there on; what is left out stays as it is.

        `shape` is over the rest of the run: its shares begin at `at` and end at `total`, positions of the whole run.
        `groups`: data with examples or skills more or fewer. Example i is the one that it was; `same`, (N',), says
        otherwise: the index that each example had, -1 for a new one. Visits go on: what has not come in its epoch comes
        first, new examples among it. A state of this stream is one of the new stream, up to `at`.

        >>> import lopsided.data as ld
        >>> stream = ld.Stream(ld.Groups(["a", "b"] * 50), ld.Uniform(), total=1000)
        >>> decay = stream.then(ld.Weights({"a": 0.9, "b": 0.1}), at=800)
        >>> bool((decay.at(range(800)) == stream.at(range(800))).all())
        True

        Raises `InputError` for a change before the last one, or behind the end.
        """
        last = self.segments[-1].settings
        settings = Settings(
            last.groups if groups is None else _sound(groups),
            last.shape if shape is None else as_shape(shape),
            at,
            last.total if total is None else total,
            last.cap if cap is None else cap,
            same,
        )
        if not isinstance(at, (int, np.integer)) or not max(1, last.begin) <= at <= last.total:
            since = f"the last change is at {last.begin:,}" if last.begin else "the run begins at 0"
            raise InputError(f"then: at = {at!r}: {since}, and the stream ends at {last.total:,}")
        _require(settings)
        if settings.total <= at:
            raise InputError(f"then: total = {settings.total:,}: positions of the whole run, above at = {at:,}")
        settings = settings._replace(begin=int(at), total=int(settings.total))
        found = copy.copy(self)
        for name in ("_names", "fingerprint"):  # the chain of changes is another one
            found.__dict__.pop(name, None)
        found.segments = (*self.segments, go_on(self.segments[-1], settings))
        found._ahead = Recent(KEPT)
        return found

    def from_last(self) -> Stream:
        """This stream for positions since its last change alone: what was before takes memory, and is read no more."""
        found = copy.copy(self)
        found.segments = self.segments[-1:]
        found._ahead = Recent(KEPT)
        return found

    @property
    def groups(self) -> Groups | int:
        """The data; after a change, those that come last."""
        return self.segments[-1].groups

    @property
    def shape(self) -> Shape:
        """The shape; after a change, the last one."""
        return self.segments[-1].settings.shape

    @property
    def cap(self) -> float | None:
        """How often an example comes at most."""
        return self.segments[-1].settings.cap

    @property
    def total(self) -> int:
        """Samples of the run."""
        return self.segments[-1].settings.total

    @property
    def n_examples(self) -> int:
        """Examples of the data."""
        return self.groups if isinstance(self.groups, int) else self.groups.n_examples

    @property
    def schedule(self) -> Stages:
        """The shape as stages; after a change, of what comes last."""
        return self.segments[-1].schedule

    def __len__(self) -> int:
        return self.total

    def at(self, positions: ArrayLike) -> np.ndarray:
        """Indices of the examples at these positions, as an array of the same shape (int64)."""
        n = np.asarray(positions)
        if n.size and n.dtype.kind not in "iu":  # an empty list is of floats
            raise InputError(f"positions: have to be integers, not {n.dtype}")
        flat = n.reshape(-1).astype(np.int64)
        least = self.segments[0].settings.begin  # of `from_last`
        if flat.size and (flat.min() < least or flat.max() >= self.total):
            wrong = flat.max() if flat.max() >= self.total else flat.min()
            raise InputError(f"position {wrong}: {least:,} to {self.total - 1:,}")
        return self._small(flat).reshape(n.shape) if 0 < flat.size <= AHEAD // 4 else self._at(flat).reshape(n.shape)

    def _small(self, n: np.ndarray) -> np.ndarray:
        """From positions made ahead, where all lie in one stretch of them."""
        first, last = int(n.min()) // AHEAD, int(n.max()) // AHEAD
        if first != last:
            return self._at(n)
        begin = max(first * AHEAD, self.segments[0].settings.begin)
        end = min((first + 1) * AHEAD, self.total)
        made = self._ahead.get(first, lambda: self._at(np.arange(begin, end)))
        return made[n - begin]

    def _at(self, n: np.ndarray) -> np.ndarray:
        if len(self.segments) == 1:
            return self.segments[0].at(n - self.segments[0].settings.begin)
        out = np.empty(n.shape, np.int64)
        begins = [segment.settings.begin for segment in self.segments]
        its = np.searchsorted(begins, n, side="right") - 1
        for i in np.unique(its):
            here = its == i
            out[here] = self.segments[i].at(n[here] - begins[i])
        return out

    def visits(self, position: int) -> np.ndarray:
        """(N,) how often each example comes before a position, without going through them."""
        state.position_in(self.total, position)
        found: np.ndarray | None = None
        for i, segment in enumerate(self.segments):
            begin, end = segment.settings.begin, min(position, segment.settings.total)
            if i + 1 < len(self.segments):
                end = min(end, self.segments[i + 1].settings.begin)
            if end < begin:
                break
            before = found
            found = segment.visits(end - begin)
            if before is not None:
                found += moved(before, segment.settings)
        assert found is not None
        return found

    def batch(self, step: int, batch: int, rank: int = 0, world: int = 1) -> np.ndarray:
        """Indices of a rank's part of the global batch of `batch` samples at a step."""
        state.require_part(step, batch, rank, world)
        begin = step * batch
        return self.at(np.arange(begin + rank * batch // world, begin + (rank + 1) * batch // world))

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that name the data's labels, the shape, its length, the seed and the options."""
        return self._names[-1]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Fingerprints of this stream before each of its changes, and now."""
        found: list[str] = []
        for segment in self.segments:
            groups, shape, begin, total, cap, same = segment.settings
            data: tuple[object, ...] = ()
            n = groups
            if isinstance(groups, Groups):
                g, n = groups, groups.n_examples
                numbers = [x if x is None else x.astype(float).tobytes() for x in (g.size, g.mean_length)]
                uses = None if g.uses is None else [x.tobytes() for x in (g.uses.cells, g.uses.skills, g.uses.counts)]
                data = g.cell.tobytes(), g.names, numbers, uses
            change = (found[-1], begin, None if same is None else np.asarray(same).tobytes()) if found else ()
            found.append(state.fingerprint(data, n, shape, total, self.seed, cap, self.replacement, *change))
        return tuple(found)

    def keys(self, positions: ArrayLike) -> np.ndarray:
        """64 random bits for each position, as an array of the same shape (uint64): seeds for augmentation, so that a
        run that goes on augments as one that was never stopped."""
        n = np.asarray(positions)
        if (n.size and n.dtype.kind not in "iu") or (n.size and not (n.min() >= 0 and n.max() < self.total)):
            raise InputError(f"positions: integers from 0 to {self.total - 1:,}")
        return bits(key(self.seed, "augmentation"), n.reshape(-1).astype(np.uint64)).reshape(n.shape)

    def state(self, position: int) -> dict[str, object]:
        """What a checkpoint has to hold: the next position, and which stream it belongs to. Raises `InputError` for
        what is no position of this stream."""
        return {"position": state.position_in(self.total, position), "stream": self.fingerprint, "order": state.VERSION}

    def position_of(self, found: dict[str, object], allow_other: bool = False) -> int:
        """The position of a `state` of this stream, or of what it was before a change, if it lies before that one.
        Raises `InputError` if it is of another stream, unless that is allowed."""
        ends = [*(segment.settings.begin for segment in self.segments[1:]), self.total]
        its = found.get("stream") if isinstance(found, dict) else None
        which = self._names.index(its) if its in self._names else -1
        return state.position_of(found, self._names[which], ends[which], allow_other)

    @property
    def tokens(self) -> float:
        """How many the run is expected to have. Raises `InputError` without `lengths` of the examples."""
        if not isinstance(self.groups, Groups) or self.groups.mean_length is None:
            raise InputError("tokens: not known; give Groups(labels, lengths=...)")
        from lopsided.data.describe import expected

        return float(expected(self).samples @ self.groups.mean_length)

    def describe(self) -> str:
        """How often skills and their examples come, before anything is trained."""
        from lopsided.data.describe import describe

        return describe(self)

    def __repr__(self) -> str:
        return f"Stream({self.groups!r}, {self.shape!r}, total={self.total:,}, seed={self.seed})"


def _sound(groups: Groups | int) -> Groups | int:
    """Raises `InputError` for what are no groups."""
    if isinstance(groups, np.integer):
        groups = int(groups)
    if isinstance(groups, bool) or not isinstance(groups, (Groups, int)):
        raise InputError(
            f"groups: a {type(groups).__name__} is none; valid are Groups(labels), or a number of examples"
        )
    examples = groups if isinstance(groups, int) else groups.n_examples
    if not 1 <= examples < LARGEST:
        raise InputError(f"groups: {examples:,} examples; between 1 and 2^31")
    return groups


def _require(settings: Settings) -> None:
    total = settings.total
    if not isinstance(total, (int, np.integer)) or not 1 <= total < LONGEST:
        raise InputError(f"total = {total!r}: samples of the run, between 1 and 2^50")
    cap = settings.cap
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, (int, float, np.number))):
        raise InputError(f"cap = {cap!r}: times that an example may come, a number")

"""Where runs end: last values of runs of different length are no comparison of arms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.api.curves import WHOLE, Ragged
from lopsided.core.telling import counted
from lopsided.stats.crossing import Track
from lopsided.stats.followed import dropped
from lopsided.stats.times import Times
from lopsided.stats.verdict import Decision

SHORT = "leave short runs out, or say that a rule of their own ended them (ends: own)"
REMEDY = f"ask for a goal (at), {SHORT}"


def uneven(arms: Sequence[Ragged]) -> tuple[str, ...]:
    """Say which runs are shorter than others of their arm, or which arm is shorter; () if all are of one length."""
    return tuple(filter(None, (arm.uneven for arm in arms))) or _apart(arms)


def _apart(arms: Sequence[Ragged]) -> tuple[str, ...]:
    """That one arm's runs are longer than another's, in words."""
    whole = [[track for track in arm.tracks if not track.diverged] for arm in arms]
    if any(arm.ends == "own" for arm in arms) or not all(whole):
        return ()
    longest = [max(tracks, key=lambda track: float(track.axis[-1])) for tracks in whole]
    ends = [float(track.axis[-1]) for track in longest]
    short, far = int(np.argmin(ends)), int(np.argmax(ends))
    # In seconds one arm may be slower: then both have as many evaluations.
    slower = arms[far].in_time and len(longest[short].axis) >= len(longest[far].axis)
    if ends[short] >= WHOLE * ends[far] or slower:
        return ()
    return (
        f"runs of {arms[short].name} end at {ends[short]:,g} {arms[short].unit}, of {arms[far].name} at {ends[far]:,g}",
    )


def at_one_end(arms: Sequence[Ragged]) -> tuple[list[Ragged], str]:
    """Arms with all runs up to where the shortest ends, and that in words; as they are where nothing is to be cut.

    Runs within 2 % of one length count as of one length; but where a loss still falls, 1 % more training told equal
    arms apart in 46 % of 300 trials, 2 % in 97 % (tests.reference.other_places). Between two evaluations a line is
    taken.
    """
    whole = [track for arm in arms for track in arm.tracks if not track.diverged]
    ends = {float(track.axis[-1]) for track in whole}
    if len(ends) < 2 or any(arm.ends == "own" or arm.in_time for arm in arms) or uneven(arms):
        return list(arms), ""
    end = min(ends)
    cut = [arm._replace(tracks=tuple(t if t.diverged else _up_to(t, end) for t in arm.tracks)) for arm in arms]
    return cut, f"last values are those at {end:,g} {arms[0].unit}, where the shortest run ends"


def _up_to(track: Track, end: float) -> Track:
    """A run as if it had ended there, on a line between two evaluations."""
    before = track.axis < end
    value = np.append(track.value[before], np.interp(end, track.axis, track.value))
    return track._replace(axis=np.append(track.axis[before], end), value=value)


def of_uneven_ends(found: Decision) -> Decision:
    """The decision without what last values of runs of different length would say."""
    return found._replace(verdict="inconclusive", effect=None, interval=(None, None), reason="ends", p_value=None)


DISTINCT = 5
"""Different values that a curve has to have before an equal one counts as a copy of it: short curves of accuracies from
few samples may agree by chance."""


def once(arm: Ragged) -> Ragged:
    """An arm of logs without the copies of its runs, which are no second observations: four runs and their copies made
    p = 0.008 of what four runs cannot say."""
    kept = no_copies(arm)
    if len(kept) == len(arm.tracks):
        return arm
    gone = len(arm.tracks) - len(kept)
    said = f"{arm.name}: {counted(gone, 'run')} the same as another one, value for value: left out"
    seeds = None if arm.seeds is None else tuple(arm.seeds[i] for i in kept)
    return arm._replace(tracks=tuple(arm.tracks[i] for i in kept), seeds=seeds, notes=(*arm.notes, said))


def no_copies(arm: Ragged) -> list[int]:
    """Indices of the runs that are left of an arm when those are dropped that repeat an earlier run value for value.
    (Runs of fewer than `DISTINCT` values may do so by chance, and are kept.)"""
    seen, kept = set[tuple[bytes, bytes]](), []
    for i, track in enumerate(arm.tracks):
        key = _curve(track)
        if key not in seen or len(set(track.value.tolist())) < DISTINCT:
            kept.append(i)
        seen.add(key)
    return kept


def copies(arm: Ragged) -> str:
    """That several runs of an arm are one, value for value, in words: a copy is no second observation."""
    seen = {_curve(track) for track in arm.tracks if np.ptp(track.value) > 0}
    moving = sum(bool(np.ptp(track.value) > 0) for track in arm.tracks)
    extra = moving - len(seen)
    return f"{arm.name}: {counted(extra, 'run')} the same as another one, value for value" if extra else ""


def _curve(track: Track) -> tuple[bytes, bytes]:
    return track.axis.tobytes(), track.value.tobytes()


def same_runs(baseline: Ragged, candidate: Ragged) -> str:
    """That both sides are the same runs, in words; a comparison of them says nothing."""
    pairs = list(zip(baseline.tracks, candidate.tracks, strict=False))
    same = len(baseline.tracks) == len(candidate.tracks) and all(
        np.array_equal(a.axis, b.axis) and np.array_equal(a.value, b.value) for a, b in pairs
    )
    return "the runs of both sides are the same, value for value" if same else ""


def cut_short(
    baseline: Ragged, candidate: Ragged, times: tuple[Times, Times], paired: bool, high: float | None
) -> tuple[str, ...]:
    """Which pairs, or runs, tell nothing because a run ended before the other side was there, and what a ratio means of
    which the upper end is known although some never got there, in words."""
    if not paired:
        gone = [(arm, dropped(found)) for arm, found in zip((baseline, candidate), times, strict=True)]
        return tuple(
            f"{int(of.sum())} of {len(of)} runs of {arm.name} ended long before the others and were not there: what "
            "they would have done counts against either side"
            for arm, of in gone
            if of.any()
        )
    one, two = times
    open_ = (one.censored & (one.time < two.time)) | (two.censored & (two.time < one.time))
    notes = _common_factor(times) if high is not None and np.isfinite(high) else ()
    if not open_.any():
        return notes
    which = ", ".join(str((baseline.seeds or range(len(open_)))[i]) for i in np.flatnonzero(open_)[:4])
    said = f"in {int(open_.sum())} of {len(open_)} pairs a run ended before it could be known which side is faster"
    return (f"{said} (seeds {which}{', …' if open_.sum() > 4 else ''}): each counts against either side", *notes)


def _common_factor(times: tuple[Times, Times]) -> tuple[str, ...]:
    never = int((times[0].censored | times[1].censored).sum())
    said = (
        f"in {never} of {len(times[0].time)} pairs a run never got there: the ratio is the one factor that, common to"
    )
    return (f"{said} all pairs, fits what was seen; pairs that differ more make the mean larger",) if never else ()

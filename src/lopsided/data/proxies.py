"""Small runs that repeat data as often as a large one will."""

from __future__ import annotations

from lopsided.core.errors import InputError
from lopsided.data.stream import Stream
from lopsided.shape.phases import Phases


def proxy(stream: Stream, fraction: float) -> Stream:
    """A run of `fraction` of a stream's samples over `fraction` of each skill's examples: every example comes as often
    as in the whole run, so that a trial tells what repeats do to it. (A trial of 2 % of the samples over all examples
    repeats rare ones 50 times less; arXiv 2606.07597 measures by how much such trials mislead.)

    >>> import numpy as np
    >>> import lopsided.data as ld
    >>> whole = ld.Stream(ld.Groups([0] * 900 + [1] * 100), ld.Uniform(), total=20_000)
    >>> small = ld.proxy(whole, 0.1)
    >>> [round(float(s.schedule.epochs().max())) for s in (whole, small)]
    [100, 100]

    Raises `InputError` for a fraction that leaves nothing, or of a stream that was changed on the way.
    """
    if not (isinstance(fraction, (int, float)) and 0 < fraction <= 1) or round(stream.total * fraction) < 1:
        raise InputError(f"fraction = {fraction!r}: above 0, up to 1, of {stream.total:,} samples")
    if len(stream.segments) > 1:
        raise InputError("proxy: of a stream without changes; make the small one first, and change it as the large one")
    shape = stream.shape & Phases((1.0,), (float(fraction),))
    total = round(stream.total * fraction)
    return Stream(stream.groups, shape, total, stream.seed, stream.cap, stream.replacement)

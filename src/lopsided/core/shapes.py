"""What goes into a network and what comes out. Shape legend of the project, used as suffixes of names:

E members of an ensemble · B samples of a batch · L input positions · O output positions · C classes · D width or input
dimension · K skills of one sample · R ranks (= number of skills) · T evaluations of a run.
"""

from __future__ import annotations

from typing import NamedTuple


class Tokens(NamedTuple):
    """Inputs are at most `length` token ids below `vocabulary`; a batch may be shorter."""

    vocabulary: int
    length: int


class Vector(NamedTuple):
    """Inputs are `dimension` real numbers."""

    dimension: int


class Vectors(NamedTuple):
    """Inputs are `length` vectors of `dimension` real numbers each."""

    length: int
    dimension: int


Inputs = Tokens | Vector | Vectors


class Classes(NamedTuple):
    """Outputs are logits over `count` classes at the input positions in `read`, or at every position (`read` None)."""

    count: int
    read: tuple[int, ...] | None


class Scalar(NamedTuple):
    """Output is one number; `signs` if targets are +-1 and only the sign counts for accuracy."""

    signs: bool


Outputs = Classes | Scalar


def has_accuracy(outputs: Outputs) -> bool:
    """Whether an answer is right or wrong; a real-valued target only has a loss."""
    return not isinstance(outputs, Scalar) or outputs.signs

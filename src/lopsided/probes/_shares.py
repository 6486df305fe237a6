"""The learned share of every teacher direction."""

from __future__ import annotations

from jaxtyping import Array, Float

LEARNED = 0.5
"""Share of a direction's weight from which it counts as learned."""


def shares(
    strengths: Float[Array, " m"], overlaps: Float[Array, "m P"], weights: Float[Array, " P"], degree: int
) -> Float[Array, " P"]:
    """sum_k s_k c_kp^J / a_p: the student's tensor at (e_p, ..., e_p) over the teacher's."""
    return (strengths[:, None] * overlaps**degree).sum(0) / weights

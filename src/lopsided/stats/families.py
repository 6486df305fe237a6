"""Many claims at once: adjusted p-values in a recipe, q-values over all, and comparisons that several claims share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from lopsided.stats.verdict import Claim


def holm(claims: Sequence[Claim]) -> list[float | None]:
    """P-values of one recipe's claims, adjusted by Holm's method over those that cite a paper and have one."""
    cited = [c.p_value is not None and c.source == "paper" for c in claims]
    adjusted = iter(_holm(np.array([c.p_value for c, known in zip(claims, cited, strict=True) if known], float)))
    return [float(next(adjusted)) if known else None for known in cited]


def q_values(claims: Sequence[Claim]) -> list[float | None]:
    """Over everything that was tested: the share of chance findings among the claims with a p-value as small
    (Benjamini and Hochberg)."""
    known = np.array([c.p_value for c in claims if c.p_value is not None], float)
    found = iter(scipy.stats.false_discovery_control(known) if len(known) else ())
    return [float(next(found)) if c.p_value is not None else None for c in claims]


def shared(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Claims that rest on one comparison: equal effect, interval and members. Each group counts once."""
    groups: dict[object, list[Claim]] = {}
    for i, claim in enumerate(claims):
        same = (claim.effect, claim.interval, claim.members, claim.verdict) if claim.effect is not None else i
        groups.setdefault(same, []).append(claim)
    return list(groups.values())


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values)
    n = len(p_values)
    steps = np.minimum(1.0, np.maximum.accumulate(p_values[order] * (n - np.arange(n))))
    adjusted = np.empty(n)
    adjusted[order] = steps
    return adjusted

"""Names of members in the store, and the rows of one evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from lopsided.core.engine import Evaluated, Member
from lopsided.store.survey import MemberId


def member_id(member: Member) -> MemberId:
    """The member's name in the store."""
    return _hash(_ByIdentity(member.spec)), member.seed


class _ByIdentity:
    """A spec compared by identity: hashed once, not once for each of its seeds and every look."""

    def __init__(self, spec):
        self.spec = spec

    def __hash__(self) -> int:
        return id(self.spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.spec is other.spec


@lru_cache(maxsize=65_536)
def _hash(key: _ByIdentity) -> str:
    return key.spec.content_hash()


def rows_of(members: Sequence[Member], found: Evaluated) -> dict[str, np.ndarray]:
    """Long rows of one evaluation: one per member and metric."""
    names = sorted(found.metrics)
    present = members if found.who is None else [members[i] for i in found.who]
    n, k = len(present), len(names)
    steps = np.broadcast_to(found.step, n).astype(np.int64)
    counted: dict[tuple[int, int], tuple[int, float]] = {}
    for member, step in zip(present, steps.tolist(), strict=True):
        key, plan = (id(member.spec), step), member.spec.plan
        if key not in counted:
            counted[key] = plan.seen(step), plan.distinct(step)
    seen = [counted[id(m.spec), step] for m, step in zip(present, steps.tolist(), strict=True)]
    own = found.metrics.get("plan/distinct", np.array([d for _, d in seen], np.float64))  # of plans that remember
    value, shape, array = np.full((n, k), np.nan), np.full((n, k), None), np.full((n, k), None)
    for j, name in enumerate(names):
        metric = np.asarray(found.metrics[name])
        if metric.ndim == 1:
            value[:, j] = metric
            continue
        for i in range(n):
            shape[i, j], array[i, j] = metric.shape[1:], metric[i]
    return {
        "spec": np.repeat(np.array([member_id(m)[0] for m in present], dtype=object), k),
        "seed": np.repeat(np.array([m.seed for m in present], np.uint64), k),
        "step": np.repeat(steps, k),
        "samples": np.repeat(np.array([s for s, _ in seen], np.int64), k),
        "distinct_samples": np.repeat(own.astype(np.float64), k),
        "seconds": np.full(n * k, found.seconds),
        "diverged": np.repeat(found.diverged >= 0, k),
        "metric": np.tile(np.array(names, dtype=object), n),
        "value": value.reshape(-1),
        "shape": shape.reshape(-1),
        "elements": array.reshape(-1),
    }

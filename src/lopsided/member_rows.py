"""Names of members in the store, and the rows of one evaluation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Stretch
from lopsided.engines.members import Member
from lopsided.store.parts import MemberId


def member_id(member: Member) -> MemberId:
    """The member's name in the store; a spec is hashed once, not once for each of its seeds and every look."""
    key = id(member.spec)
    if key not in _HASHES or _HASHES[key][0] is not member.spec:
        _HASHES[key] = member.spec, member.spec.content_hash()
    return _HASHES[key][1], member.seed


_HASHES: dict[int, tuple[Spec, str]] = {}


def rows_of(members: Sequence[Member], stretch: Stretch) -> dict[str, np.ndarray]:
    """Long rows of one evaluation: one per member and metric."""
    names = sorted(stretch.metrics)
    present = members if stretch.who is None else [members[i] for i in stretch.who]
    n, k = len(present), len(names)
    steps = np.broadcast_to(stretch.step, n).astype(np.int64)
    counted: dict[tuple[int, int], tuple[int, float]] = {}
    for member, step in zip(present, steps.tolist(), strict=True):
        key, plan = (id(member.spec), step), member.spec.plan
        if key not in counted:
            counted[key] = plan.seen(step), plan.distinct(step)
    seen = [counted[id(m.spec), step] for m, step in zip(present, steps.tolist(), strict=True)]
    own = stretch.metrics.get("plan/distinct", np.array([d for _, d in seen], np.float64))  # of plans that listen
    return {
        "spec": np.repeat(np.array([member_id(m)[0] for m in present], dtype=object), k),
        "seed": np.repeat(np.array([m.seed for m in present], np.uint64), k),
        "step": np.repeat(steps, k),
        "samples": np.repeat(np.array([s for s, _ in seen], np.int64), k),
        "distinct_samples": np.repeat(own.astype(np.float64), k),
        "seconds": np.full(n * k, stretch.seconds),
        "diverged": np.repeat(stretch.diverged >= 0, k),
        "metric": np.tile(np.array(names, dtype=object), n),
        "value": np.stack([stretch.metrics[m] for m in names], axis=1).reshape(-1).astype(np.float64),
    }

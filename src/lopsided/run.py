"""The one place that joins the parts: specs -> ensembles -> rows -> store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.engines import checkpoints, devices
from lopsided.engines.ensemble import Ensemble, Stretch, members_that_fit
from lopsided.engines.program import Member, group_key
from lopsided.store.parts import Part, Store, job_name

COMMIT_SECONDS = 60.0
"""Wall time between commits of an unfinished job."""


class Progress(NamedTuple):
    """What a caller may show after every evaluation."""

    job: int
    jobs: int
    step: int
    steps: int
    members: Sequence[Member]
    stretch: Stretch | None
    """None when a job starts (it is being compiled)."""
    seconds: float
    """Wall time since this run began."""
    done: float
    """Share of this run's samples that are seen, in [0, 1]."""


class Done(NamedTuple):
    """What a run did."""

    trained: int
    already: int
    seconds: float
    diverged: int


def run(
    specs: Sequence[Spec],
    seeds: int | Sequence[int],
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    commit_seconds: float = COMMIT_SECONDS,
) -> Done:
    """Train every (spec, seed) that the store does not hold yet.

    Members whose specs differ only in dials and skill distributions train as one ensemble, split only where memory
    asks for it; an interrupted job goes on from its last commit.
    """
    began = time.perf_counter()
    wanted = [Member(spec, s) for spec in specs for s in (range(seeds) if isinstance(seeds, int) else seeds)]
    wanted = list({_id(m): m for m in wanted}.values())
    store.require_writable()
    complete = store.complete()
    missing = [m for m in wanted if _id(m) not in complete]
    already = len(wanted) - len(missing)
    if not missing:
        return Done(0, already, 0.0, 0)
    devices.setup(len(missing))
    jobs = _jobs(missing)
    work = [_work(job, job[0].spec.steps) for job in jobs]
    diverged = 0
    for number, job in enumerate(jobs):

        def show(step: int, stretch: Stretch | None, number: int = number, job: Sequence[Member] = job) -> None:
            if progress is not None:
                spent = sum(work[:number]) + _work(job, step)
                seconds = time.perf_counter() - began
                progress(
                    Progress(
                        number, len(jobs), step, job[0].spec.steps, job, stretch, seconds, spent / max(1, sum(work))
                    )
                )

        diverged += _run_job(job, store, show, commit_seconds)
    return Done(len(missing), already, time.perf_counter() - began, diverged)


def _work(job: Sequence[Member], steps: int) -> int:
    """Samples that a job sees in `steps` steps: what the time left is judged by."""
    return len(job) * steps * job[0].spec.plan.batch_size


def _id(member: Member) -> tuple[str, int]:
    return member.spec.content_hash(), member.seed


def _jobs(members: Sequence[Member]) -> list[list[Member]]:
    """Members grouped by compiled program, cut where memory asks for it; the order is that of the specs."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        groups.setdefault(group_key(member.spec), []).append(member)
    jobs = []
    for group in groups.values():
        size = members_that_fit(group[0].spec)
        pieces = -(-len(group) // size)
        size = -(-len(group) // pieces)
        jobs += [group[i : i + size] for i in range(0, len(group), size)]
    return jobs


def _run_job(
    members: Sequence[Member], store: Store, show: Callable[[int, Stretch | None], None], commit_seconds: float
) -> int:
    """Train one job to its end, committing on the way. Returns the number of diverged members."""
    name = job_name(map(_id, members))
    show(0, None)
    ensemble = Ensemble(members)
    resumed = store.resume_point(name)
    if resumed is not None:
        state = checkpoints.restore(store.path(resumed) / "state", ensemble.state)
        ensemble.restore(resumed.step, resumed.seconds, state)
    ensemble.compile()
    pending: list[dict[str, np.ndarray]] = []
    last_commit = time.perf_counter()
    diverged = 0
    for stretch in ensemble.run():
        pending.append(_rows(members, stretch))
        final = stretch.step == ensemble.spec.steps
        if final or time.perf_counter() - last_commit > commit_seconds:
            _commit(store, name, members, stretch, pending, ensemble, final)
            pending, last_commit = [], time.perf_counter()
        diverged = int((stretch.diverged >= 0).sum())
        show(stretch.step, stretch)
    return diverged


def _commit(
    store: Store,
    name: str,
    members: Sequence[Member],
    stretch: Stretch,
    pending: Sequence[Mapping[str, np.ndarray]],
    ensemble: Ensemble,
    final: bool,
) -> None:
    """Rows since the last commit and the state to go on from, in one part."""
    specs = {m.spec.content_hash(): m.spec.model_dump(mode="json") for m in members}
    rows = {key: np.concatenate([p[key] for p in pending]) for key in pending[0]}
    part = Part(
        name, stretch.step, final, stretch.seconds, tuple(map(_id, members)), specs, provenance(ensemble.device_kind)
    )
    store.commit(part, rows, None if final else lambda folder: checkpoints.save(folder, ensemble.state))
    store.drop_states(name, keep=0 if final else 2)


def _rows(members: Sequence[Member], stretch: Stretch) -> dict[str, np.ndarray]:
    """Long rows of one evaluation: one per member and metric."""
    names = sorted(stretch.metrics)
    n, k = len(members), len(names)
    batch = members[0].spec.plan.batch_size
    by_spec = {id(m.spec): (m.spec.content_hash(), m.spec.plan.distinct(stretch.step)) for m in members}
    spec_hash = [by_spec[id(m.spec)][0] for m in members]
    distinct = [by_spec[id(m.spec)][1] for m in members]
    return {
        "spec": np.repeat(np.array(spec_hash, dtype=object), k),
        "seed": np.repeat(np.array([m.seed for m in members], np.uint64), k),
        "step": np.full(n * k, stretch.step, np.int64),
        "samples": np.full(n * k, stretch.step * batch, np.int64),
        "distinct_samples": np.repeat(np.array(distinct, np.float64), k),
        "seconds": np.full(n * k, stretch.seconds),
        "diverged": np.repeat(stretch.diverged >= 0, k),
        "metric": np.tile(np.array(names, dtype=object), n),
        "value": np.stack([stretch.metrics[m] for m in names], axis=1).reshape(-1).astype(np.float64),
    }

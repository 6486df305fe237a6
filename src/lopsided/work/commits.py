"""Commits of one job. A second thread writes them while the job trains on: training waits for a copy of the state,
not for the disk."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np

from lopsided.core.engine import Engine, Member
from lopsided.core.execution import Execution
from lopsided.core.provenance import provenance
from lopsided.engines import checkpoints
from lopsided.store.leases import Holder
from lopsided.store.parts import Store, StoredPart
from lopsided.store.rows import no_rows
from lopsided.work.clock import Taken
from lopsided.work.operations import LEAST_SECONDS, of_part
from lopsided.work.rows import member_id


class Commits:
    """One at a time, in order; an error of one is raised by the next, or by `wait`. Use as a context manager: at its
    end everything is on disk."""

    def __init__(
        self,
        store: Store,
        members: Sequence[Member],
        execution: Execution,
        holder: Holder,
        codes: Mapping[str, str],
    ):
        self.store, self.members, self.execution, self.holder = store, members, execution, holder
        self.code = codes[member_id(members[0])[0]]
        self._codes = {spec: code for spec, code in codes.items() if code != self.code}
        self._specs = {member_id(m)[0]: m.spec.canonical_json() for m in members}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self._last: Future[None] | None = None
        self._countable = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(wait=True)

    def wait(self) -> None:
        """Until the last commit is on disk. Raises what it raised."""
        last, self._last = self._last, None
        if last is not None:
            last.result()

    def commit(
        self,
        engine: Engine,
        start: int,
        parent: str,
        pending: Sequence[Mapping[str, np.ndarray]],
        final: bool,
        taken: Taken,
    ) -> str:
        """Rows since the last commit and the state to go on from, in one part; returns its name. The final one is on
        disk when this returns. `taken` says where the part's seconds went, and what was done."""
        self.wait()
        job = self.holder.lease.job
        self.holder.require(lambda: self.store.finished(job))
        rows = {key: np.concatenate([p[key] for p in pending]) for key in pending[0]} if pending else no_rows()
        part = StoredPart(
            job=job,
            start=start,
            step=engine.step,
            final=final,
            seconds=engine.seconds,
            members=tuple(map(member_id, self.members)),
            specs=self._specs,
            provenance={
                **provenance(engine.device_kind, self.execution.model_dump(mode="json")),
                "seconds": taken.seconds,
            },
            code=self.code,
            parent=parent,
            token=self.holder.lease.token,
            codes=self._codes,
        )
        state = None if final else engine.saved()
        self._last = self._pool.submit(self._write, part, rows, state, taken)
        if final:
            self.wait()
        return part.folder

    def _write(self, part: StoredPart, rows: Mapping[str, np.ndarray], state: Any, taken: Taken) -> None:
        if self._countable and taken.seconds.get("steps", 0.0) >= LEAST_SECONDS:
            try:
                counted = of_part(self.members[0].spec, self.code, taken.member_steps, taken.evaluations)
            except Exception as error:  # rows count more: whatever cannot be counted must not stop their commit
                counted, self._countable = None, False
                print(f"lopsided: operations not counted ({type(error).__name__}: {error})", file=sys.stderr)
            part = part._replace(provenance={**part.provenance, "operations": counted})
        self.store.commit(part, rows, None if part.final else lambda folder: checkpoints.save(folder, state))
        self.store.drop_states(part, keep=0 if part.final else 2)

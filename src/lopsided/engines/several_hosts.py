"""Several-hosts engine: the sharded engine on the devices of several processes (`lopsided run --across-hosts`).

Every process has the same engine, and makes the same calls in the same order: the head because it trains a job, the
others because it tells them (`engines.hosts`). Only the head needs the store: saved states reach the others from it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import jax
import numpy as np

from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.engines import devices, hosts
from lopsided.engines.members import State
from lopsided.engines.sharded import Sharded


class SeveralHosts(Sharded):
    """A sharded engine in one of several processes."""

    name: ClassVar[str] = "several-hosts"

    def __init__(self, members: Sequence[Member], execution: Execution):
        specs = list({id(m.spec): m.spec for m in members}.values())
        which = {id(spec): i for i, spec in enumerate(specs)}
        hosts.tell(
            "begin",
            specs=[spec.canonical_json() for spec in specs],
            members=[(which[id(m.spec)], m.seed) for m in members],
            execution=execution.model_dump(mode="json"),
        )
        super().__init__(members, execution)

    def compile(self) -> None:
        hosts.tell("compile")
        with _together():
            super().compile()

    def advance(self, to: int) -> None:
        hosts.tell("advance", to=to)
        with _together():
            super().advance(to)

    def evaluate(self) -> Evaluated:
        hosts.tell("evaluate")
        with _together():
            found = super().evaluate()
            hosts.forget()
        return found

    def saved(self) -> State:
        hosts.tell("saved")
        with _together():
            state: State = hosts.on_host(self.state)
        return state

    def restore(self, step: int, seconds: float, state: Any) -> None:
        """`state` counts in the head only."""
        n_members = len(self.members)
        hosts.tell("restore", step=step, seconds=seconds, state=None)
        if state is None:  # not the head
            state = jax.tree.map(lambda x: np.zeros((n_members, *x.shape[1:]), x.dtype), self.state)
        real = jax.tree.map(lambda x: np.asarray(x)[:n_members], state)
        with self.precision(), _together():
            same = hosts.from_head(real)
        super().restore(step, seconds, same)

    def state_on_devices(self, state: Any) -> Any:
        """Every process places its own share. (`jax.device_put` compares the arrays of all hosts, and NaN ends it.)"""

        def placed(x: Any, sharding: Any) -> jax.Array:
            return jax.make_array_from_callback(x.shape, sharding, x.__getitem__)

        return jax.tree.map(placed, state, self._state_sharding)

    def fetched(self, tree: Any) -> Any:
        return hosts.on_host(tree)


@contextmanager
def _together() -> Iterator[None]:
    """Says what it means when a product of all processes fails."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" in str(error):
            raise
        said = f"another host ended, or cannot be reached ({hosts.first_line(error)})"
        raise OSError(f"{said}. What was committed stays; start all hosts again") from error


def follow() -> None:
    """What every process but the head does: the head's calls, until it says that all is done."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # the head hears it too, commits, and says when to end
    engine: Engine | None = None
    while True:
        call, arguments = hosts.hear()
        if call == "end":
            return
        if call == "begin":
            engine = None  # its memory first
            engine = _begun(**arguments)
        else:
            getattr(engine, call)(**arguments)


def _begun(specs: Sequence[str], members: Sequence[Sequence[int]], execution: dict[str, Any]) -> SeveralHosts:
    found = [Spec.model_validate_json(text) for text in specs]
    how = Execution.model_validate(execution)
    devices.setup(len(members), how.batch_devices)
    return SeveralHosts([Member(found[i], seed) for i, seed in members], how)

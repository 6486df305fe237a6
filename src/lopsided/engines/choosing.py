"""Which engine trains a spec: the one that its plan asks for, or the sharded one where devices share a member."""

from __future__ import annotations

from collections.abc import Iterable

from lopsided.core.engine import Engine
from lopsided.core.errors import InputError
from lopsided.core.execution import Execution
from lopsided.core.registry import engine_of
from lopsided.core.spec import Spec
from lopsided.engines import hosts
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.several_hosts import SeveralHosts
from lopsided.engines.sharded import Sharded


def require_engines(specs: Iterable[Spec], execution: Execution) -> None:
    """Raise `InputError` if one of the specs cannot be trained in that way, before anything is trained."""
    for spec in specs:
        engine_for(spec, execution)


def engine_for(spec: Spec, execution: Execution) -> type[Engine]:
    """The engine that trains a spec in that way. Raises `InputError` where it cannot be sharded."""
    found: type[Engine] = engine_of(spec)
    if not found.trains:
        return found
    if hosts.several() and not execution.shard:
        raise InputError("--across-hosts: members share devices; say with --devices-per-member how many each has")
    if not execution.shard:
        return found
    if found is not Ensemble:
        raise InputError(
            "--devices-per-member: is for members that draw samples and train to their last step; not for "
            + ("a spec with `until`" if spec.until is not None else f"plan {spec.plan.name!r}")
        )
    return SeveralHosts if hosts.several() else Sharded

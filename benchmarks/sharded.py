"""One member over eight devices against one device, and what a checkpoint costs the training loop.

The eight devices are forced ones on this machine's cores, so the total work is the same and the best ratio is 1: what
is measured is the overhead of parting, gathering and scattering.

    python -m benchmarks.sharded
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8".strip()

import jax

from benchmarks.measure import paired
from lopsided.core.engine import Member
from lopsided.core.execution import Execution
from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.sharded import Sharded
from lopsided.store.leases import Holder, Leases
from lopsided.store.parts import Store
from lopsided.work.commits import Commits

OVER = 8
MICRO_BATCH = 256


def spec(layers: int, width: int, batch: int, vocabulary_group: str = "S3") -> Spec:
    return Spec.parse(
        {
            "task": {"name": "state-tracking", "group": vocabulary_group, "hops": 4},
            "model": {"name": "transformer", "layers": layers, "width": width, "heads": 4},
            "plan": {"name": "online", "batch": batch},
            "optimizer": {"name": "adamw", "lr": 3e-3},
            "loss": "cross-entropy",
            "steps": 10**6,
        }
    )


def overhead(rounds: int = 5) -> None:
    member = Member(spec(4, 256, OVER * MICRO_BATCH), 0)
    alone = Sharded([member], Execution(batch_devices=1, shard=True, devices=1, micro_batch=MICRO_BATCH))
    over = Sharded([member], Execution(batch_devices=OVER, shard=True, devices=OVER, micro_batch=MICRO_BATCH))

    def seconds(engine: Sharded) -> float:
        before = engine.seconds
        engine.advance(engine.step + 2)
        return (engine.seconds - before) / 2

    for engine in (alone, over):
        seconds(engine)
    print("seconds a step on 8 devices, on 1, ratio:", paired(lambda: seconds(over), lambda: seconds(alone), rounds))


def waiting() -> None:
    """Seconds that training waits for a commit of a large state, and that the commit takes in all."""
    engine = Ensemble([Member(spec(8, 1024, 8), 0)], Execution(devices=1))
    engine.advance(1)
    parameters = engine.program.parameters
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.require_writable()
        leases = Leases(store.root)
        leases.folder.mkdir(parents=True, exist_ok=True)
        holder = Holder(leases, leases.take("0" * 16, [], 1))
        with Commits(store, engine.members, engine.execution, holder, "benchmark") as commits:
            provenance(engine.device_kind, {})  # asked once for a process
            began = time.perf_counter()
            commits.commit(engine, 0, "", [], final=False)
            waited = time.perf_counter() - began
            commits.wait()
            what = f"a checkpoint of {parameters / 1e6:.0f} M parameters and AdamW's moments"
            print(f"{what}: the loop waits {waited:.2f} s, the disk takes {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores, JAX {jax.__version__}")
    overhead()
    waiting()

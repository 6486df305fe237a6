"""Run by test_sharded.py in a process with eight devices; prints one JSON document."""

import json
import os
import tempfile
from importlib import metadata

os.environ["XLA_FLAGS"] = " ".join([
    "--xla_force_host_platform_device_count=8", "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true", "--xla_cpu_parallel_codegen_split_count=1",
    *(["--xla_cpu_use_fusion_emitters=false"] if metadata.version("jax").startswith("0.10.") else []),  # gone in 0.12
])  # fmt: skip

import jax
import jax.numpy as jnp
import numpy as np

from lopsided.core.engine import Member
from lopsided.core.execution import Execution
from lopsided.core.spec import Spec
from lopsided.engines import ensemble, program
from lopsided.engines.choosing import engine_for
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.sharded import Sharded
from lopsided.results.stored import load
from lopsided.store.parts import Store
from lopsided.work.worker import run

TEXT = {
    "task": {"name": "state-tracking", "group": "S3", "hops": 2},
    "model": {"name": "transformer", "layers": 3, "width": 32, "heads": 2},
    "plan": {"name": "online", "batch": 24},
    "optimizer": {"name": "adamw", "lr": 3e-3},
    "loss": "cross-entropy",
    "steps": 12,
    "evaluation": {"every": 6, "samples": 64},
}
SPEC = Spec.parse(TEXT)


def sharded(over, devices=None, **more):
    return Execution(batch_devices=over, shard=True, devices=devices or over, **more)


def trained(engine):
    return [np.asarray(e.metrics["train/loss"]).tolist() for e in engine.run() if e is not None]


def shares(state):
    """Bytes of a state that the first device holds, and of all of it."""
    leaves = jax.tree.leaves(state)
    return sum(x.addressable_shards[0].data.nbytes for x in leaves), sum(x.nbytes for x in leaves)


def analysed(engine):
    """Memory that the compiler wants, and what was predicted."""
    with engine.precision():
        lowered = engine._advance.lower(engine.state, engine._traced, jnp.int32(0), jnp.int32(1))
    found, expected = lowered.compile().memory_analysis(), engine.predicted_memory()
    return [found.argument_size_in_bytes, found.temp_size_in_bytes], list(expected)


found = {"one": trained(Ensemble([Member(SPEC, 0)], Execution(devices=1)))}
found["over"], found["share"], found["memory"] = {}, {}, {}
for over in (1, 2, 4, 8):
    engine = Sharded([Member(SPEC, 0)], sharded(over))
    found["over"][over], found["share"][over] = trained(engine), shares(engine.state)
    found["memory"][over] = analysed(engine)
found["pieces"] = trained(Sharded([Member(SPEC, 0)], sharded(4, micro_batch=2)))
found["again"] = trained(Sharded([Member(SPEC, 0)], sharded(4, rematerialise=True)))
members = [Member(SPEC, seed) for seed in range(4)]
found["four"] = trained(Ensemble(members, Execution(devices=1)))
found["four on two each"] = trained(Sharded(members, sharded(2, devices=8)))

begun = Sharded([Member(SPEC, 0)], sharded(8))
begun.advance(6)
begun.evaluate()
gone_on = Sharded([Member(SPEC, 0)], sharded(2))
gone_on.restore(6, 0.0, jax.device_get(begun.state))
found["restored"] = trained(gone_on)

full = Spec.parse({**TEXT, "plan": {"name": "full-batch", "size": 90}})
found["full batch"] = [trained(Ensemble([Member(full, 0)], Execution(devices=1, micro_batch=32)))]
found["operations"] = []
for limit in (program.HELD_BYTES, 0):  # samples that are held, and samples that every step draws
    program.HELD_BYTES = limit
    program._PROGRAMS.clear()
    ensemble._COMPILED.clear()
    engine = Sharded([Member(full, 0)], sharded(4, micro_batch=8))
    found["full batch"].append(trained(engine))
    with engine.precision():
        lowered = engine._advance.lower(engine.state, engine._traced, jnp.int32(0), jnp.int32(1))
    found["operations"].append(lowered.compile().cost_analysis()["flops"])

folder = tempfile.mkdtemp()
run([SPEC], 1, Store(folder), execution=sharded(8))
results = load(Store(folder), "x", "x", {"a": SPEC}, {"a": 1})
found["rows"] = results["a"].metric("train/loss")[0].tolist()
found["engine"] = engine_for(SPEC, sharded(2)).name
print(json.dumps(found))

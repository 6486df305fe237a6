"""Shared by all tests: shapes are checked at run time, JAX is set up once, slow things are small."""

import gc
import os
import shutil
from importlib import metadata
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Most of the suite's time is compiling. Without optimisation, LLVM's expensive passes and the newer fusion emitters it
# takes well under half as long, and computes the same; a program that is not split for threads takes a tenth less.
os.environ["XLA_FLAGS"] = " ".join(
    [
        os.environ.get("XLA_FLAGS", ""),
        "--xla_backend_optimization_level=0",
        "--xla_llvm_disable_expensive_passes=true",
        # JAX 0.12 knows no such flag any more, and ends the process for it.
        *(["--xla_cpu_use_fusion_emitters=false"] if metadata.version("jax").startswith("0.10.") else []),
        "--xla_cpu_parallel_codegen_split_count=1",
    ]
).strip()

from jaxtyping import install_import_hook

SHAPED = ["core.keys", "numerics.threefry", "models", "plans", "optim", "tasks", "probes"]
install_import_hook([f"lopsided.{name}" for name in SHAPED], "beartype.beartype")

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

from lopsided.core.spec import Spec  # noqa: E402
from lopsided.engines import devices  # noqa: E402

devices.setup(1 << 20)

IN_MEMORY = Path("/dev/shm")
ENOUGH = 1 << 30  # bytes; two workers had at most 39 MB there at once
if IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ENOUGH:
    # Stores are many small files, each written to the disk before it is renamed; a disk that takes 2 ms for each of
    # these operations makes tests that write stores take twice as long.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))

settings.register_profile("normal", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "normal"))

PARITY = {
    "task": {"name": "sparse-parity", "d": 8, "k": 2},
    "model": {"name": "mlp", "width": 16},
    "plan": {"name": "fixed", "size": 64, "batch": 16},
    "optimizer": {"name": "sgd", "lr": 0.5},
    "loss": "logistic",
    "steps": 60,
    "evaluation": {"every": 20, "samples": 64},
}
TRACKING = {
    "task": {"name": "state-tracking", "group": "S3", "hops": 2},
    "skills": {"name": "annealed"},
    "rank_order": "random",
    "model": {"name": "transformer", "layers": 1, "width": 16},
    "plan": {"name": "online", "batch": 16},
    "optimizer": {"name": "adamw", "lr": 3e-3, "schedule": "cosine", "warmup": 5},
    "loss": "cross-entropy",
    "steps": 30,
    "evaluation": {"every": 10, "samples": 64},
    "probes": [{"name": "rank-bins", "bins": 3}],
}


def pytest_collection_finish():
    """Tracing makes objects faster than Python's collector expects: it walked through everything that JAX and the tests
    hold 22 times in 16 smoke runs, a tenth of their time. What is there by now stays, and is left out."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure():
    """At the end everything goes: libraries warn of objects that are left."""
    gc.unfreeze()


MAPS = Path("/proc/self/maps")
MANY = 15_000


@pytest.fixture(autouse=True)
def _forget_compiled_programs():
    """Every compiled program takes memory maps, of which a process has 65,530: a worker that keeps all of them grows to
    several GB and is killed by a segmentation fault in the compiler (seen between modules, and within the recipes')."""
    yield
    if not MAPS.exists() or MAPS.read_text().count("\n") > MANY:
        jax.clear_caches()


@pytest.fixture
def parity():
    """A spec that trains in milliseconds; call with changes."""
    return lambda **changes: Spec.parse({**PARITY, **changes})


@pytest.fixture
def tracking():
    """A small transformer's spec; call with changes."""
    return lambda **changes: Spec.parse({**TRACKING, **changes})

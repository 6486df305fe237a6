"""How this process uses the machine: every CPU core a device of its own, compiled programs cached on disk."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from lopsided.engines.private_jax import backends_started


def cache_folder() -> Path:
    """Where compiled programs are kept; the environment variable LOPSIDED_CACHE moves it."""
    return Path(os.environ.get("LOPSIDED_CACHE") or Path.home() / ".cache" / "lopsided")


def setup(members: int, batch_devices: int = 1) -> None:
    """Call once before anything is computed; does nothing if JAX has already started.

    With at least one member a core, each core runs its members on a single thread, which avoids the synchronisation
    inside every small matrix product (measured: 1.2 to 2 times the throughput). With fewer members than cores they
    share all threads instead.
    """
    import jax

    jax.config.update("jax_compilation_cache_dir", str(cache_folder()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
    if backends_started():
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if members < cores and batch_devices == 1:
        return
    flags = os.environ.get("XLA_FLAGS", "")
    for flag, value in _flags().items():
        if flag not in flags:
            flags = f"{flags} --{flag}={value}".strip()
    os.environ["XLA_FLAGS"] = flags
    if "xla_force_host_platform_device_count" not in flags:  # somebody wants another number
        jax.config.update("jax_num_cpu_devices", cores)


def _flags() -> dict[str, str]:
    """Options of XLA by name. One that a version does not know ends the process, so each has been tried with it."""
    found = {"xla_cpu_multi_thread_eigen": "false"}
    if version("jaxlib").startswith("0.10."):
        # Small products by Eigen: those of YNNPACK take a tenth to a fifth longer for a transformer's step.
        found["xla_cpu_experimental_ynn_fusion_type"] = ""
    return found

"""What is private in JAX and has no public name: each access here, each held by a test (tests/numerics/
test_private_jax.py) that names it when a version of JAX has moved it. Tried with JAX 0.10 to 0.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def backends_started() -> bool:
    """Whether JAX has started its devices, after which their number is fixed. (`jax.devices()` would start them.)"""
    from jax._src import xla_bridge

    return xla_bridge.backends_are_initialized()


def clusters() -> Sequence[Any]:
    """The kinds of cluster that JAX knows, in the order in which it looks for them."""
    from jax._src.clusters import ClusterEnv

    return ClusterEnv._cluster_types


def distributed() -> Any:
    """This process among those that were joined: `client`, `num_processes`, `process_id`. (The public
    `jax.process_count` would start the devices.)"""
    from jax._src.distributed import global_state

    return global_state

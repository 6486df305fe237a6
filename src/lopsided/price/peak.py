"""The fastest matrix product of this machine, by any library at hand: what "share of the peak" refers to."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.json_text import parsed
from lopsided.engines.devices import cache_folder

SIZES = (512, 1024, 2048)
"""Sides of the matrices: one of them fills every core, and fits every cache that matters."""
FILE = "peaks.json"
SECONDS = 0.3
"""How long each size is measured."""


class Peak(NamedTuple):
    """Measured peak of one library at one precision."""

    library: str
    precision: str
    rate: float
    """Floating-point operations a second, all cores together; the best of SIZES."""


def peaks() -> list[Peak]:
    """Square products in float32 and bfloat16 (where the library has it) with JAX, one a device at once, and NumPy's
    BLAS and PyTorch, where it is installed, with threads of their own. Takes some seconds."""
    return [Peak(library, precision, _best(product)) for library, precision, product in _products()]


def best(place: str | None, precision: str = "float32") -> float | None:
    """The highest rate that `lopsided doctor` measured at this place (see `lopsided.store.status.place_of`); None if it
    never did, or if rows are of several places."""
    return max((rate for _, kind, rate in _known().get(place or "", ()) if kind == precision), default=None)


def remember(measured: Sequence[Peak], place: str) -> None:
    """For `best`; machines may share a home folder. A cache that cannot be written is none."""
    with suppress(OSError):
        cache_folder().mkdir(parents=True, exist_ok=True)
        (cache_folder() / FILE).write_text(json.dumps({**_known(), place: measured}))


def _known() -> dict[str, Any]:
    try:
        found = parsed((cache_folder() / FILE).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _products() -> Iterator[tuple[str, str, Callable[[int], tuple[Callable[[], Any], float]]]]:
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    over = PartitionSpec("core")
    mesh = Mesh(np.array(jax.devices()), ("core",))
    product = jax.jit(jax.shard_map(lambda x: x @ x, mesh=mesh, in_specs=over, out_specs=over))

    def of_jax(n: int, kind: Any) -> tuple[Callable[[], Any], float]:
        x = jax.device_put(jnp.ones((len(mesh.devices), n, n), kind), NamedSharding(mesh, over))
        return lambda: product(x).block_until_ready(), 2.0 * n**3 * len(mesh.devices)

    yield "JAX", "float32", lambda n: of_jax(n, jnp.float32)
    yield "JAX", "bfloat16", lambda n: of_jax(n, jnp.bfloat16)

    def of_numpy(n: int) -> tuple[Callable[[], Any], float]:
        x = np.ones((n, n), np.float32)
        return lambda: x @ x, 2.0 * n**3

    yield "NumPy", "float32", of_numpy
    if importlib.util.find_spec("torch") is not None:
        import torch  # type: ignore[import-not-found, unused-ignore]

        def of_torch(n: int, kind: Any) -> tuple[Callable[[], Any], float]:
            x = torch.ones(n, n, dtype=kind)
            return lambda: x @ x, 2.0 * n**3

        yield "PyTorch", "float32", lambda n: of_torch(n, torch.float32)
        yield "PyTorch", "bfloat16", lambda n: of_torch(n, torch.bfloat16)


def _best(product: Callable[[int], tuple[Callable[[], Any], float]]) -> float:
    """The highest rate of a single product of any size."""
    best = 0.0
    for n in SIZES:
        work, operations = product(n)
        work()
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            began = time.perf_counter()
            work()
            best = max(best, operations / (time.perf_counter() - began))
    return best

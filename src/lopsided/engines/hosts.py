"""Several processes, usually one a host, that train the same members together with all their devices.

JAX connects them (`jax.distributed`). The first process is the head: it alone reads and writes the store, and decides
what comes next. It tells the others each call that touches devices, and they make the same call.
"""

from __future__ import annotations

import atexit
import json
import os
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.engines.private_jax import clusters, distributed

ADDRESS, PROCESSES, PROCESS = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"
SHUTDOWN_SECONDS = 30
"""A process that ends waits so long for the others."""
WAIT_MILLISECONDS = 60_000
"""How long one request for the head's next call may take; then it is asked again. The head may wait for hours until
another run gives its members free."""
_HEADING = "lopsided/call/"
_calls = _forgotten = 0


def join() -> None:
    """Meet the other processes: those of a Slurm step, Open MPI, Kubernetes or a TPU pod are found by JAX; otherwise
    the environment names them. Raises `InputError` if there is only this one, or if they cannot be found."""
    by_hand = {name: os.environ[name] for name in (ADDRESS, PROCESSES, PROCESS) if name in os.environ}
    try:
        number, own = (int(by_hand[name]) if name in by_hand else None for name in (PROCESSES, PROCESS))
        jax.distributed.initialize(by_hand.get(ADDRESS), number, own, shutdown_timeout_seconds=SHUTDOWN_SECONDS)
    except (ValueError, RuntimeError) as error:
        raise InputError(
            f"--across-hosts: the other processes were not found ({first_line(error)}); start this command once a "
            f"host with srun, mpirun or Kubernetes, or set {ADDRESS}=HOST:PORT, {PROCESSES} and {PROCESS}"
        ) from None
    if not several():
        raise InputError("--across-hosts: there is only this process; leave the flag out")
    atexit.register(tell, "end")  # however the head ends, unless it is killed


def detected() -> str:
    """What `join` would find, for `lopsided doctor`. Meets nobody."""
    if ADDRESS in os.environ:
        numbers = f"process {os.environ.get(PROCESS, '?')} of {os.environ.get(PROCESSES, '?')}"
        return f"environment: {numbers}, head at {os.environ[ADDRESS]}"
    for cluster in clusters():
        where = f"{cluster.name}: " if cluster.name else ""
        try:
            if cluster.opt_in_only_method or not cluster.is_env_present():
                continue
            count, own = cluster.get_process_count(), cluster.get_process_id()
        except Exception as error:  # a cluster that JAX cannot ask must not stop `doctor`, which says so
            return f"{where}cannot be asked ({type(error).__name__}: {error})"
        return "this process is the only one" if count == 1 else f"{where}process {own} of {count}"
    return "none found"


def first_line(error: Exception) -> str:
    """What JAX says before its details."""
    return str(error).partition("\n")[0] or type(error).__name__


def several() -> bool:
    """Whether this process has joined others. Starts no device."""
    return bool(distributed().client is not None and distributed().num_processes > 1)


def is_head() -> bool:
    """Whether this process tells the others what to do; true where it is alone."""
    return distributed().process_id == 0


def tell(call: str, **arguments: Any) -> None:
    """The head's next call, with arguments that JSON can hold. Does nothing in the other processes."""
    global _calls
    if not is_head():
        return
    _client().key_value_set(f"{_HEADING}{_calls}", json.dumps([call, arguments]))
    _calls += 1


def forget() -> None:
    """Drop the calls made so far from JAX's dictionary, which would grow with every step otherwise.

    All processes wait for each other first: a host may lag many calls behind, and must still hear them."""
    global _forgotten
    multihost_utils.sync_global_devices(_HEADING)
    for call in range(_forgotten, _calls) if is_head() else ():
        _client().key_value_delete(f"{_HEADING}{call}")
    _forgotten = _calls


def hear() -> tuple[str, dict[str, Any]]:
    """The head's next call. Waits for it without end: JAX ends this process if the head dies."""
    global _calls
    while True:
        try:
            text = _client().blocking_key_value_get(f"{_HEADING}{_calls}", WAIT_MILLISECONDS)
        except jax.errors.JaxRuntimeError as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
            continue
        _calls += 1
        call, arguments = parsed(text)
        return call, arguments


def _client() -> Any:
    """JAX's connection to the other processes, with a small dictionary that all of them see."""
    return distributed().client


def on_host(tree: Any) -> Any:
    """Arrays that lie over the devices of all processes, whole, in NumPy, in each process; one leaf at a time."""
    return jax.tree.map(lambda leaf: np.asarray(multihost_utils.process_allgather(leaf, tiled=True)), tree)


def from_head(tree: Any) -> Any:
    """Copies the head's arrays to every process, one leaf at a time, and returns them there in NumPy. Every process
    calls this with arrays of the same shapes; only the head's values count."""
    return jax.tree.map(lambda x: np.asarray(multihost_utils.broadcast_one_to_all(x, is_source=is_head())), tree)

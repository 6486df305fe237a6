"""Saving and restoring an ensemble's state with Orbax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

from lopsided.engines import hosts


def save(folder: Path, state: Any) -> None:
    """Write a pytree of arrays; returns when it is on disk. Raises `OSError` if it cannot be written."""
    import orbax.checkpoint as ocp

    try:
        with ocp.StandardCheckpointer(multiprocessing_options=_alone()) as checkpointer:
            checkpointer.save(folder.absolute(), _numbered(jax.device_get(state)))
    except OSError:
        raise
    except Exception as error:  # the library has a class of its own for each way in which a file system may fail
        raise OSError(f"checkpoint: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from error


def restore(folder: Path, like: Any) -> Any:
    """Read a pytree with the structure and dtypes of `like`; the first axis is as long as it was saved."""
    import orbax.checkpoint as ocp

    host = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), like)
    with ocp.StandardCheckpointer(multiprocessing_options=_alone()) as checkpointer:
        leaves = checkpointer.restore(folder.absolute(), _numbered(host))
    return jax.tree.unflatten(jax.tree.structure(like), [leaves[k] for k in sorted(leaves)])


def _alone() -> Any:
    """This process saves and restores without asking others that train with it (`engines.hosts`)."""
    import orbax.checkpoint as ocp

    if not hosts.several():
        return ocp.options.MultiprocessingOptions()
    here = jax.process_index()
    return ocp.options.MultiprocessingOptions(here, active_processes={here}, barrier_sync_key_prefix="lopsided")


def _numbered(tree: Any) -> dict[str, Any]:
    """Leaves by position: the file's structure does not depend on class names of models or optimizers."""
    return {f"{i:05d}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}

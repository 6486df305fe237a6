"""Saving and restoring an ensemble's state as one safetensors file: host arrays, whatever lay on which device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np

FILE = "leaves.safetensors"


def save(folder: Path, state: Any) -> None:
    """Write a pytree of arrays into a new folder. Raises `OSError` if it cannot be written."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    # safetensors writes into an existing file without a word; a second save into one folder is a mistake.
    folder.mkdir()
    try:
        save_file(_numbered(jax.device_get(state)), folder / FILE)
    except SafetensorError as error:  # the library's own class, also where a file system fails
        raise OSError(f"checkpoint: {error}") from error


def restore(folder: Path, like: Any) -> Any:
    """Read a pytree with the structure and dtypes of `like`; the first axis is as long as it was saved."""
    from safetensors.numpy import load_file

    found = load_file(folder / FILE)
    leaves = [_of_dtype(found[name], leaf) for name, leaf in zip(sorted(found), jax.tree.leaves(like), strict=True)]
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


def _of_dtype(saved: np.ndarray, like: Any) -> np.ndarray:
    """The saved array with the dtype of `like`, whose bits were written as whole numbers if it is bfloat16. (A state
    may have been counted on in wider numbers than it began with.)"""
    return saved.view(like.dtype) if like.dtype.kind == "V" else saved.astype(like.dtype, copy=False)


def _numbered(tree: Any) -> dict[str, np.ndarray]:
    """Leaves by position: the file's structure does not depend on class names of models or optimizers. NumPy has no
    bfloat16 of its own, so that its bits are written as whole numbers."""
    leaves = [np.asarray(leaf, order="C") for leaf in jax.tree.leaves(tree)]
    return {f"{i:05d}": leaf.view(np.uint16) if leaf.dtype.kind == "V" else leaf for i, leaf in enumerate(leaves)}

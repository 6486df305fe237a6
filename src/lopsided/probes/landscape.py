"""The training loss on a plane around the way that training went (paper A, figures 2, 5 and 9)."""

from __future__ import annotations

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.probe import Probe, ProbeContext, Trained
from lopsided.numerics import linalg
from lopsided.probes._plane import From, Plane, principal_plane


class Landscape(Probe):
    """Measured once, at the end; `_plane.principal_plane` defines the plane, whose origin is the start of training.

    `landscape/explained`     (2,) share of the sum of squares along either direction
    `landscape/x`, `/y`       (C,) place of every checkpoint on the plane, the start of training among them
    `landscape/loss`          (C,) training loss at every checkpoint; `landscape/projected` at its place on the plane
    `landscape/moved`         (C - 1,) distance of every checkpoint from the one before
    `landscape/off-plane`     mean over checkpoints of |loss - projected loss|, as a share of the loss's whole fall
    `landscape/distance`      mean distance of checkpoints from the plane over their mean distance from the start
    `landscape/whole`         (grid, grid) loss on a grid around all checkpoints, rows along y from below, and
    `landscape/near`          around the first tenth of them; `/x-low`, `/x-high`, `/y-low`, `/y-high` are the ends
    `landscape/slope`         length of the gradient at the start along the plane: steepest descent on it
    `landscape/full-slope`    length of the whole gradient at the start

    The loss is a mean over `samples` samples of the training distribution, the same ones everywhere.
    """

    name: Literal["landscape"] = "landscape"
    plane: From = "differences"
    filters: bool = False
    checkpoints: Annotated[int, Field(ge=4, le=1000)] = 40
    grid: Annotated[int, Field(ge=3, le=101)] = 21
    samples: Annotated[int, Field(ge=1, le=2**20)] = 1024
    margin: Annotated[float, Field(ge=0, le=10)] = 0.25

    @property
    def n_checkpoints(self) -> int:
        return self.checkpoints

    def measure(self, context: ProbeContext) -> dict[str, Array]:
        return {}

    def conclude(self, trained: Trained) -> dict[str, Array]:
        plane = principal_plane(trained.checkpoints, self.plane, self.filters, trained.unflatten)
        at = plane.coordinates(trained.checkpoints)
        along = jax.lax.map(lambda p: self._loss(trained, p), trained.checkpoints)
        projected = self._on_plane(trained, plane, at)
        distance = jnp.linalg.norm(trained.checkpoints - plane.points(at), axis=1)
        travelled = jnp.linalg.norm(trained.checkpoints - plane.origin, axis=1)
        gradient = jax.grad(lambda p: self._loss(trained, p))(plane.origin)
        units = linalg.orthonormal(plane.directions.T)
        found = {
            "explained": plane.explained,
            "off-plane": jnp.abs(along - projected).mean() / jnp.maximum(jnp.abs(along[0] - along[-1]), 1e-30),
            "distance": distance.mean() / jnp.maximum(travelled.mean(), 1e-30),
            "slope": jnp.linalg.norm(units.T @ gradient),
            "full-slope": jnp.linalg.norm(gradient),
        }
        steps = jnp.linalg.norm(jnp.diff(trained.checkpoints, axis=0), axis=1)
        found |= {"moved": steps, "x": at[:, 0], "y": at[:, 1], "loss": along, "projected": projected}
        found |= self._grid(trained, plane, at, "whole")
        found |= self._grid(trained, plane, at[: max(3, self.checkpoints // 10 + 1)], "near")
        return {f"landscape/{name}": value for name, value in found.items()}

    def _grid(self, trained: Trained, plane: Plane, at: Float[Array, "N 2"], name: str) -> dict[str, Array]:
        """Losses on a grid around the places `at`, with the start of training in it."""
        low, high = at.min(0), at.max(0)
        reach = jnp.maximum(high - low, 0.2 * (high - low).max())  # a thin box would show one direction only
        middle = (low + high) / 2
        low, high = middle - (0.5 + self.margin) * reach, middle + (0.5 + self.margin) * reach
        x, y = (jnp.linspace(low[i], high[i], self.grid) for i in range(2))
        places = jnp.stack(jnp.meshgrid(x, y), axis=-1).reshape(-1, 2)
        values = self._on_plane(trained, plane, places).reshape(self.grid, self.grid)
        ends = {"x-low": low[0], "x-high": high[0], "y-low": low[1], "y-high": high[1]}
        return {name: values} | {f"{name}/{end}": value for end, value in ends.items()}

    def _on_plane(self, trained: Trained, plane: Plane, places: Float[Array, "N 2"]) -> Float[Array, " N"]:
        return jax.lax.map(lambda place: self._loss(trained, plane.points(place[None])[0]), places)

    def _loss(self, trained: Trained, point: Float[Array, " P"]) -> Array:
        return trained.loss(trained.unflatten(point), self.samples)

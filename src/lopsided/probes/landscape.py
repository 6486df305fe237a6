"""The training loss on a plane around the way that training went (paper A, figures 2, 5 and 9)."""

from __future__ import annotations

from typing import Annotated, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field

from lopsided.core.probe import Probe, ProbeContext, Trained
from lopsided.probes._plane import From, Plane, principal_plane


class Landscape(Probe):
    """Measured once, at the end; `_plane.principal_plane` defines the plane, whose origin is the start of training.

    `landscape/explained/i`   share of the sum of squares along direction i = 1, 2
    `landscape/x/c`, `/y/c`   place of checkpoint c = 0, 1, ... on the plane
    `landscape/loss/c`        training loss at checkpoint c, and `landscape/projected/c` at its place on the plane
    `landscape/moved/c`       distance of checkpoint c from the one before (c >= 1)
    `landscape/off-plane`     mean over checkpoints of |loss - projected loss|, as a share of the loss's whole fall
    `landscape/distance`      mean distance of checkpoints from the plane over their mean distance from the start
    `landscape/whole/i/j`     loss at row i (y, from below) and column j (x) of a grid around all checkpoints, and
    `landscape/near/i/j`      around the first tenth of them; `/x-low`, `/x-high`, `/y-low`, `/y-high` are the ends
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
    def stretches(self) -> int:
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
        units = jnp.linalg.qr(plane.directions.T)[0]
        found = {
            "explained/1": plane.explained[0],
            "explained/2": plane.explained[1],
            "off-plane": jnp.abs(along - projected).mean() / jnp.maximum(jnp.abs(along[0] - along[-1]), 1e-30),
            "distance": distance.mean() / jnp.maximum(travelled.mean(), 1e-30),
            "slope": jnp.linalg.norm(units.T @ gradient),
            "full-slope": jnp.linalg.norm(gradient),
        }
        steps = jnp.linalg.norm(jnp.diff(trained.checkpoints, axis=0), axis=1)
        found |= {f"moved/{c + 1}": steps[c] for c in range(self.checkpoints)}
        columns = {"x": at[:, 0], "y": at[:, 1], "loss": along, "projected": projected}
        for name, values in columns.items():
            found |= {f"{name}/{c}": values[c] for c in range(self.checkpoints + 1)}
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
        found = {f"{name}/{i}/{j}": values[i, j] for i in range(self.grid) for j in range(self.grid)}
        ends = {"x-low": low[0], "x-high": high[0], "y-low": low[1], "y-high": high[1]}
        return found | {f"{name}/{end}": value for end, value in ends.items()}

    def _on_plane(self, trained: Trained, plane: Plane, places: Float[Array, "N 2"]) -> Float[Array, " N"]:
        return jax.lax.map(lambda place: self._loss(trained, plane.points(place[None])[0]), places)

    def _loss(self, trained: Trained, point: Float[Array, " P"]) -> Array:
        return trained.loss(trained.unflatten(point), self.samples)

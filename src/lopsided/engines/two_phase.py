"""The quadratic neuron's two phases, exactly: a moment matrix of N samples, then the population's (paper C, eq. A.3).

The samples enter through M^ = mean of y x x^T alone, computed once per member in pieces; a step costs d² operations.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from lopsided.core.keys import stream
from lopsided.core.spec import Spec
from lopsided.engines.members import Dials, State, state_shape, tree_bytes

PIECE = 1024


class Record(NamedTuple):
    """What a member has besides its weights."""

    moment: Float[Array, "d d"]
    q_0: Float[Array, ""]
    a_0: Float[Array, ""]
    switched: Int[Array, ""]
    """Steps of phase 1, or -1 while it lasts."""
    found: Int[Array, ""]
    """Steps of both phases, or -1 while the direction is not found."""


class TwoPhaseProgram:
    """Functions of one member, for `engines.ensemble`."""

    float_type = np.float32
    cuttable = True

    def __init__(self, representative: Spec):
        self.representative = representative

    def precision(self) -> AbstractContextManager[Any]:
        """Single precision; the time to escape is of order sqrt(N), never long enough for rounding to matter."""
        return nullcontext()

    def init(self, dials: Dials) -> State:
        """Weights, and the moment matrix of the member's samples."""
        spec = self.representative.bind(dials.spec)
        neuron: Any = spec.model.init(stream(dials.seed, "init"), spec.task.inputs, spec.task.outputs)
        moment = self._moment(spec, dials)
        none = jnp.int32(-1)
        record = Record(moment, neuron.w @ moment @ neuron.w, neuron.a, none, none)
        record = self._marked(record, neuron, spec, jnp.int32(0))
        return State(neuron, record, none, jnp.float32(0), jnp.int32(0))

    def advance(self, state: State, dials: Dials, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """Take the steps start, ..., stop - 1."""
        spec = self.representative.bind(dials.spec)
        return jax.lax.fori_loop(start, stop, lambda t, s: self._step(s, spec, t), state)

    def evaluate(self, state: State, dials: Dials) -> dict[str, Array]:
        """|a|, overlap with the nearest minimiser, and what is known of the two times (NaN while unknown)."""
        spec, record = self.representative.bind(dials.spec), state.optimizer
        size = jnp.asarray(spec.plan.size, jnp.float32)  # type: ignore[attr-defined]
        known = lambda t: jnp.where(t >= 0, t.astype(jnp.float32), jnp.nan)  # noqa: E731
        return {
            "neuron/overlap": _overlap(state.params.w),
            "neuron/outer": jnp.abs(state.params.a),
            "two-phase/first": known(record.switched),
            "two-phase/total": known(record.found),
            "two-phase/outer-0": jnp.abs(record.a_0),
            "two-phase/q-0": jnp.abs(record.q_0) * jnp.sqrt(size),
            "two-phase/aligned": (jnp.sign(record.a_0) == jnp.sign(record.q_0)).astype(jnp.float32),
        }

    def _step(self, state: State, spec: Spec, t: Int[Array, ""]) -> State:
        a, w, record = state.params.a, state.params.w, state.optimizer
        eta = spec.optimizer.lr  # type: ignore[attr-defined]
        first = record.switched < 0
        population = jnp.zeros_like(w).at[0].set(w[1]).at[1].set(w[0])
        moved = jnp.where(first, record.moment @ w, population)
        outer = jnp.clip(a + 0.5 * eta * (w @ moved), -1.0, 1.0)
        inner = w + eta * a * moved
        inner = inner / jnp.sqrt(jnp.square(inner).sum())
        neuron = type(state.params)(outer, inner)
        return state._replace(params=neuron, optimizer=self._marked(record, neuron, spec, t + 1))

    def _marked(self, record: Record, neuron: Any, spec: Spec, t: Int[Array, ""]) -> Record:
        """The record with the times at which a phase ended."""
        plan: Any = spec.plan
        switched = jnp.where((record.switched < 0) & (jnp.abs(neuron.a) >= plan.a_star), t, record.switched)
        near = 2 * (1 - _overlap(neuron.w)) <= plan.epsilon
        found = jnp.where((record.found < 0) & (switched >= 0) & near, t, record.found)
        return record._replace(switched=switched, found=found)

    def _moment(self, spec: Spec, dials: Dials) -> Float[Array, "d d"]:
        """Mean of y x x^T over the member's samples."""
        plan: Any = spec.plan
        task, train, labels = spec.task, stream(dials.seed, "train"), stream(dials.seed, "labels")
        place = jnp.arange(PIECE, dtype=jnp.uint32)
        size = jnp.asarray(plan.size, jnp.int32)

        def one(index: Any) -> tuple[Array, Array]:
            sample = task.sample(train, index, None, None)
            random = plan.labels == "random"
            return sample.inputs, task.random_target(labels, index, sample.inputs) if random else sample.targets

        def add(piece: Any, so_far: Array) -> Array:
            index = jnp.uint32(PIECE) * piece.astype(jnp.uint32) + place
            x, y = jax.vmap(one)(index)
            return so_far + x.T @ (x * (y * (index < size.astype(jnp.uint32)))[:, None])

        d = task.inputs.dimension  # type: ignore[union-attr]
        return jax.lax.fori_loop(0, (size + PIECE - 1) // PIECE, add, jnp.zeros((d, d))) / size

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of one member's state."""
        return tree_bytes(state_shape(self))

    @property
    def block_bytes(self) -> int:
        """Memory that one member's step touches: its moment matrix."""
        return self.state_bytes


def _overlap(w: Float[Array, " d"]) -> Float[Array, ""]:
    """<w, w*> for the nearest of the four minimisers (+-e1 +- e2) / sqrt(2)."""
    return (jnp.abs(w[0]) + jnp.abs(w[1])) * jnp.float32(0.5**0.5)

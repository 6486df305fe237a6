"""Two-phase engine: the quadratic neuron's two phases, exactly (paper C, eq. A.3): a moment matrix of N samples, then
the population's.

The samples enter through M^ = mean of y x x^T alone, computed once per member in pieces; a step costs d² operations.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.shapes import Vector
from lopsided.core.spec import Spec
from lopsided.core.task import RandomLabels, SampleContext
from lopsided.engines.ensemble import EnsembleEngine
from lopsided.engines.members import State, TracedMember
from lopsided.engines.population import refuse_samples
from lopsided.engines.program import Program
from lopsided.numerics.means import RunningMean
from lopsided.plans.two_phase import TwoPhase

PIECE = 1024
"""Samples made at once: a member's moment then needs PIECE x d numbers and no memory that grows with its set."""


class Record(NamedTuple):
    """What a member has besides its weights."""

    moment: Float[Array, "d d"]
    q_0: Float[Array, ""]
    a_0: Float[Array, ""]
    switched: Int[Array, ""]
    """Steps of phase 1, or -1 while it lasts."""
    found: Int[Array, ""]
    """Steps of both phases, or -1 while the direction is not found."""


class TwoPhaseProgram(Program):
    """Single precision; the time to escape is of order sqrt(N), never long enough for rounding to matter."""

    def init(self, traced: TracedMember) -> State:
        """Weights, and the moment matrix of the member's samples."""
        spec = self.bound(traced).spec
        neuron: Any = spec.model.init(stream(traced.seed, "init"), spec.task.inputs, spec.task.outputs)
        moment = self._moment(spec, traced.seed)
        none = jnp.int32(-1)
        record = Record(moment, neuron.w @ moment @ neuron.w, neuron.a, none, none)
        record = self._marked(record, neuron, spec, jnp.int32(0))
        return State(neuron, record, none, RunningMean.nothing())

    def advance(self, state: State, traced: TracedMember, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """Take the steps start, ..., stop - 1."""
        spec = self.bound(traced).spec
        return jax.lax.fori_loop(start, stop, lambda t, s: self._step(s, spec, t), state)

    def evaluate(self, state: State, traced: TracedMember) -> dict[str, Any]:
        """|a|, overlap with the nearest minimiser, and what is known of the two times (NaN while unknown)."""
        spec, record = self.bound(traced).spec, state.optimizer
        size = jnp.asarray(_plan(spec).size, jnp.float32)
        known = lambda t: jnp.where(t >= 0, t.astype(jnp.float32), jnp.nan)
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
        eta = spec.optimizer.lr
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
        plan = _plan(spec)
        switched = jnp.where((record.switched < 0) & (jnp.abs(neuron.a) >= plan.a_star), t, record.switched)
        near = 2 * (1 - _overlap(neuron.w)) <= plan.epsilon
        found = jnp.where((record.found < 0) & (switched >= 0) & near, t, record.found)
        return record._replace(switched=switched, found=found)

    def _moment(self, spec: Spec, seed: Any) -> Float[Array, "d d"]:
        """Mean of y x x^T over the member's samples."""
        plan = _plan(spec)
        task, train, labels = spec.task, stream(seed, "train"), stream(seed, "labels")
        place = jnp.arange(PIECE, dtype=jnp.uint32)
        size = jnp.asarray(plan.size, jnp.int32)

        def one(index: Any) -> tuple[Array, Array]:
            sample = task.sample(train, index, SampleContext())
            if plan.labels == "true":
                return sample.inputs, sample.targets
            return sample.inputs, cast(RandomLabels, task).random_target(labels, index, sample.inputs)

        def add(piece: Any, so_far: Array) -> Array:
            index = jnp.uint32(PIECE) * piece.astype(jnp.uint32) + place
            x, y = jax.vmap(one)(index)
            return so_far + x.T @ (x * (y * (index < size.astype(jnp.uint32)))[:, None])

        d = cast(Vector, task.inputs).dimension
        return jax.lax.fori_loop(0, (size + PIECE - 1) // PIECE, add, jnp.zeros((d, d))) / size

    @property
    def block_bytes(self) -> int:
        """The moment matrix."""
        return self.state_bytes


class TwoPhaseEnsemble(EnsembleEngine):
    """The plan `two-phase`."""

    name: ClassVar[str] = "two-phase"
    program_class: ClassVar[type[Program]] = TwoPhaseProgram

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        return isinstance(spec.plan, TwoPhase)

    @classmethod
    def check(cls, spec: Spec) -> None:
        refuse_samples(spec)
        if spec.probes:
            raise InputError(f"probes: plan {spec.plan.name!r} has its own metrics")


def _plan(spec: Spec) -> TwoPhase:
    assert isinstance(spec.plan, TwoPhase)
    return spec.plan


def _overlap(w: Float[Array, " d"]) -> Float[Array, ""]:
    """<w, w*> for the nearest of the four minimisers (+-e1 +- e2) / sqrt(2)."""
    return (jnp.abs(w[0]) + jnp.abs(w[1])) * jnp.float32(0.5**0.5)

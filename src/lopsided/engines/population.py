"""One member's training on the exact expected loss: the optimizer's steps, or gradient flow, in 64 or 32 bits.

The initial parameters are those of the sampled engine, bit for bit (drawn in float32, then widened): a member's two
trainings differ by what samples add and by nothing else.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Int

from lopsided.core.keys import stream
from lopsided.core.probe import ProbeContext
from lopsided.core.spec import Spec
from lopsided.engines.members import Dials, State, state_shape, tree_bytes
from lopsided.engines.program import exact_loss, uniform
from lopsided.skills.ranks import skill_at_rank

ABSOLUTE = 1e-4
"""Absolute tolerance of gradient flow as a share of the relative one: weights start small."""


SHORTEST, SHORTEST_SETTLING = 1e-9, 1e-13
"""Adaptive steps shorter than this share of a stretch mean that the flow runs to infinity: the member has diverged."""


class Fixed(NamedTuple):
    """What a member's steps have in common."""

    world: Any
    order: Any  # (R,) the skill that holds each rank; None where the task has no skills


class PopulationProgram:
    """Functions of one member, with the interface of `engines.program.Program`."""

    def __init__(self, representative: Spec):
        self.representative = representative
        self.float_type = np.float64 if representative.plan.precision == 64 else np.float32  # type: ignore[attr-defined]
        self._flows = representative.plan.dynamics == "flow"  # type: ignore[attr-defined]

    @property
    def cuttable(self) -> bool:
        """Adaptive steps restart at an evaluation; a cut elsewhere would change them."""
        return not self._flows

    def precision(self) -> AbstractContextManager[Any]:
        return jax.enable_x64(self.float_type is np.float64)

    def init(self, dials: Dials) -> State:
        params = self._params(dials)
        optimizer = () if self._flows else self._spec(dials).optimizer.build(self.representative.steps).init(params)
        zero = jnp.zeros((), self.float_type)
        return State(params, optimizer, jnp.int32(-1), zero, jnp.int32(0))

    def advance(self, state: State, dials: Dials, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """Take the steps start, ..., stop - 1, or flow for (stop - start) x learning rate."""
        fixed = self._fixed(dials)
        if self._flows:
            return self._flow(state, dials, fixed, start, stop)
        return jax.lax.fori_loop(start, stop, lambda t, s: self._step(s, dials, fixed, t), state)

    def _step(self, state: State, dials: Dials, fixed: Fixed, t: Int[Array, ""]) -> State:
        value, grads = jax.value_and_grad(self._loss)(state.params, dials, fixed, t)
        updates, optimizer = (
            self._spec(dials).optimizer.build(self.representative.steps).update(grads, state.optimizer, state.params)
        )
        alive = (state.diverged < 0) & jnp.isfinite(value)
        keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
        return State(
            jax.tree.map(keep, optax.apply_updates(state.params, updates), state.params),
            jax.tree.map(keep, optimizer, state.optimizer),
            jnp.where((state.diverged < 0) & ~jnp.isfinite(value), t.astype(jnp.int32), state.diverged),
            keep(state.loss_sum + value, state.loss_sum),
            state.loss_count + alive,
        )

    def _flow(self, state: State, dials: Dials, fixed: Fixed, start: Array, stop: Array) -> State:
        """dparams/dt = -gradient, with a fifth-order Runge-Kutta method whose steps adapt to the tolerance."""
        import diffrax  # only gradient flow pays for it

        rate = jnp.asarray(self._spec(dials).optimizer.lr, self.float_type)  # type: ignore[attr-defined]
        tolerance, settled = self.representative.plan.tolerance, self.representative.plan.settled  # type: ignore[attr-defined]

        def slope(t: Any, params: Any, _: Any) -> Any:
            value, grads = jax.value_and_grad(self._loss)(params, dials, fixed, start + t / rate)
            done = settled > 0 and value < settled  # a correlation loss may be negative and far from settled
            return jax.tree.map(lambda g: jnp.where(done, 0.0, -g), grads)

        shortest = SHORTEST_SETTLING if settled else SHORTEST
        # Zero steps (a warm-up call that compiles) still integrate over a sliver; its result is dropped below.
        span = jnp.maximum(stop - start, 1e-9).astype(self.float_type) * rate
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            diffrax.Tsit5(),
            t0=jnp.zeros((), self.float_type),
            t1=span,
            dt0=None,
            y0=state.params,
            stepsize_controller=diffrax.PIDController(
                rtol=tolerance, atol=tolerance * ABSOLUTE, dtmin=span * shortest, force_dtmin=False
            ),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
            throw=False,
        )
        params = jax.tree.map(lambda x: x[0], solution.ys)
        value = self._loss(params, dials, fixed, stop)
        alive = (state.diverged < 0) & jnp.isfinite(value) & (solution.result == diffrax.RESULTS.successful)
        moved = alive & (stop > start)
        return State(
            jax.tree.map(lambda new, old: jnp.where(moved, new, old), params, state.params),
            state.optimizer,
            jnp.where((state.diverged < 0) & ~alive, stop.astype(jnp.int32), state.diverged),
            jnp.where(moved, value, state.loss_sum),
            jnp.where(moved, 1, state.loss_count),
        )

    def evaluate(self, state: State, dials: Dials) -> dict[str, Array]:
        """Metrics by name: the exact loss on uniform skills as `test/loss`, that on the training law averaged over the
        steps since the last time, probes."""
        world, n_skills = self._fixed(dials).world, self.representative.task.n_skills
        exact = partial(exact_loss, self.representative, state.params, world, uniform(n_skills, self.float_type))

        def on(probabilities: Array | None, name: str, samples: int) -> dict[str, Array]:
            return {"loss": exact()}

        context = ProbeContext(state.params, self._params(dials), on, n_skills, world, exact)
        found = {"test/loss": exact(), "train/loss": state.loss_sum / state.loss_count}
        for probe in self.representative.probes:
            found |= probe.measure(context)
        return {k: jnp.where(state.diverged < 0, v, jnp.nan).astype(self.float_type) for k, v in found.items()}

    def _loss(self, params: Any, dials: Dials, fixed: Fixed, t: Any) -> Array:
        """The exact loss on the skill frequencies of step `t`."""
        frequency = None
        if dials.path is not None:
            by_rank = dials.path.frequency(t / self.representative.steps)
            frequency = jnp.zeros_like(by_rank).at[fixed.order].set(by_rank)
        return exact_loss(self.representative, params, fixed.world, frequency)

    def _spec(self, dials: Dials) -> Spec:
        return self.representative.bind(dials.spec)

    def _fixed(self, dials: Dials) -> Fixed:
        task = self._spec(dials).task
        with jax.enable_x64(False):
            order = skill_at_rank(self.representative.rank_order, task.n_skills, dials.seed) if task.n_skills else None
        return Fixed(task.world(stream(dials.seed, "world")), order)

    def _params(self, dials: Dials) -> Any:
        task = self.representative.task
        narrow = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, dials.spec)
        with jax.enable_x64(False):
            params = self.representative.bind(narrow).model.init(stream(dials.seed, "init"), task.inputs, task.outputs)
        return jax.tree.map(lambda x: x.astype(self.float_type), params)

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of one member's state."""
        return tree_bytes(state_shape(self))

    @property
    def block_bytes(self) -> int:
        """Memory that one member's step touches: weights, directions, their gradients, overlaps between neurons."""
        leaves = jax.tree.leaves(state_shape(self).params)
        neurons = max(leaf.shape[0] for leaf in leaves) if self.representative.model.ridges else 0
        return 8 * self.state_bytes + 3 * neurons**2 * np.dtype(self.float_type).itemsize

"""Population engine: training on the exact expected loss, by the optimizer's steps or gradient flow, in 64 or 32 bits.

The initial parameters are those of the sampled engine, bit for bit (drawn in float32, then widened): a member's two
trainings differ by what samples add and by nothing else.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from lopsided.core import registry
from lopsided.core.errors import InputError
from lopsided.core.execution import Execution
from lopsided.core.keys import stream
from lopsided.core.model import RidgeModel
from lopsided.core.optimizer import is_constant
from lopsided.core.probe import ProbeContext
from lopsided.core.skills import Listens
from lopsided.core.spec import Spec
from lopsided.core.task import ExactAgreement, ExactLoss, HasSkills, latent_of, n_skills
from lopsided.core.training_set import TrainingSet
from lopsided.engines import looking_back
from lopsided.engines.ensemble import EnsembleEngine
from lopsided.engines.gradient import Population as PopulationBatch
from lopsided.engines.gradient import exact_loss, uniform
from lopsided.engines.members import State, TracedMember, bound
from lopsided.engines.metrics import while_alive
from lopsided.engines.program import Program
from lopsided.engines.sampling import Change, MemberContext
from lopsided.engines.train_step import train_step
from lopsided.numerics.means import RunningMean
from lopsided.plans.population import Population
from lopsided.skills.ranks import skill_at_rank
from lopsided.skills.self_annealed import SelfAnnealedSchedule

ABSOLUTE = 1e-4
"""Absolute tolerance of gradient flow as a share of the relative one: weights start small."""
SHORTEST, SHORTEST_SETTLING = 1e-9, 1e-13
"""Adaptive steps shorter than this share of a stretch mean that the flow runs to infinity: the member has diverged."""


class PopulationProgram(Program):
    """Steps on, or flow along, the exact gradient."""

    def __init__(self, template: Spec, execution: Execution):
        super().__init__(template, execution)
        self.float_type = np.float64 if _plan(template).precision == 64 else np.float32
        self.cuttable = _plan(template).dynamics == "steps"  # adaptive steps restart at a cut, which would change them

    def init(self, traced: TracedMember) -> State:
        spec, params = self.bound(traced).spec, self._params(traced)
        optimizer = spec.optimizer.build(spec.steps).init(params) if _plan(spec).dynamics == "steps" else ()
        return State(params, optimizer, jnp.int32(-1), RunningMean.nothing(self.float_type))

    def advance(self, state: State, traced: TracedMember, start: Int[Array, ""], stop: Int[Array, ""]) -> State:
        """With gradient flow: flow for (stop - start) x learning rate."""
        member = self._member(traced)
        if _plan(member.spec).dynamics == "flow":
            return self._flow(state, member, start, stop)
        step = lambda t, s: train_step(s, self._batch(member, t, s.params), member.bound, t)
        return jax.lax.fori_loop(start, stop, step, state)

    def _flow(self, state: State, member: MemberContext, start: Array, stop: Array) -> State:
        """dparams/dt = -gradient, with a fifth-order Runge-Kutta method whose steps adapt to the tolerance."""
        import diffrax  # only gradient flow pays for it

        spec, plan = member.spec, _plan(member.spec)
        rate = jnp.asarray(spec.optimizer.lr, self.float_type)
        tolerance, settled = plan.tolerance, plan.settled
        loss = lambda params, t: exact_loss(spec, params, *self._batch(member, t, params))

        def slope(t: Any, params: Any, _: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(params, start + t / rate)
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
                rtol=tolerance,
                atol=tolerance * ABSOLUTE,
                dtmin=span * shortest,
                force_dtmin=False,
                norm=_infinite_if_unknown,
            ),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
            throw=False,
        )
        params = jax.tree.map(lambda x: x[0], solution.ys)
        value, nothing = loss(params, stop), RunningMean.nothing(self.float_type)
        alive = (state.diverged < 0) & jnp.isfinite(value) & (solution.result == diffrax.RESULTS.successful)
        moved = alive & (stop > start)
        return State(
            jax.tree.map(lambda new, old: jnp.where(moved, new, old), params, state.params),
            state.optimizer,
            jnp.where((state.diverged < 0) & ~alive, stop.astype(jnp.int32), state.diverged),
            jax.tree.map(lambda new, old: jnp.where(moved, new, old), nothing.plus(value), state.loss),
        )

    def evaluate(self, state: State, traced: TracedMember) -> dict[str, Any]:
        """The exact loss on uniform skills as `test/loss`, that on the training law (of steps, averaged since the
        last time; of a flow, now) as `train/loss`, probes."""
        member = self._member(traced)
        skills = n_skills(member.spec.task)
        exact = partial(exact_loss, member.spec, state.params, member.latent, uniform(skills, self.float_type))

        def on(probabilities: Array | None, name: str, samples: int) -> dict[str, Array]:
            return {"loss": exact()}

        context = ProbeContext(state.params, self._params(traced), on, skills, member.latent, exact)
        found = {"test/loss": exact(), "train/loss": state.loss.mean}
        for probe in member.spec.probes:
            found |= probe.measure(context)
        if member.bound.listens is not None:
            found["skills/exponent"] = self._exponent(member, state.params)
        return while_alive(state, found, self.float_type)

    def _batch(self, member: MemberContext, t: Any, params: Any) -> PopulationBatch:
        """The whole distribution, with the skill frequencies of step `t`."""
        frequency = None
        if member.order is not None:
            law: Any = member.bound.law
            exponent = self._exponent(member, jax.lax.stop_gradient(params)) if member.bound.listens else None
            by_rank = law.frequency(t / member.spec.steps) if exponent is None else law.at(exponent)
            frequency = _by_skill(by_rank, member.order)
        return PopulationBatch(member.latent, frequency)

    def _exponent(self, member: MemberContext, params: Any) -> Array:
        """The exponent of a law that listens: accuracy is known."""
        task: Any = member.spec.task
        agreement = lambda p: task.exact_agreement(params, member.latent, _by_skill(p, member.order))
        return cast(SelfAnnealedSchedule, member.bound.law).smallest(agreement)

    def _member(self, traced: TracedMember) -> MemberContext:
        bound = self.bound(traced)
        spec, seed = bound.spec, bound.seed
        with jax.enable_x64(False):
            task = spec.task
            order = skill_at_rank(spec.rank_order, task.n_skills, seed) if isinstance(task, HasSkills) else None
        return MemberContext(bound, None, None, latent_of(spec.task, stream(seed, "world")), order, Change())

    def _params(self, traced: TracedMember) -> Any:
        narrow = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, traced.values)
        with jax.enable_x64(False):
            spec = bound(self._template, traced._replace(values=narrow)).spec
            params = spec.model.init(stream(traced.seed, "init"), spec.task.inputs, spec.task.outputs)
        return jax.tree.map(lambda x: x.astype(self.float_type), params)

    @property
    def block_bytes(self) -> int:
        """Weights, directions, their gradients, overlaps between neurons."""
        leaves = jax.tree.leaves(self.state_shape.params)
        neurons = max(leaf.shape[0] for leaf in leaves) if isinstance(self._template.model, RidgeModel) else 0
        return 8 * self.state_bytes + 3 * neurons**2 * np.dtype(self.float_type).itemsize


class PopulationEnsemble(EnsembleEngine):
    """The plan `population`."""

    name: ClassVar[str] = "population"
    program_class: ClassVar[type[Program]] = PopulationProgram

    @classmethod
    def accepts(cls, spec: Spec) -> bool:
        return isinstance(spec.plan, Population)

    @classmethod
    def check(cls, spec: Spec) -> None:
        if not isinstance(spec.task, ExactLoss):
            raise InputError(without_formula(spec))
        refuse_samples(spec)
        spec.task.check_exact_loss(spec.model, spec.loss)
        listens = spec.skills if isinstance(spec.skills, Listens) else None
        if listens is not None and (listens.hears_skills or not isinstance(spec.task, ExactAgreement)):
            raise InputError(f"skills: {spec.skills.name!r} needs samples, or a task whose accuracy has a formula")
        if _plan(spec).dynamics == "flow" and not is_constant(spec.optimizer):
            raise InputError(
                f"plan = {spec.plan.name!r}: gradient flow measures time in steps x learning rate, which takes "
                "optimizer 'sgd' with a constant rate, no warm-up and no clipping"
            )


def without_formula(spec: Spec) -> str:
    """What to say of a task without an exact loss."""
    can = [name for name, cls in registry.registered("task").items() if issubclass(cls, ExactLoss)]
    return f"plan = {spec.plan.name!r}: task {spec.task.name!r} has no exact loss; these have one: {', '.join(can)}"


def refuse_samples(spec: Spec) -> None:
    """Raise `InputError` if a spec whose plan draws no samples asks for what needs them."""
    name = spec.plan.name
    if spec.training_set != TrainingSet():
        raise InputError(f"training_set: plan {name!r} takes the task's own samples")
    if spec.groups:
        raise InputError(f"groups: plan {name!r} trains all parameters alike")
    if spec.until is not None:
        raise InputError("until: only for plans that draw samples")
    looking_back.refuse(spec)


def _infinite_if_unknown(error: Any) -> Array:
    """Diffrax's norm of a step's error. A step that overflows has an error of inf / inf = nan; the next step would be
    nan times as long, and the flow would try it for ever. An infinite error makes the next step shorter."""
    from diffrax import PIDController

    norm = PIDController.norm(error)
    return jnp.where(jnp.isnan(norm), jnp.inf, norm)


def _by_skill(by_rank: Array, order: Array) -> Array:
    """(R,) frequencies of ranks, as frequencies of the skills that hold them."""
    return jnp.zeros_like(by_rank).at[order].set(by_rank)


def _plan(spec: Spec) -> Population:
    assert isinstance(spec.plan, Population)
    return spec.plan

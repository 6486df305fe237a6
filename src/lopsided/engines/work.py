"""What one member of a spec costs, counted by XLA from the program that would run, before anything runs.

Operations are those of one step and of one evaluation, with layers written out and the batch in one piece, because XLA
counts a loop's body once. Memory is that of the program that would run, with its pieces and its loop over layers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from lopsided.core.engine import Engine
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.plan import SampledPlan
from lopsided.core.registry import engine_of
from lopsided.core.shapes import Tokens
from lopsided.core.spec import Spec
from lopsided.engines.members import tree_bytes
from lopsided.engines.program import Program
from lopsided.plans.population import Population

IN_ONE_PIECE = Execution(micro_batch=2**31, unroll=True)
QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Which buffers there are is decided before LLVM sees the program."""


class Work(NamedTuple):
    """Operations and bytes of one member."""

    parameters: int
    step: float
    """Floating-point operations of a step; with gradient flow, of one adaptive step."""
    evaluation: float
    """Floating-point operations of an evaluation."""
    values: int
    """Metrics that an evaluation writes, one row each."""
    state: int
    """Bytes that stay: parameters and what the optimizer keeps."""
    temporary: int
    """Bytes that come and go while a step is taken."""
    adaptive: bool
    """Whether the number of steps is the method's own choice (gradient flow)."""


class PerMember(NamedTuple):
    """Floating-point operations of one member, by XLA's count."""

    step: float
    evaluation: float


def program_of(spec: Spec, execution: Execution = DEFAULT) -> Program | None:
    """The program that trains a spec; None for a prediction, which trains nothing."""
    engine: type[Engine] = engine_of(spec)
    found: type[Program] | None = getattr(engine, "program_class", None)
    return None if found is None else found.of(spec, execution)


def work_of(spec: Spec) -> Work | None:
    """Counted on whatever machine this is; None for a prediction."""
    whole, program = program_of(spec, IN_ONE_PIECE), program_of(spec)
    if whole is None or program is None:
        return None
    state = program.state_shape
    per = _counted(whole)
    with whole.precision():
        values = jax.eval_shape(whole.evaluate, state, whole.one)
    with program.precision():
        memory = lowered(program).compile(QUICKLY).memory_analysis()
    return Work(
        parameters=program.parameters,
        step=per.step,
        evaluation=per.evaluation,
        values=len(values),
        state=tree_bytes(state),
        temporary=int(memory.temp_size_in_bytes),
        adaptive=is_adaptive(spec),
    )


def per_member(spec: Spec) -> PerMember | None:
    """None where nothing is trained, or where the number of steps is the method's own choice (gradient flow). Takes 0.3
    to 4 s: the program is lowered with its layers written out."""
    whole = program_of(spec, IN_ONE_PIECE)
    return None if whole is None or is_adaptive(spec) else _counted(whole)


def _counted(whole: Program) -> PerMember:
    with whole.precision():
        evaluation = jax.jit(whole.evaluate).lower(whole.state_shape, whole.one)
        return PerMember(operations(lowered(whole)), operations(evaluation))


def is_adaptive(spec: Spec) -> bool:
    """Whether an integrator of gradient flow chooses its own steps, as many as it needs between two evaluations: a
    step of the spec is a unit of time then, and says nothing about the work."""
    return isinstance(spec.plan, Population) and spec.plan.dynamics == "flow"


def lowered(program: Program) -> Any:
    """The program that takes steps with one member, from its shapes alone."""
    return jax.jit(program.advance).lower(program.state_shape, program.one, jnp.int32(0), jnp.int32(1))


def operations(program: Any) -> float:
    """Floating-point operations by XLA's count, loops once."""
    return float((program.cost_analysis() or {}).get("flops", 0.0))


def samples_of(spec: Spec) -> int:
    """Samples that a member trains on, repeats counted."""
    return spec.plan.seen(spec.steps) if isinstance(spec.plan, SampledPlan) else 0


def tokens_of(spec: Spec) -> int:
    """Tokens that a member trains on; 0 where inputs are no tokens."""
    return samples_of(spec) * spec.task.inputs.length if isinstance(spec.task.inputs, Tokens) else 0

"""Samples that every step draws are drawn once, and no number changes."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core.engine import Member
from lopsided.core.execution import Execution
from lopsided.core.plan import Draw, SameDraws, same_draws
from lopsided.core.registry import registered
from lopsided.engines import ensemble, memory, program
from lopsided.engines.program import SampledProgram
from lopsided.plans.simple import FullBatch
from tests.engines import engine

KEY = jax.random.key_data(jax.random.key(3))
GROWING = {"name": "full-batch-phases", "phases": [{"steps": 3, "size": 37}, {"steps": 3, "size": 200}]}
WHOLE = {"name": "full-batch", "size": 200}
SIX = {"steps": 6, "evaluation": {"every": 3, "samples": 64}}


@pytest.fixture
def limit(monkeypatch):
    """Sets how many bytes may be held; programs made under another limit are forgotten."""

    def to(number):
        monkeypatch.setattr(program, "HELD_BYTES", number)
        program._PROGRAMS.clear()
        ensemble._COMPILED.clear()

    yield to
    to(program.HELD_BYTES)


def trained(spec, **execution):
    made = engine([Member(spec, s) for s in range(3)], **execution)
    rows = [found.metrics["train/loss"] for found in made.run() if found is not None]
    return made.program.holds, rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "ways",
    [{}, *(pytest.param(ways, marks=pytest.mark.slow) for ways in ({"micro_batch": 64}, {"batch_devices": 2}))],
    ids=str,
)
@pytest.mark.parametrize("plan", [WHOLE, GROWING], ids=lambda plan: plan["name"])
@pytest.mark.parametrize(
    "until",
    [None, pytest.param({"metric": "test/accuracy", "at_least": 0.99}, marks=pytest.mark.slow)],
    ids=["all steps", "until"],
)
def test_held_samples_are_those_drawn_in_every_step(parity, limit, plan, ways, until):
    if ways.get("batch_devices", 1) > len(jax.devices()) or (until and "batch_devices" in ways):
        pytest.skip("too few devices, or no pool")
    spec = parity(plan=plan, **SIX, until=until)
    held, rows = trained(spec, **ways)
    limit(0)
    drawn, same = trained(spec, **ways)
    assert held
    assert not drawn
    for a, b in zip(rows, same, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.slow
def test_large_sets_and_labels_of_every_step_are_drawn_anew(parity, limit):
    def holds(plan):
        return SampledProgram.of(parity(plan=plan, **SIX), Execution()).holds

    assert holds(WHOLE)
    random = [{"steps": 3, "size": 37, "labels": "random"}, {"steps": 3, "size": 200}]
    assert not holds({"name": "full-batch-phases", "phases": random})
    assert not holds({"name": "fixed", "size": 200, "batch": 20})
    limit(200)
    assert not holds(WHOLE)


@pytest.mark.slow
def test_held_samples_count_as_memory(parity):
    made = SampledProgram.of(parity(plan=WHOLE, **SIX), Execution())
    sample = made.held_bytes // 200
    assert sample * 200 == made.held_bytes > 0
    small = SampledProgram.of(parity(plan={**WHOLE, "size": 100}, **SIX), Execution())
    assert small.held_bytes == sample * 100
    more = memory.predicted(made, 4, 2).temporary - memory.predicted(small, 4, 2).temporary
    assert more == 2 * (made.block_bytes - small.block_bytes + 100 * sample)


@pytest.mark.slow
def test_places_that_fill_the_last_piece_count_as_memory(parity):
    sample = SampledProgram.of(parity(plan=WHOLE, **SIX), Execution()).held_bytes // 200
    in_pieces = SampledProgram.of(parity(plan=WHOLE, **SIX), Execution(micro_batch=64))
    assert in_pieces.held_bytes == 4 * 64 * sample
    shared = SampledProgram.of(parity(plan=WHOLE, **SIX), Execution(micro_batch=64, batch_devices=2))
    assert shared.held_bytes == 2 * 64 * sample


@pytest.mark.slow
def test_a_plan_that_draws_otherwise_does_not_inherit_the_word():
    class Turned(FullBatch):
        name: Literal["turned"] = "turned"

        def draw(self, key, step, memory=()):
            return Draw(super().draw(key, step).index + jnp.uint32(step))

    class Renamed(FullBatch):
        name: Literal["renamed"] = "renamed"

    assert same_draws(FullBatch(size=4))
    assert same_draws(Renamed(size=4))
    assert not same_draws(Turned(size=4))


@pytest.mark.slow
def test_plans_that_say_so_draw_the_same_in_every_step():
    """Over all plans that ship; each has an example here."""
    examples = {"full-batch": WHOLE, "full-batch-phases": GROWING}
    claimed = {name for name, kind in registered("plan").items() if issubclass(kind, SameDraws)}
    assert claimed == set(examples)
    for name in claimed:
        plan = registered("plan")[name].model_validate(examples[name])
        first = plan.draw(KEY, 0)
        for step in range(1, 6):
            draw = plan.draw(KEY, step)
            assert (draw.index == first.index).all()
            assert draw.level is None


@pytest.mark.slow
def test_a_held_set_is_streamed_from_two_pieces_on():
    size, activations = 2048, 639
    assert memory.micro_batch(size, activations) == size
    assert memory.micro_batch(size, activations, memory.STREAM_HELD_FROM) == 1024
    assert FullBatch(size=size).batch_size == size

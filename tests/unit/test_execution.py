"""How a spec is run changes no number: micro-batches, shared batches, rematerialisation; memory is known beforehand."""

import jax
import numpy as np
import pytest

from lopsided.core.engine import Member
from lopsided.core.errors import InputError
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.spec import Spec
from lopsided.engines import memory
from lopsided.engines.ensemble import _COMPILED, MOST_COMPILED, Ensemble, compiled
from lopsided.engines.program import SampledProgram
from tests import copying  # noqa: F401  (registers a packed text task)


def losses(spec, seeds=(0, 1, 2), **execution):
    ensemble = Ensemble([Member(spec, s) for s in seeds], Execution(**execution))
    found = [e.metrics for e in ensemble.run() if e is not None]
    return np.stack([[m["train/loss"], m["test/loss"]] for m in found])


TEXT = {
    "task": {"name": "copying"},
    "model": {"name": "transformer", "layers": 3, "width": 16, "heads": 2, "attention": "causal"},
    "plan": {"name": "online", "batch": 13},
    "optimizer": {"name": "sgd", "lr": 0.3},
    "loss": "cross-entropy",
    "steps": 20,
    "evaluation": {"every": 10, "samples": 64},
}
WAYS = [
    {"micro_batch": 5},
    {"micro_batch": 1},
    {"batch_devices": 2},
    {"batch_devices": 2, "micro_batch": 3},
    {"devices": 1},
    {"rematerialise": True},
    {"donate": False},
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_execution_changes_no_number_but_by_rounding(way):
    if way.get("batch_devices", 1) > len(jax.devices()):
        pytest.skip("one device")
    spec = Spec.parse(TEXT)
    np.testing.assert_allclose(losses(spec, **way), losses(spec), rtol=1e-4)


@pytest.mark.parametrize("plan", [{"name": "full-batch", "size": 37}, {"name": "two-set", "size": 16, "batch": 13}])
def test_a_batch_is_shared_by_devices_whatever_its_size(parity, plan):
    if len(jax.devices()) < 2:
        pytest.skip("one device")
    spec = parity(plan=plan, steps=20)
    np.testing.assert_allclose(losses(spec, batch_devices=2), losses(spec), rtol=1e-4, atol=1e-6)


def test_more_devices_than_there_are_is_one_line(parity):
    with pytest.raises(InputError, match="--devices-per-member 4096: this process has"):
        losses(parity(), batch_devices=4096)


def test_execution_is_no_part_of_a_spec_and_precision_of_products_is(parity):
    assert "execution" not in Spec.model_fields
    assert parity(products="float32").content_hash() == parity().content_hash()
    assert parity(products="bfloat16").content_hash() != parity().content_hash()


@pytest.mark.slow
def test_bfloat16_products_round_factors_and_keep_weights(parity):
    """The same training to about three digits, in float32 everywhere else."""
    exact, rounded = (losses(parity(products=p)) for p in ("float32", "bfloat16"))
    np.testing.assert_allclose(rounded, exact, rtol=0.1)
    assert (rounded != exact).any()
    ensemble = Ensemble([Member(parity(products="bfloat16"), 0)])
    ensemble.advance(2)
    assert {leaf.dtype for leaf in jax.tree.leaves(ensemble.state.params)} == {np.dtype(np.float32)}
    text = Spec.parse({**TEXT, "products": "bfloat16"})
    np.testing.assert_allclose(losses(text)[0], losses(Spec.parse(TEXT))[0], rtol=0.15)
    assert "bf16" in Ensemble([Member(text, 0)]).lowered().as_text()


def test_a_micro_batch_may_be_a_single_sample():
    """2 GiB of activations a sample and a batch of 32: one at a time. Small batches stay whole."""
    assert memory.micro_batch(32, 2**31) == 1
    assert memory.micro_batch(32, 2**33) == 1
    assert memory.micro_batch(32, 2**29) == 4
    assert memory.micro_batch(128, 1000) == 128
    assert memory.micro_batch(2**14, 1000) == 1024
    assert memory.micro_batch(256, 2**18) == 64  # small pieces are slow: not below 64 unless memory asks for it


CASES = {
    "perceptrons, full batch": (
        {
            "task": {"name": "sparse-parity", "d": 20, "k": 4},
            "model": {"name": "mlp", "width": 256},
            "plan": {"name": "full-batch", "size": 2**14},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "loss": "logistic",
            "steps": 4,
            "evaluation": {"every": 4},
        },
        8,
    ),
    "one wide perceptron": (
        {
            "task": {"name": "sparse-parity", "d": 20, "k": 4},
            "model": {"name": "mlp", "width": 1024, "depth": 4},
            "plan": {"name": "online", "batch": 64},
            "optimizer": {"name": "adamw", "lr": 0.001},
            "loss": "logistic",
            "steps": 4,
            "evaluation": {"every": 4},
        },
        1,
    ),
    "transformer": (
        {
            **TEXT,
            "model": {"name": "transformer", "layers": 6, "width": 128, "attention": "causal"},
            "optimizer": {"name": "adamw", "lr": 0.001},
            "plan": {"name": "online", "batch": 256},
            "steps": 4,
            "evaluation": {"every": 4},
        },
        2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_memory_is_predicted_before_anything_is_allocated(case):
    """Within a factor of 1.5 of what the compiler asks for."""
    settings, members = CASES[case]
    ensemble = Ensemble([Member(Spec.parse(settings), s) for s in range(members)], Execution(devices=1))
    predicted = ensemble.predicted_memory()
    found = ensemble.lowered().compile().memory_analysis()
    assert predicted.state == pytest.approx(found.output_size_in_bytes, rel=0.02)
    total = found.argument_size_in_bytes + found.output_size_in_bytes - found.alias_size_in_bytes
    assert 2 / 3 < predicted.total / (total + found.temp_size_in_bytes) < 3 / 2, (predicted, found)


def test_prediction_needs_no_arrays(parity):
    """A model far larger than this machine: its size is known all the same."""
    large = {"name": "mlp", "width": 65536, "depth": 24}
    program = SampledProgram(parity(model=large), DEFAULT)
    assert program.state_bytes > 2**35
    assert memory.members_per_job(program) == 1


def test_compiled_programs_are_forgotten_in_the_end():
    for i in range(2 * MOST_COMPILED):
        compiled(("test", i), object)
    assert len(_COMPILED) == MOST_COMPILED
    kept = compiled(("test", 2 * MOST_COMPILED - 1), object)
    assert compiled(("test", 2 * MOST_COMPILED - 1), object) is kept


def test_one_program_whatever_the_devices(tracking):
    """Its sizes are traced once: how a job is cut asks the same program as the ensemble that trains it."""
    one = SampledProgram.of(tracking(), Execution(devices=1, commit_seconds=1.0, largest_block=2))
    assert one is SampledProgram.of(tracking(), Execution())
    assert one is not SampledProgram.of(tracking(), Execution(rematerialise=True))

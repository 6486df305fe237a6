"""The ensemble engine: independence of members, divergence, streaming, agreement with a hand-written loop."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lopsided.core import registry
from lopsided.core.engine import Member
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.keys import below, stream, words
from lopsided.engines import memory
from lopsided.engines.ensemble import Ensemble
from lopsided.engines.members import program_key
from lopsided.engines.program import SampledProgram
from lopsided.store.parts import Store
from lopsided.work.worker import run


def train(members, **execution):
    ensemble = Ensemble(members, Execution(**execution))
    curves = list(ensemble.run())
    n = len(members)
    params = jax.tree.map(lambda x: np.asarray(x)[:n], ensemble.state.params)
    return params, {k: np.stack([c.metrics[k] for c in curves], 1) for k in curves[0].metrics}, curves


def row(tree, i):
    return jax.tree.map(lambda x: x[i], tree)


def distance(a, b):
    """Largest difference in units of the last place of the largest value."""
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return max(float(np.abs(x - y).max() / np.spacing(np.abs(x).max().astype(np.float32))) for x, y in pairs)


def mixed_members(make):
    """Members that differ in seed and in every traced field."""
    specs = [
        make(),
        make(optimizer={"name": "sgd", "lr": 0.1}),
        make(plan={"name": "fixed", "size": 1000, "batch": 16}),
    ]
    return [Member(s, seed) for s in specs for seed in range(5)]


def test_member_of_an_ensemble_equals_the_member_alone(parity):
    """Alone, a member's matrix products may be added up in another order: at most 64 ulp after 60 steps."""
    members = mixed_members(parity)
    params, metrics, _ = train(members)
    for i in (0, 7, 14):
        alone, alone_metrics, _ = train([members[i]])
        assert distance(row(params, i), row(alone, 0)) <= 64
        np.testing.assert_allclose(metrics["test/accuracy"][i], alone_metrics["test/accuracy"][0], atol=1 / 64)


def test_transformer_member_equals_the_member_alone(tracking):
    """The same for attention and Adam, whose division by small second moments magnifies: at most 2^12 ulp."""
    members = [Member(tracking(), s) for s in range(4)]
    params, _, _ = train(members)
    alone, _, _ = train([members[2]])
    assert distance(row(params, 2), row(alone, 0)) <= 2**12


def test_results_do_not_depend_on_company_of_the_same_size(parity):
    """In an ensemble of the same shape a member's numbers are equal bit for bit, whoever the others are."""
    spec = parity()
    a, _, _ = train([Member(spec, s) for s in (0, 1, 2, 3)])
    b, _, _ = train([Member(spec, s) for s in (9, 8, 2, 7)])
    assert distance(row(a, 2), row(b, 2)) == 0


def test_seeds_differ(parity):
    params, _, _ = train([Member(parity(), s) for s in range(4)])
    assert not np.allclose(params.layers[0].weight[0], params.layers[0].weight[1])


@pytest.mark.slow
def test_one_device_or_two_and_any_block_size(parity):
    members = mixed_members(parity)
    reference, _, _ = train(members)
    one, _, _ = train(members, devices=1)
    blocks, _, _ = train(members, largest_block=2)
    assert distance(reference, one) <= 64
    assert distance(reference, blocks) <= 64


def test_diverged_member_is_frozen_and_alone(parity):
    good = parity(loss="square")
    bad = parity(loss="square", optimizer={"name": "sgd", "lr": 1e5})
    members = [Member(good, 0), Member(bad, 0), Member(good, 1), Member(good, 2)]
    params, metrics, curves = train(members)
    clean, clean_metrics, _ = train([Member(good, 0), Member(good, 9), Member(good, 1), Member(good, 2)])
    assert curves[-1].diverged[1] >= 0
    assert (curves[-1].diverged[[0, 2, 3]] == -1).all()
    assert np.isnan(metrics["test/accuracy"][1, -1])
    for i in (0, 2, 3):
        assert distance(row(params, i), row(clean, i)) == 0
        assert (metrics["test/loss"][i] == clean_metrics["test/loss"][i]).all()


def test_streamed_full_batch_equals_whole_batch(parity):
    spec = parity(plan={"name": "full-batch", "size": 1000}, steps=20, evaluation={"every": 10, "samples": 64})
    whole, _, _ = train([Member(spec, 0), Member(spec, 1)])
    streamed, _, _ = train([Member(spec, 0), Member(spec, 1)], micro_batch=64)  # the last piece is cut
    for x, y in zip(jax.tree.leaves(whole), jax.tree.leaves(streamed), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def test_equals_a_loop_written_by_hand(parity):
    """The whole engine against thirty lines of NumPy: sampling, loss, gradient, update."""
    spec, seed = parity(loss="square", optimizer={"name": "sgd", "lr": 0.2}, steps=20), 3
    params, _, _ = train([Member(spec, seed)])
    first = spec.model.init(stream(seed, "init"), spec.task.inputs, spec.task.outputs)
    w, b = np.array(first.layers[0].weight, np.float64), np.array(first.layers[0].bias, np.float64)
    a, c = np.array(first.layers[1].weight, np.float64)[:, 0], float(first.layers[1].bias[0])
    for t in range(20):
        index = np.asarray(below(words(stream(seed, "plan"), t, 16), 64))
        bits = np.stack([np.asarray(words(stream(seed, "train"), int(i), 1))[0] >> np.arange(8) & 1 for i in index])
        x = bits * 2.0 - 1
        y = x[:, 0] * x[:, 1]
        z = x @ w + b
        h = np.maximum(z, 0)
        error = (h @ a + c - y) / 16
        dz = np.outer(error, a) * (z > 0)
        a, c = a - 0.2 * h.T @ error, c - 0.2 * error.sum()
        w, b = w - 0.2 * x.T @ dz, b - 0.2 * dz.sum(0)
    np.testing.assert_allclose(params.layers[0].weight[0], w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(params.layers[1].weight[0][:, 0], a, rtol=1e-4, atol=1e-5)


def test_skill_distributions_share_one_program(tracking):
    kinds = [
        {"name": "uniform"},
        {"name": "power-law", "alpha": 1.5},
        {"name": "binned-power-law", "alpha": 1, "bins": 2},
        {"name": "annealed"},
    ]
    assert len({program_key(tracking(skills=kind)) for kind in kinds}) == 1


@pytest.mark.slow
def test_arms_in_one_ensemble_train_on_their_own_distribution(tracking):
    """The power-law arm's training loss differs from the uniform arm's although both are one program."""
    arms = [tracking(skills={"name": "uniform"}), tracking(skills={"name": "power-law", "alpha": 3})]
    _, together, _ = train([Member(a, 0) for a in arms])
    for i, arm in enumerate(arms):
        _, alone, _ = train([Member(arm, 0)])
        np.testing.assert_allclose(together["train/loss"][i], alone["train/loss"][0], rtol=1e-3)
    assert together["train/loss"][1, 0] < 0.8 * together["train/loss"][0, 0]


def test_training_loss_is_the_mean_since_the_last_evaluation(parity):
    every = parity(evaluation={"every": 1, "samples": 8}, steps=4)
    once = parity(evaluation={"every": 4, "samples": 8}, steps=4)
    _, fine, _ = train([Member(every, 0)])
    _, coarse, _ = train([Member(once, 0)])
    np.testing.assert_allclose(fine["train/loss"][0].mean(), coarse["train/loss"][0, 0], rtol=1e-5)


def test_slices_change_no_number(tracking):
    spec = tracking()
    whole, metrics, _ = train([Member(spec, s) for s in range(3)])
    ensemble = Ensemble([Member(spec, s) for s in range(3)])
    curves = list(ensemble.run(slice_seconds=1e-9))  # slices shrink to one step
    assert sum(c is None for c in curves) > 5
    sliced = jax.tree.map(lambda x: np.asarray(x)[:3], ensemble.state.params)
    assert distance(whole, sliced) == 0
    assert [c.step for c in curves if c is not None] == [10, 20, 30]
    last = curves[-1].metrics
    assert all((last[k] == metrics[k][:, -1]).all() for k in last)


def test_memory_bounds_the_ensemble(parity):
    program = SampledProgram(parity(), DEFAULT)
    per_member = 3 * program.state_bytes
    assert memory.members_that_fit(program, per_member * 10) == 10
    assert memory.members_that_fit(program, 1) == 1


@pytest.mark.slow
def test_curriculum_trains_on_shorter_products(tracking):
    stages = [{"steps": 10, "weights": [1]}, {"steps": 20, "weights": [0, 1]}]
    spec = tracking(plan={"name": "curriculum", "batch": 16, "stages": stages})
    _, metrics, _ = train([Member(spec, 0)])
    whole = tracking(plan={"name": "online", "batch": 16})
    _, other, _ = train([Member(whole, 0)])
    assert np.isfinite(metrics["train/loss"]).all()
    assert (metrics["train/loss"] != other["train/loss"]).all()  # the first ten steps saw other samples
    only_the_last = [{"steps": 30, "weights": [0, 1]}]
    _, same, _ = train([Member(spec.replace({"plan": {**spec.plan.model_dump(), "stages": only_the_last}}), 0)])
    np.testing.assert_allclose(same["train/loss"], other["train/loss"], rtol=1e-5)  # two hops are the task itself


@pytest.mark.parametrize("steps", [1, 7])
def test_last_stretch_may_be_shorter(parity, steps):
    spec = parity(steps=steps, evaluation={"every": min(5, steps), "samples": 8})
    _, _, curves = train([Member(spec, 0)])
    assert curves[-1].step == steps


def test_probe_sees_norms(parity):
    spec = parity(probes=[{"name": "weight-norms"}], steps=1, evaluation={"every": 1, "samples": 8})
    params, metrics, _ = train([Member(spec, 0)])
    first, last = (np.linalg.norm(layer.weight[0]) for layer in params.layers)
    assert metrics["norm/ratio"][0, 0] == pytest.approx(last / first, rel=1e-4)
    assert jnp.isfinite(metrics["norm/layer1"]).all()


@pytest.mark.parametrize("wide", [False, True])
def test_compile_compiles_step_and_evaluation_once_each(parity, wide):
    """It compiles ahead, in threads; a call that did not find that would compile everything a second time."""
    spec = parity(steps=20, model={"name": "mlp", "width": 24})
    if wide:  # in double precision, whose context belongs to a thread
        exact = {"name": "population", "dynamics": "steps", "precision": 64}
        task, model = {"name": "k-composition", "d": 6, "k": 2}, {"name": "product"}
        spec = parity(task=task, model=model, plan=exact, loss="square", steps=20)
    engine = registry.engine_of(spec)([Member(spec, seed) for seed in range(3)], DEFAULT)
    compiled = []

    def note(event, seconds, **more):
        if event.endswith("backend_compile_duration"):
            compiled.append(more["fun_name"])

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        engine.compile()
    finally:
        jax.monitoring.unregister_event_duration_listener(note)
    large = [name for name in compiled if "convert_element_type" not in name]
    assert len(large) == len(set(large)) == 2


@pytest.mark.parametrize("until", [{}, {"until": {"at_least": 0.99}}])
def test_arrays_of_a_job_are_freed_without_the_collector(parity, tmp_path, until):
    """The command line lets it look rarely: arrays that waited for it would fill the memory, job after job."""
    gc.collect()
    before = jax.live_arrays()
    gc.disable()
    try:
        run([parity(**until)], 4, Store(tmp_path))
        known = set(map(id, before))
        assert not [x.shape for x in jax.live_arrays() if id(x) not in known]
    finally:
        gc.enable()

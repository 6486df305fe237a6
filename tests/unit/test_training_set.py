"""Changes of the training set do exactly what they say, and leave the rest of the task alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lopsided as lop
from lopsided.core.errors import InputError
from lopsided.core.keys import stream
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.core.task import SampleContext, latent_of
from lopsided.core.training_set import NEEDS, supported
from lopsided.engines.members import BoundMember, law_of
from lopsided.engines.sampling import context_of, training_sample

SIM = {
    "task": {"name": "single-index", "d": 12},
    "model": {"name": "mlp", "width": 16},
    "plan": {"name": "full-batch", "size": 512},
    "optimizer": {"name": "sgd", "lr": 0.01},
    "loss": "square",
    "steps": 4,
    "evaluation": {"every": 2, "samples": 64},
}


def samples(spec, n, seed=3, random=None, subset=None):
    words = jnp.array([seed, 0], jnp.uint32)

    @jax.jit
    def draw():
        member = context_of(BoundMember(spec, law_of(spec), words))
        one = lambda i: training_sample(member, i, None, None, random, subset)
        return jax.vmap(one)(jnp.arange(n, dtype=jnp.uint32))

    return draw(), latent_of(spec.task, stream(seed, "world"))


def test_balanced_inputs_have_mean_zero(parity):
    spec = parity(training_set={"remove": "balanced-inputs"}, plan={"name": "full-batch", "size": 254})
    found, _ = samples(spec, 254)
    x, y = np.asarray(found.inputs), np.asarray(found.targets)
    assert (x.sum(0) == 0).all()
    assert (x[y == 1].sum(0) == 0).all()  # an even parity does not change with the sign of its inputs
    assert y.sum() != 0


def test_balanced_labels_have_mean_zero_in_every_class(parity):
    spec = parity(training_set={"remove": "balanced-labels"}, plan={"name": "full-batch", "size": 256})
    found, latent = samples(spec, 256)
    x, y = np.asarray(found.inputs), np.asarray(found.targets)
    assert y.sum() == 0
    assert (x[y == 1].sum(0) == 0).all()
    assert (x[y == -1].sum(0) == 0).all()
    assert all(spec.task.oracle(a, latent) == b for a, b in zip(x, y, strict=True))
    assert len(np.unique(x, axis=0)) > 100


def test_whitened_inputs_have_covariance_one():
    spec = Spec.parse({**SIM, "training_set": {"remove": "whitened"}})
    found, latent = samples(spec, 512)
    x = np.asarray(found.inputs, np.float64)
    np.testing.assert_allclose(x.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(x.T @ x / 512, np.eye(12), atol=1e-4)
    for a, b in zip(x[:50], np.asarray(found.targets), strict=False):
        np.testing.assert_allclose(spec.task.oracle(a, latent), b, rtol=1e-3, atol=1e-3)
    plain, _ = samples(Spec.parse(SIM), 512)
    assert np.abs(np.asarray(plain.inputs).mean(0)).max() > 1e-2


PHASES = [{"steps": 2, "size": 256}, {"steps": 2, "size": 512}]


@pytest.mark.parametrize(
    "plan",
    [{"name": "full-batch-phases", "phases": PHASES}, {"name": "phases", "batch": 8, "phases": PHASES}],
    ids=lambda plan: plan["name"],
)
def test_each_phase_is_whitened_by_its_own_set(plan):
    spec = Spec.parse({**SIM, "training_set": {"remove": "whitened"}, "plan": plan})
    draws = [spec.plan.draw(stream(jnp.array([3, 0], jnp.uint32), "plan"), step) for step in range(4)]
    assert [int(draw.subset) for draw in draws] == [0, 0, 1, 1]
    for subset, size in enumerate((256, 512)):
        x = np.asarray(samples(spec, size, subset=jnp.int32(subset))[0].inputs, np.float64)
        np.testing.assert_allclose(x.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(x.T @ x / size, np.eye(12), atol=1e-4)


def test_training_takes_each_phase_s_own_moments(tmp_path):
    """At a rate that moves nothing, the losses of two phases are those of either set alone."""
    plans = {
        "both": {"name": "full-batch-phases", "phases": PHASES},
        "first": {"name": "full-batch", "size": 256},
        "second": {"name": "full-batch", "size": 512},
    }
    still = {**SIM, "optimizer": {"name": "sgd", "lr": 1e-12}, "training_set": {"remove": "whitened"}}
    specs = {name: Spec.parse({**still, "plan": plan}) for name, plan in plans.items()}
    arms = lop.run(specs, seeds=2, out=tmp_path).arms
    both, first, second = (arms[name].values["train/loss"] for name in plans)
    at = {step: place for place, step in enumerate(arms["both"].steps)}
    np.testing.assert_allclose(both[:, at[2]], first[:, at[2]], rtol=1e-5)
    np.testing.assert_allclose(both[:, at[4]], second[:, at[4]], rtol=1e-5)
    assert (np.abs(first / second - 1)[:, at[4]] > 1e-3).all()


def test_the_whole_population_comes_once(parity):
    spec = parity(training_set={"remove": "repeats"}, plan={"name": "full-batch", "size": 256})
    x = np.asarray(samples(spec, 256)[0].inputs)
    assert len(np.unique(x, axis=0)) == 256
    other = np.asarray(samples(spec, 64, seed=4)[0].inputs)
    assert (x[:64] != other).any()


@pytest.mark.parametrize("plan", [{"name": "online", "batch": 16}, {"name": "full-batch", "size": 20_000}])
def test_a_biased_stream_has_the_means_of_the_small_sample(parity, plan):
    """Of a large set under gradient descent, too, as in paper C, figure 3b."""
    spec = parity(training_set={"biased_by": 8}, plan=plan)
    found, latent = samples(spec, 20_000)
    x = np.asarray(found.inputs)
    first = jax.vmap(lambda i: spec.task.sample(stream(3, "bias"), i, SampleContext(latent)).inputs)(jnp.arange(8))
    np.testing.assert_allclose(x.mean(0), np.asarray(first).mean(0), atol=0.03)
    assert all(spec.task.oracle(a, latent) == b for a, b in zip(x[:200], np.asarray(found.targets), strict=False))
    centred = x - x.mean(0)
    covariance = centred.T @ centred / len(x)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 0.03


def phases(labels):
    return {
        "name": "full-batch-phases",
        "phases": [{"steps": 2, "size": 256, "labels": labels}, {"steps": 2, "size": 512}],
    }


def test_random_signs_are_fair_and_stay(parity):
    spec = parity(plan=phases("random"), steps=4, evaluation={"every": 2, "samples": 64})
    found = samples(spec, 4096, random=jnp.bool_(True))[0]
    again = samples(spec, 4096, random=jnp.bool_(True))[0]
    true = samples(spec, 4096, random=jnp.bool_(False))[0]
    y = np.asarray(found.targets)
    assert (y == np.asarray(again.targets)).all()
    assert (np.asarray(found.inputs) == np.asarray(true.inputs)).all()
    assert abs(y.mean()) < 0.08
    assert abs((y * np.asarray(true.targets)).mean()) < 0.08
    assert set(np.unique(y)) == {-1.0, 1.0}


def test_random_direction_keeps_the_link():
    spec = Spec.parse({**SIM, "plan": phases("random")})
    found, _ = samples(spec, 20_000, random=jnp.bool_(True))
    true, latent = samples(spec, 20_000, random=jnp.bool_(False))
    a, b = np.asarray(found.targets), np.asarray(true.targets)
    x = np.asarray(found.inputs)
    assert abs(a.var() - b.var()) < 0.1 * b.var() * 5  # heavy tails
    # E[y x x x] points at the direction: its overlap with the true one is that of two random directions.
    other = spec.task.latent(jax.random.fold_in(stream(3, "labels"), 0))
    np.testing.assert_allclose(
        a, np.asarray(jax.vmap(lambda v: spec.task.of_coordinates(v, other).targets)(x)), rtol=1e-4, atol=1e-4
    )
    assert abs(float(other @ latent)) < 0.95


def test_every_change_has_a_task_that_can_make_it():
    able = {change for cls in registered("task").values() for change in supported(cls())}
    assert able == set(NEEDS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training_set": {"remove": "whitened"}}, "task 'sparse-parity' can do balanced-inputs"),
        ({"training_set": {"remove": "balanced-labels"}, "plan": {"name": "full-batch", "size": 66}}, "multiples of 4"),
        ({"training_set": {"biased_by": 8}, "plan": {"name": "two-set", "size": 40, "batch": 4}}, "all fresh"),
        ({"training_set": {"biased_by": 8, "remove": "repeats"}}, "either remove or biased_by"),
        ({"training_set": {"remove": "bias"}}, "training_set"),
        ({"task": {"name": "sparse-parity", "d": 40, "k": 2}, "training_set": {"remove": "repeats"}}, "at most 2.30"),
    ],
)
def test_what_cannot_be_done_is_refused(parity, changes, message):
    with pytest.raises(InputError, match=message):
        parity(**changes)


def test_whitening_needs_sets_larger_than_the_dimension():
    small = {**SIM, "training_set": {"remove": "whitened"}, "plan": {"name": "full-batch", "size": 12}}
    grows = {"name": "full-batch-phases", "phases": [{"steps": 2, "size": 12}, {"steps": 2, "size": 512}]}
    for plan in (small["plan"], grows):
        with pytest.raises(InputError, match="more than d = 12"):
            Spec.parse({**small, "plan": plan})
    with pytest.raises(InputError, match="fixed sets"):
        Spec.parse({**small, "plan": {"name": "online", "batch": 4}})


def test_random_labels_need_a_task_that_has_them(tracking):
    plan = {"name": "phases", "batch": 16, "phases": [{"steps": 30, "size": 64, "labels": "random"}]}
    with pytest.raises(InputError, match="random"):
        tracking(plan=plan, skills={"name": "uniform"})


@pytest.mark.parametrize(
    "change",
    [
        {"remove": "none"},
        {"remove": "balanced-inputs"},
        {"remove": "balanced-labels"},
        {"remove": "repeats"},
        {"biased_by": 8},
    ],
)
def test_parity_as_tokens_has_the_samples_of_parity_as_numbers(parity, change):
    """Another way to write the same samples, whatever is changed about them."""
    plan = {"name": "online", "batch": 16} if "biased_by" in change else {"name": "fixed", "size": 64, "batch": 16}
    numbers = parity(training_set=change, plan=plan)
    model = {"name": "transformer", "layers": 1, "width": 8, "heads": 2}
    task = {"name": "sparse-parity", "d": 8, "k": 2, "encoding": "tokens"}
    tokens = parity(training_set=change, plan=plan, task=task, model=model)
    a, b = samples(numbers, 64)[0], samples(tokens, 64)[0]
    assert b.inputs.dtype == jnp.int32
    np.testing.assert_array_equal(2 * np.asarray(b.inputs) - 1, a.inputs)
    np.testing.assert_array_equal(a.targets, b.targets)
    assert numbers.task.content_hash() != tokens.task.content_hash()


def test_random_classes_are_uniform_and_stay():
    spec = Spec.parse(
        {
            "task": {"name": "modular-addition", "n": 20, "p": 5, "base": 10},
            "model": {"name": "transformer", "layers": 1, "width": 8, "heads": 2, "attention": "causal"},
            "plan": phases("random"),
            "optimizer": {"name": "adamw", "lr": 0.01},
            "loss": "cross-entropy",
            "steps": 4,
            "evaluation": {"every": 2, "samples": 64},
        }
    )
    random, true = (samples(spec, 5000, random=jnp.bool_(each))[0] for each in (True, False))
    y, z = np.asarray(random.targets)[:, 0], np.asarray(true.targets)[:, 0]
    np.testing.assert_array_equal(random.inputs, true.inputs)
    assert np.abs(np.bincount(y, minlength=5) / 5000 - 0.2).max() < 0.03
    assert abs((y == z).mean() - 0.2) < 0.03
    np.testing.assert_array_equal(y, np.asarray(samples(spec, 5000, random=jnp.bool_(True))[0].targets)[:, 0])

"""What every task promises, checked for each one by its mere existence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

from lopsided.core.batch import target_weights
from lopsided.core.keys import seed_words, stream
from lopsided.core.registry import registered
from lopsided.core.shapes import Classes, Scalar, Tokens, Vector, Vectors
from lopsided.core.task import (
    FiniteInputs,
    HasChance,
    HasSkills,
    HoldsOut,
    SampleContext,
    SkillLaw,
    latent_of,
    n_levels,
    n_skills,
)
from lopsided.skills.distributions import PowerLaw, Uniform
from lopsided.skills.ranks import skill_at_rank
from tests import copying  # noqa: F401  (a task from outside the package)

VARIANTS = {
    "state-tracking": [
        {"group": "S3", "hops": 2},
        {"group": "S5", "hops": 4, "encoding": "digits"},
        {"group": "A5", "hops": 3},
        {"group": "S4", "hops": 4},
        {"group": "Z7", "hops": 5},
        {"group": "D4", "hops": 3, "encoding": "digits"},
        {"group": "S3xZ2", "hops": 3, "encoding": "digits"},
        {"group": ((0, 1), (1, 0)), "hops": 6},
    ],
    "sparse-parity": [
        {"d": 20, "k": 6},
        {"d": 10, "k": 10},
        {"d": 100, "k": 3},
        {"d": 40, "k": 5, "encoding": "tokens"},
    ],
    "icl-regression": [{}, {"dimension": 1, "examples": 1}, {"dimension": 7, "examples": 12}],
    "modular-addition": [{}, {"n": 5000, "p": 113, "base": 8}, {"n": 101, "p": 101, "base": 101}],
    "single-index": [{"d": 40}, {"d": 8, "link": {"2": 0.6, "4": 0.8}, "normalised": True}],
    "additive-teacher": [
        {"d": 24, "directions": 8},
        {"d": 8, "directions": 8, "beta": 0.75, "link": {"4": 0.8, "6": 0.6}},
        {"d": 32, "directions": 1, "link": "h3"},
    ],
    "sparse-features": [{}, {"d": 9, "copies": 3, "beta": 0.5}],
    "k-composition": [{"d": 16, "k": 2}, {"d": 64, "k": 4}],
    "arithmetic": [
        {},
        {"n": 20, "ops": 2, "tokens": "words", "train_on": "text", "held_out_sequences": 2},
        {"n": 9, "ops": 6, "operators": ("+", "-"), "context": 128, "train_on": "text"},
    ],
    "multi-hop-qa": [
        {"people": 10, "held_out_people": 2},
        {"hops": 4, "people": 50, "tokens": "words", "context": 200},
        {"relations": 5, "hops": 2, "people": 7, "facts": 0.5, "train_on": "text"},
    ],
    "grade-school-math": [
        {"ops": (2, 4)},  # longer ones take longer to compile; `tests.reference.oracles` solves them
        {"ops": (2, 3), "modulus": 23, "merged": True, "context": 256, "tokens": "words", "train_on": "text"},
    ],
}
LONG = "arithmetic", "multi-hop-qa", "grade-school-math"
"""Tasks whose samplers take seconds to compile: of them one variant is for `make test`, of the last none."""
CASES = [
    pytest.param(
        cls(**variant), id=f"{name}-{i}", marks=[pytest.mark.slow] * (name in LONG and (i > 0 or name == LONG[-1]))
    )
    for name, cls in [(n, c) for n, c in registered("task").items() if c.__module__ != "tests.scratch"]
    for i, variant in enumerate(VARIANTS.get(name, [{}]))
]
each_task = pytest.mark.parametrize("task", CASES)


def exact(task):
    """Whether targets are integers or signs."""
    return isinstance(task.outputs, Classes) or task.outputs.signs


def law_of(task, skills, order="lexicographic", seed=0):
    if not n_skills(task):
        return None
    return SkillLaw(skills.schedule(task.n_skills).cumulative(0.0), skill_at_rank(order, task.n_skills, seed))


def has_long_rows(task):
    """Such rows are slow to draw, and ask for many skills each."""
    return isinstance(task.inputs, Tokens) and task.inputs.length >= 100


BLOCK = 512
"""Samples that are drawn together: one size for all tests, because compiling takes longer than drawing."""


def draw(task, n, seed=0, name="train", skills=None, order="lexicographic", start=0, block=BLOCK, sampler=None):
    law = law_of(task, skills or Uniform(), order, seed)
    latent = latent_of(task, stream(seed, "world"))
    together = sampler or sampler_of(task, "test" if name == "test" else "train")
    starts = range(start, start + n, block)
    blocks = [together(stream(seed, name), latent, law, jnp.arange(i, i + block, dtype=jnp.uint32)) for i in starts]
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:n], *blocks), latent


SAMPLERS = {}
"""By the task's id, because some tasks have fields that cannot be hashed, and purpose; `CASES` keeps the tasks."""


def sampler_of(task, purpose):
    """Compiled once for all seeds and laws."""
    if (id(task), purpose) not in SAMPLERS:
        SAMPLERS[id(task), purpose] = new_sampler(task, purpose)
    return SAMPLERS[id(task), purpose]


def new_sampler(task, purpose):
    """A function of key, latent, law and indices (n,) that compiles anew, as it would in another process."""

    @jax.jit
    def samples(key, latent, law, index):
        return jax.vmap(lambda i: task.sample(key, i, SampleContext(latent, law, None, purpose)))(index)

    return samples


@pytest.mark.slow
@each_task
def test_same_key_same_bytes(task):
    a, b = draw(task, 64)[0], draw(task, 64, sampler=new_sampler(task, "train"))[0]
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@each_task
def test_a_sample_does_not_depend_on_its_batch(task):
    whole, part = draw(task, 64)[0], draw(task, 8, start=40, block=8)[0]
    for x, y in zip(jax.tree.leaves(whole), jax.tree.leaves(part), strict=True):
        # A sum of float32 products may be compiled in another order for another batch.
        np.testing.assert_allclose(x[40:48], y, rtol=0, atol=0 if exact(task) else 2e-6)


@pytest.mark.slow
@each_task
def test_shapes_and_ranges(task):
    batch, _ = draw(task, 256)
    if isinstance(task.inputs, Tokens):
        assert batch.inputs.shape == (256, task.inputs.length)
        assert 0 <= int(batch.inputs.min()) <= int(batch.inputs.max()) < task.inputs.vocabulary
    elif isinstance(task.inputs, Vectors):
        assert batch.inputs.shape == (256, *task.inputs)
    else:
        assert isinstance(task.inputs, Vector)
        assert batch.inputs.shape == (256, task.inputs.dimension)
    if isinstance(task.outputs, Classes):
        read = batch.inputs.shape[1] if task.outputs.read is None else len(task.outputs.read)
        assert batch.targets.shape == target_weights(batch).shape == (256, read)
        assert 0 <= int(batch.targets.min()) <= int(batch.targets.max()) < task.outputs.count
    else:
        assert batch.targets.shape == (256,)
        if task.outputs.signs:
            assert set(np.unique(batch.targets)) <= {-1.0, 1.0}
    assert isinstance(task, HasSkills) == (batch.skills is not None)
    assert batch.skills is None or -1 <= int(batch.skills.min()) <= int(batch.skills.max()) < task.n_skills


@each_task
def test_labels_equal_the_slow_oracle(task):
    batch, latent = draw(task, 300)
    latent = jax.tree.map(np.asarray, latent)
    # A real-valued target is computed in float32, its oracle in float64.
    close = 1e-4 if isinstance(task.outputs, Scalar) and not task.outputs.signs else 0
    for x, y, w in zip(*map(np.asarray, (batch.inputs, batch.targets, target_weights(batch))), strict=True):
        # What has no weight may be anything.
        np.testing.assert_allclose(task.oracle(x, latent)[w > 0], y[w > 0], rtol=close, atol=close)


@each_task
@pytest.mark.parametrize("order", ["lexicographic", "random"])
def test_skills_come_as_often_as_declared(task, order):
    """Chi-square of the counts against the declared power law in the declared rank order."""
    if not isinstance(task, HasSkills):
        pytest.skip("has no skills")
    skills = PowerLaw(alpha=1.2)
    batch, _ = draw(task, 10_000 if has_long_rows(task) else 40_000, skills=skills, order=order, seed=5)
    needed = np.asarray(batch.skills).ravel()
    counts = np.bincount(needed[needed >= 0], minlength=task.n_skills)  # -1: no further skill
    by_rank = counts[np.asarray(skill_at_rank(order, task.n_skills, 5))]
    expected = skills.schedule(task.n_skills).probabilities() * counts.sum()
    assert chisquare(by_rank, expected).pvalue > 1e-4


@each_task
def test_chance_is_the_best_constant_guess(task):
    if not isinstance(task, HasChance):
        pytest.skip("nothing is guessed, or chance is not known")
    seeds, n = 300, 200  # many seeds: hidden worlds differ in how lopsided their labels are
    law, index = law_of(task, Uniform()), jnp.arange(n, dtype=jnp.uint32)

    @jax.jit
    @jax.vmap
    def targets_of(words):
        key, context = stream(words, "test"), SampleContext(latent_of(task, stream(words, "world")), law, None, "test")
        return jax.vmap(lambda i: task.sample(key, i, context).targets)(index)

    targets = np.asarray(targets_of(jnp.array([seed_words(s) for s in range(seeds)], jnp.uint32)))
    guesses, counts = np.unique(targets.reshape(seeds * n, -1), axis=0, return_counts=True)
    right = (targets.reshape(seeds, n, -1) == guesses[counts.argmax()]).all(-1).mean(1)
    # The best of many equally good guesses lies a few standard errors above the true chance.
    error = right.std() / seeds**0.5
    assert task.chance - 4 * error < right.mean() < task.chance + 5 * error


@pytest.mark.slow
@each_task
def test_neighbouring_seeds_and_test_streams_share_no_sample(task):
    """Tasks with more inputs than collisions by chance could hit share none in 10⁵, where streams that are named by 32
    bits would probably share some. Long rows take long to draw: 2,000. The streams that small tasks draw words from are
    compared in `tests/unit/test_keys.py`."""
    few = isinstance(task, FiniteInputs) and task.entropy_bits < 60
    many = 4000 if few else 2000 if has_long_rows(task) else 100_000
    first = counted(draw(task, many)[0])
    for seed, name in ((1, "train"), (0, "test")):
        other = counted(draw(task, many, seed, name)[0])
        if not few:
            assert not set(map(bytes, first)) & set(map(bytes, other))
        elif first.shape == other.shape:  # not questions of another length
            assert (first == other).all(axis=1).mean() < 0.5


@pytest.mark.slow
@each_task
def test_levels_are_real_tasks(task):
    """At every level the label is the oracle's for that input; the highest level is the task itself."""
    if n_levels(task) == 1:
        pytest.skip("has one level")
    law, latent, key = law_of(task, Uniform()), latent_of(task, stream(0, "world")), stream(0, "train")
    index = jnp.arange(40, dtype=jnp.uint32)
    for level in range(n_levels(task)):
        batch = jax.vmap(lambda i, j=level: task.sample(key, i, SampleContext(latent, law, j)))(index)
        close = 1e-4 if isinstance(task.outputs, Scalar) and not task.outputs.signs else 0
        for x, y, w in zip(*map(np.asarray, (batch.inputs, batch.targets, target_weights(batch))), strict=True):
            found = task.oracle(x, jax.tree.map(np.asarray, latent))
            np.testing.assert_allclose(found[w > 0], y[w > 0], rtol=close, atol=close)
    plain = jax.vmap(lambda i: task.sample(key, i, SampleContext(latent, law)))(index)
    assert (batch.inputs == plain.inputs).all()


@each_task
def test_training_never_draws_what_is_held_out(task):
    if not isinstance(task, HoldsOut):
        pytest.skip("holds nothing out")
    train, test = draw(task, 2048)[0], draw(task, 512, name="test")[0]
    assert not any(map(task.held_out, counted(train)))
    assert all(map(task.held_out, counted(test)))


def counted(batch):
    """Inputs of the samples that have weight."""
    return np.asarray(batch.inputs)[(np.asarray(target_weights(batch)) > 0).reshape(len(batch.inputs), -1).any(1)]


@each_task
def test_has_a_worked_example_and_a_docstring(task):
    assert len(task.example()) > 10
    assert "\n" not in task.example()
    assert type(task).__doc__

"""One vocabulary of shape: a spec and a stream of somebody's data take the same objects and mean the same."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lopsided as lop
import lopsided.data as ld
from lopsided.core.errors import InputError
from lopsided.core.registry import registered
from lopsided.core.spec import Spec
from lopsided.skills.distributions import Shaped

GOLDEN = Path(__file__).with_name("spec_hashes.json")
exponents = st.floats(0, 4).map(lambda x: round(x, 3))
ways = st.tuples(st.integers(0, 8), st.integers(1, 2)).map(lambda w: (w[0] / 10, (w[0] + w[1]) / 10))
still = st.one_of(
    st.builds(ld.Uniform),
    st.builds(ld.PowerLaw, exponents),
    st.builds(ld.Binned, exponents, st.integers(1, 5)),
    st.builds(ld.TwoLevel, st.floats(0.05, 0.9), st.floats(0.1, 0.9)),
    st.builds(ld.Weights, st.lists(st.floats(0.1, 9), min_size=12, max_size=12)),
)
moving = st.one_of(
    st.builds(lambda a, b, way: ld.Anneal(a, b, *way), exponents, exponents, ways),
    st.builds(lambda h, m, way: ld.TwoLevel(h, m, 0.0, *way), st.floats(0.05, 0.9), st.floats(0.1, 0.9), ways),
    st.builds(lambda a, b, way: ld.Blend(a, b, *way), still, still, ways),
)
laws = st.one_of(
    still,
    moving,
    st.builds(lambda a, b: a & b, still, moving),
    st.builds(ld.Temperature, st.floats(0.3, 5), st.one_of(still, moving)),
)


def spec(**more):
    base = {
        "task": lop.tasks.StateTracking(group="Z12", hops=2),
        "model": lop.models.Transformer(layers=1, width=16, heads=2),
        "plan": lop.plans.Online(batch=8),
        "optimizer": lop.optim.AdamW(lr=1e-3),
        "loss": "cross-entropy",
        "steps": 100,
        "evaluation": {"every": 50},
    }
    return lop.Spec(**{**base, **more})


@given(laws, st.integers(0, 20))
def test_a_law_is_the_same_in_a_spec_and_in_a_stream(law, twentieth):
    """p of 12 skills: by the spec's schedule in JAX, by NumPy on the host, and as a stream weighs them."""
    at = twentieth / 20
    skills = Spec.parse({**spec().model_dump(mode="json"), "skills": law.in_spec()}).skills
    path = skills.schedule(12)
    groups = ld.Groups(np.arange(24) % 12)
    stretch = law.weights(groups, at, at, 0)
    for found in (path.frequency(jnp.float32(at)), path.probabilities(at)):
        np.testing.assert_allclose(found, stretch / stretch.sum(), rtol=2e-4, atol=1e-7)


@given(laws)
def test_what_a_spec_says_is_the_law_again(law):
    skills = spec(shape=law).skills
    assert isinstance(skills, Shaped)
    assert skills.law().in_spec() == skills.model_dump(mode="json", exclude_defaults=False) | {"name": skills.name}
    groups = ld.Groups(np.arange(24) % 12)
    ours, again = (ld.Stream(groups, each, 240) for each in (law, skills))
    assert np.abs(ours.schedule.expected() - again.schedule.expected()).max() < 1e-6


def test_a_shape_stands_for_the_fields_that_it_says():
    law, growing = ld.PowerLaw(1.0), ld.Phases((0.2, 1), (0.1, 0.5), of="run")
    assert spec(shape=law) == spec(skills=lop.skills.PowerLaw(alpha=1.0))
    assert spec().replace(shape=law) == spec(skills=lop.skills.PowerLaw(alpha=1.0))
    found = spec(shape=law & growing)
    assert found.skills == lop.skills.PowerLaw(alpha=1.0)
    assert [(phase.steps, phase.size) for phase in found.plan.phases] == [(20, 80), (80, 400)]
    assert found.plan.batch == 8
    assert spec(shape=ld.PowerLaw(1.0, by="random")).rank_order == "random"
    assert spec(shape=growing).skills == lop.skills.Uniform()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: spec(shape=ld.AsIs()), "data that are there"),
        (lambda: spec(shape=ld.Curriculum((1,), ([1] * 12,))), "data that are there"),
        (lambda: spec(shape=ld.Temperature(2)), "data that are there"),
        (lambda: spec(shape=ld.Phases((1,), (0.5,))), 'of="run"'),
        (lambda: spec(shape=ld.Uniform(), skills=lop.skills.Uniform()), "give one of them"),
        (lambda: spec(shape="power law"), "classes of lopsided.data"),
        (lambda: spec(shape=ld.Weights({"a": 1.0})), "no names"),
        (lambda: spec(shape=ld.Blend(ld.Uniform(), ld.PowerLaw(1), linear=True)), "straight line"),
        (lambda: ld.Blend(ld.Uniform(), ld.Phases((1,), (0.5,))), "no law over skills"),
        (lambda: ld.Stream(ld.Groups([1, 2]), "uniform", 10), "classes of lopsided.data"),
        (lambda: ld.TwoLevel(heavy=0), "between 0 and 1"),
        (
            lambda: lop.skills.Temperature(T=2, of=lop.skills.SelfAnnealed()).schedule(12),
            "listens to training",
        ),
        (
            lambda: (ld.Anneal(begin=0.1) & ld.Anneal(begin=0.2)).path(12),
            "between the same shares",
        ),
        (lambda: ld.Weights([1, 2]).path(12), "12 numbers above 0"),
    ],
)
def test_mistakes_are_one_line(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_a_law_between_two_others():
    """By hand: halfway from 1 : 1 to 1 : 4 is 1 : 2."""
    path = ld.Blend(ld.Uniform(), ld.Weights([1, 4])).path(2)
    np.testing.assert_allclose(path.probabilities(0.5), [1 / 3, 2 / 3])
    np.testing.assert_allclose((ld.Weights([1, 2]) & ld.Weights([3, 1])).path(2).probabilities(), [3 / 5, 2 / 5])
    np.testing.assert_allclose(ld.Temperature(2, ld.Weights([1, 9])).path(2).probabilities(), [1 / 4, 3 / 4])


def test_the_specs_of_recipes_keep_their_hashes():
    """If not: rows of all the specs named are found no more. `python -m tests.unit.test_shape` writes the file anew."""
    assert hashes() == json.loads(GOLDEN.read_text())


def hashes():
    """A digest of the arms' content hashes for each recipe and scale."""
    from hashlib import sha256

    found = {}
    for name, recipe in registered("recipe").items():
        for scale in recipe.scales:
            arms = sorted(spec.content_hash() for spec in recipe.specs(scale).values())
            found[f"{name}, {scale}"] = sha256(" ".join(arms).encode()).hexdigest()[:12]
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(hashes(), indent=0) + "\n")

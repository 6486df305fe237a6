"""Samples that begin with one element twice: in training, at the share asked for, and with every element alike."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

from lopsided.core.errors import InputError
from lopsided.core.keys import seed_words, stream
from lopsided.core.task import SampleContext, SkillLaw
from lopsided.tasks.equal_elements import EqualElements

N = 20_000


def elements(task: EqualElements, split: str) -> np.ndarray:
    """(N, hops) elements of samples under uniform skills."""
    g = task.n_skills
    law = SkillLaw(jnp.arange(1, g + 1) / g, jnp.arange(g))
    key = stream(seed_words(3), "data")
    drawn = jax.jit(jax.vmap(lambda i: task.sample(key, i, SampleContext(law=law, split=split)).skills))
    return np.asarray(drawn(jnp.arange(N)))


@pytest.mark.parametrize("equal", [0.0, 0.5, 1.0])
def test_the_first_two_are_equal_in_the_share_asked_for(equal):
    found = elements(EqualElements(group="S3", hops=3, equal=equal), "train")
    expected = equal + (1 - equal) / 6
    assert (found[:, 0] == found[:, 1]).mean() == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(N))
    assert (found[:, 1] == found[:, 2]).mean() == pytest.approx(1 / 6, abs=4 * 0.5 / np.sqrt(N))


def test_every_element_comes_alike_at_every_place():
    found = elements(EqualElements(group="S3", hops=3, equal=0.75), "train")
    for place in found.T:
        assert chisquare(np.bincount(place, minlength=6)).pvalue > 1e-4


def test_tests_draw_independently():
    found = elements(EqualElements(group="S3", hops=3, equal=1.0), "test")
    assert (found[:, 0] == found[:, 1]).mean() == pytest.approx(1 / 6, abs=4 * 0.5 / np.sqrt(N))


def test_it_takes_two_elements():
    with pytest.raises(InputError, match="hops"):
        EqualElements.parse({"group": "S3", "hops": 1})

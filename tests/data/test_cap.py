"""A cap on visits is exact, or is refused."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lopsided.data as ld
from lopsided.core.errors import InputError


@given(st.integers(0, 2**60), st.integers(2, 9), st.sampled_from(["uniform", "annealed", "power law", "curriculum"]))
def test_a_cap_is_exact_without_phases(seed, cap, name):
    labels = np.random.default_rng(seed).zipf(1.5, 500).clip(max=30)
    groups = ld.Groups(labels)
    laws = {"uniform": ld.Uniform(), "annealed": ld.Anneal(1.0, 0), "power law": ld.PowerLaw(0.5), "curriculum":
        ld.Curriculum((0.5, 1), [np.ones(groups.n_skills), np.arange(1.0, groups.n_skills + 1)])}  # fmt: skip
    try:
        s = ld.Stream(groups, laws[name], 450 * cap, seed, cap=cap)
    except InputError:
        return  # it cannot be met
    assert np.bincount(s.at(np.arange(s.total))).max() <= cap


@given(st.integers(0, 2**60), st.sampled_from([1, 2, 3, 2.5, 3.7]))
def test_a_cap_is_exact_where_the_last_stretch_has_hardly_any_room(seed, cap):
    """What rounding takes was sought behind the end among skills that come once in 10^12 samples."""
    random = np.random.default_rng(seed)
    groups = ld.Groups(random.integers(0, 8, 60))
    weights = [random.exponential(size=groups.n_skills), random.exponential(size=groups.n_skills) ** 8]
    weights[1][random.random(groups.n_skills) < 0.4] = 0
    weights[1][0] += 1e-12
    try:
        s = ld.Stream(groups, ld.Curriculum((0.8, 1), weights), int(60 * cap * 0.7), seed % 100, cap=cap)
    except InputError:
        return  # it cannot be met
    assert np.bincount(s.at(np.arange(s.total))).max() <= np.ceil(cap)


def test_a_cap_with_a_last_stretch_of_one_example():
    groups = ld.Groups([0] + [1] * 1000 + [2] * 1000)
    a = (6.95 - 5) / 95
    shape = ld.Curriculum((0.95, 1), [[a, (1 - a) / 2, (1 - a) / 2], [1, 1e-12, 1e-12]])
    assert np.bincount(ld.Stream(groups, shape, 100, seed=1, cap=7).at(np.arange(100))).max() in (6, 7)
    full = ld.Stream(ld.Groups([0, 1, 2]), ld.Curriculum((0.5, 1), [[1, 0, 2], [0, 1, 0]]), 2, cap=1)
    assert len(set(full.at([0, 1]).tolist())) == 2
    ld.Stream(groups, ld.Uniform(), 100, cap=np.inf).at(np.arange(100))


def test_a_cap_that_a_long_run_exceeds_by_rounding_ends():
    s = ld.Stream(ld.Groups([0, 1]), ld.Uniform(), 2 * 10**9 + 1, cap=10**9)
    assert s.at(2 * 10**9) in (0, 1)

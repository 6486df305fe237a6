"""Paper B's theory: quadrature against formulas, greedy selection against brute force, slopes against exponents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lopsided.core.errors import InputError
from lopsided.numerics import hermite
from lopsided.theory import scaling, transitions
from lopsided.theory.additive_teacher import AdditiveTeacherPrediction
from lopsided.theory.greedy_selection import gaps, greedy_selection, selection_matrix

idealised = AdditiveTeacherPrediction().curves
LINKS = [((4, 1.0),), ((4, 0.8), (6, 0.6)), ((2, 0.6), (4, 0.8))]


def test_hermite_polynomials_are_orthonormal():
    z, weight = np.polynomial.hermite_e.hermegauss(60)
    h = np.array(hermite.basis(z, 10))
    np.testing.assert_allclose((h * weight) @ h.T / weight.sum(), np.eye(11), atol=1e-10)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("overlap", [-0.9, 0.0, 0.3, 1.0])
def test_gaussian_expectation_by_quadrature_equals_the_hermite_formula(link, overlap):
    """E sigma(u.x) sigma(w.x) over the plane of u and w, by two-dimensional quadrature."""
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    weight = weight / weight.sum()
    first, second = np.meshgrid(z, z, indexing="ij")
    other = overlap * first + np.sqrt(1 - overlap**2) * second
    product = hermite.evaluate(link, first) * hermite.evaluate(link, other)
    expected = sum(c * c * overlap**j for j, c in link)
    np.testing.assert_allclose(weight @ product @ weight, expected, atol=1e-10)


@given(st.lists(st.floats(-2, 2), min_size=5, max_size=5))
def test_coefficients_of_a_polynomial_are_found_exactly(given):
    function = lambda z: sum(c * h for c, h in zip(given, hermite.basis(z, 4), strict=True))
    np.testing.assert_allclose(hermite.coefficients(function, 6), [*given, 0, 0], atol=1e-8)


@pytest.mark.parametrize(
    ("function", "exponent"),
    [
        (np.tanh, 1),
        (np.abs, 2),
        (np.cos, 2),
        (lambda z: z**3 - 3 * z, 3),
        (lambda z: np.cos(z) + np.exp(-0.5) * z**2 / 2, 4),
    ],
)
def test_information_exponent_is_found(function, exponent):
    assert hermite.information_exponent(hermite.coefficients(function, 8), 1e-6) == exponent
    link = hermite.link_of(function, 8, 1e-6)
    assert hermite.exponent_of(link) == exponent
    assert abs(sum(c * c for _, c in link) - 1) < 1e-9


def test_a_link_without_information_is_refused():
    with pytest.raises(InputError, match="no Hermite coefficient"):
        hermite.link_of(np.ones_like)


def test_coefficients_of_known_functions():
    """cos: E cos(z) h_2(z) = -exp(-1/2)/sqrt(2); |z| to the accuracy that its kink allows."""
    np.testing.assert_allclose(hermite.coefficients(np.cos, 2)[2], -np.exp(-0.5) / np.sqrt(2), rtol=1e-10)
    np.testing.assert_allclose(hermite.coefficients(np.abs, 0)[0], np.sqrt(2 / np.pi), rtol=3e-3)


matrices = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(float, shape, elements=st.floats(1e-6, 1.0), unique=True)
)


@given(matrices)
def test_greedy_selection_equals_its_definition(matrix):
    left, taken = matrix.copy(), []
    for _ in range(min(matrix.shape)):
        k, p = np.unravel_index(left.argmax(), left.shape)
        taken.append((k, p, matrix[k, p]))
        left[k], left[:, p] = -1, -1
    found = greedy_selection(matrix)
    assert list(zip(*found, strict=True)) == taken
    assert (np.diff(found.score) <= 0).all()
    assert len(set(found.neuron)) == len(set(found.direction)) == min(matrix.shape)


@given(matrices)
def test_gaps_are_never_negative_and_equal_their_definition(matrix):
    selection = greedy_selection(matrix)
    row, column, threshold = gaps(matrix, selection)
    assert (np.concatenate([row, column, threshold]) >= 0).all()
    k, p = selection.neuron[0], selection.direction[0]
    others = np.delete(matrix[k], p)
    assert row[0] == (matrix[k, p] / others.max() - 1 if others.size else np.inf)
    if min(matrix.shape) > 1:
        np.testing.assert_allclose(threshold[0], matrix[k, p] / selection.score[1] - 1)


@pytest.mark.parametrize("degree", [3, 4, 6])
def test_escape_time_is_that_of_the_decoupled_equation(degree):
    """The smaller the start, the better 1 / (J (J-2) a c^(J-2)) is the time at which c passes one half."""
    errors = []
    for overlap in (0.1, 0.03, 0.01):
        time = float(transitions.escape_time(np.array(0.3), np.array(overlap), degree))
        t = np.linspace(0, 1.5 * time, 4001)
        path = transitions.overlap_path(t, 0.3, overlap, degree)
        errors.append(abs(t[np.argmax(path > 0.5)] / time - 1))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < 0.05


def test_no_escape_time_below_information_exponent_three():
    with pytest.raises(InputError, match="from 3 on"):
        transitions.escape_time(np.array(1.0), np.array(0.1), 2)


@pytest.mark.parametrize("beta", [0.75, 1.0, 1.5])
def test_idealised_loss_has_the_predicted_slope(beta):
    """With equal overlaps and very many directions, loss against time has slope (1 - 2 beta) / beta."""
    weights = scaling.power_law_weights(200_000, beta)
    at = transitions.escape_time(weights, np.full(len(weights), 0.1), 4)
    t = np.geomspace(at[10], at[300], 60)
    found = np.polyfit(np.log(t), np.log(transitions.idealised_loss(t, weights, at)), 1)[0]
    # What is left of the infinite sum beyond 200,000 directions matters for beta = 0.75.
    assert abs(found - scaling.time_exponent(beta)) < 0.08 * abs(scaling.time_exponent(beta))


@pytest.mark.parametrize("beta", [0.75, 1.0, 1.5])
def test_finite_width_exponent_is_steeper_for_fewer_directions_and_nears_the_infinite_one(beta):
    m = np.array([16, 32, 64, 128])
    found = np.array([scaling.finite_width_exponent(beta, directions, m) for directions in (256, 2_000, 500_000)])
    assert (np.diff(found) > 0).all()
    # A sum over whole numbers q > m goes as (m + 1/2)^(1 - 2 beta): at these widths a little shallower than its limit.
    assert abs(found[-1] - scaling.width_exponent(beta)) < 0.06


def test_an_odd_link_is_learned_from_its_own_hemisphere_only():
    weights = scaling.power_law_weights(3, 1.0)
    overlaps = -np.full((4, 3), 0.1)
    assert selection_matrix(weights, overlaps, 3).max() == 0
    assert len(greedy_selection(selection_matrix(weights, overlaps, 3)).neuron) == 0
    found = idealised(weights, np.full(4, 1e-6), overlaps, ((3, 1.0),), 0.1, np.array([1, 10**9]))
    assert found["directions/learned"][-1] == 0
    assert found["population/loss"][-1] == pytest.approx(0.5)
    assert (
        idealised(weights, np.full(4, 1e-6), -overlaps, ((3, 1.0),), 0.1, np.array([1, 10**9]))["directions/learned"][
            -1
        ]
        == 1
    )


def test_frontier_of_two_limits_has_the_predicted_slope():
    """L(m, t) = max(m^(1-2b), t^((1-2b)/b)): the envelope over widths falls as C^((1-2b)/(1+b))."""
    beta = 1.0
    widths, t = 2.0 ** np.arange(2, 15), np.geomspace(1, 1e9, 400)
    loss = np.maximum(widths[:, None] ** scaling.width_exponent(beta), t ** scaling.time_exponent(beta))
    grid = np.geomspace(1e2, 1e7, 80)
    best = scaling.frontier(widths[:, None] * t, loss, grid)
    slope = np.polyfit(np.log(grid), np.log(best), 1)[0]
    assert abs(slope - scaling.frontier_exponent(beta)) < 0.02


@pytest.mark.parametrize("beta", [1.0, 1.5])
def test_what_a_finite_teacher_lacks_is_the_tail_of_a_long_one(beta):
    finite, long = scaling.power_law_weights(20, beta), np.arange(1.0, 1e6) ** -beta
    expected = scaling.tail(long * finite[0])[20]
    assert np.isclose(scaling.beyond(20, beta), expected, rtol=1e-4)


@given(st.floats(0.55, 3.0))
def test_exponents_are_consistent(beta):
    """t = m^beta balances width and time; a tuned step is slower than exact flow in samples, faster than nothing."""
    assert np.isclose(scaling.time_exponent(beta) * beta, scaling.width_exponent(beta))
    assert np.isclose(scaling.frontier_exponent(beta) * (1 + beta), scaling.width_exponent(beta))
    assert scaling.time_exponent(beta) < scaling.unstable_exponent(beta) < 0


def test_idealised_run_is_a_staircase_from_half_to_what_no_neuron_is_left_for():
    rng = np.random.default_rng(0)
    weights, overlaps = scaling.power_law_weights(8, 1.0), rng.normal(size=(5, 8)) * 0.1
    found = idealised(weights, np.full(5, 1e-6), overlaps, ((4, 1.0),), 0.1, np.geomspace(1, 1e9, 200))
    loss = found["population/loss"]
    assert loss[0] == pytest.approx(0.5)
    assert (np.diff(loss) <= 0).all()
    left = sum(weights[p] ** 2 for p in range(8) if np.isnan(found["predicted/time"][0, p]))
    assert loss[-1] == pytest.approx(left / 2)
    assert found["directions/learned"][-1] == 5 / 8
    matrix = selection_matrix(weights, overlaps, 4)
    assert found["gap/row"][0] == gaps(matrix, greedy_selection(matrix)).row.min()

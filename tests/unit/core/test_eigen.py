import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse.linalg import aslinearoperator
from tests.coded import raises

from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import count_above, frame_from_eigenpairs
from mixsearch.lda import project_to_simplex
from mixsearch.mixture.errors import invert_information


def symmetric_operator(spectrum, seed=0):
    d = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    return (Q * spectrum) @ Q.T


SPECTRA = {
    "falling": 1 / np.arange(1, 301),
    "a flat bulk that takes many restarts": np.linspace(0.6, 1.4, 300),
    "low rank": np.r_[3.0, 2.0, 1.0, np.zeros(297)],
    "negative past its rank": np.r_[3.0, 2.0, 1.0, -np.linspace(0, 2, 297)],
    "equal leaders": np.r_[np.full(5, 2.0), np.linspace(0, 1, 295)],
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 5])
def test_the_block_solver_agrees_with_lapack(name, k):
    A = symmetric_operator(SPECTRA[name])
    found = top_eigenpairs(aslinearoperator(A), k, max_applications=200)
    expected = np.linalg.eigvalsh(A)[::-1][:k]
    assert_allclose(found.values, expected, atol=1e-9)
    assert_allclose(found.vectors.T @ found.vectors, np.eye(k), atol=1e-10)
    assert np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0).max() < 1e-5


def test_a_narrow_block_finds_the_same_pairs():
    A = symmetric_operator(1 / np.arange(1, 301))
    narrow, wide = (top_eigenpairs(aslinearoperator(A), 15, block=block, tol=1e-9) for block in (4, None))
    assert_allclose(narrow.values, wide.values, atol=1e-12)
    assert_allclose(narrow.vectors, wide.vectors, atol=1e-6)


@pytest.mark.parametrize("times", [5, 20])
def test_equal_eigenvalues_are_found_as_often_as_they_occur(times):
    A = symmetric_operator(np.r_[np.full(times, 2.0), np.zeros(300 - times)])
    for matrix in (A, aslinearoperator(A)):
        assert_allclose(top_eigenpairs(matrix, times).values, np.full(times, 2.0))


def test_the_block_solver_stops_at_its_limit_of_passes():
    A = symmetric_operator(np.linspace(0.6, 1.4, 400))
    found = top_eigenpairs(aslinearoperator(A), 3, max_applications=7, tol=0)
    assert found.n_applications == 7
    assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-10)


def test_a_seed_makes_the_block_solver_repeatable_and_signs_do_not_depend_on_it():
    A = aslinearoperator(symmetric_operator(1 / np.arange(1, 301)))
    one, same, other = (top_eigenpairs(A, 4, seed=seed, tol=1e-9) for seed in (1, 1, 2))
    assert np.array_equal(one.vectors, same.vectors)
    assert_allclose(other.vectors, one.vectors, atol=1e-6)


def test_single_precision_operators_are_solved_in_single_precision():
    A = symmetric_operator(1 / np.arange(1, 301)).astype(np.float32)
    found = top_eigenpairs(aslinearoperator(A), 3, tol=1e-4)
    assert found.vectors.dtype == np.float32
    assert_allclose(found.values, [1, 1 / 2, 1 / 3], atol=1e-5)


def test_rank_counts_what_exceeds_the_level_by_more_than_rounding():
    assert count_above(np.array([2.0, 1.0, 1e-15])) == 2
    assert count_above(np.array([2.0, 1.0, 0.5]), level=0.5) == 2
    assert count_above(np.array([-1.0])) == 0


def test_a_second_moment_of_low_rank_says_which_rank_it_has():
    with raises("rank_too_low", rank=2, n_components=3, needed=3, possible=2):
        frame_from_eigenpairs(np.array([2.0, 1.0, 0.0]), np.eye(3))
    with raises("rank_too_low", rank=0, n_components=1, needed=1, possible=0):
        frame_from_eigenpairs(np.array([0.5]), np.eye(1), level=0.5)
    with raises("rank_too_low", rank=0, n_components=1, needed=1, possible=0):
        frame_from_eigenpairs(np.array([0.0]), np.eye(1))


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_the_simplex_projection_is_the_nearest_probability_vector(point):
    point = np.array(point)
    found = project_to_simplex(point)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    best = minimize(
        lambda p: np.sum((p - point) ** 2),
        np.full(len(point), 1 / len(point)),
        bounds=[(0, 1)] * len(point),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-12},
    )
    assert np.sum((found - point) ** 2) <= best.fun + 1e-6


def test_information_is_inverted_whatever_the_units_of_the_parameters():
    scores = np.random.default_rng(0).normal(size=(50, 4))
    units = np.array([1e-12, 1.0, 1e12, 1e3])
    inverse = invert_information((scores * units).T @ (scores * units))
    assert_allclose(inverse * np.outer(units, units), np.linalg.inv(scores.T @ scores), rtol=1e-8)


def test_what_no_sample_tells_is_not_inverted():
    scores = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 0.0, 1.0]
    inverse = invert_information(scores.T @ scores)
    assert not inverse[1].any()
    assert_allclose(inverse[::2, ::2], np.linalg.inv(scores[:, ::2].T @ scores[:, ::2]))

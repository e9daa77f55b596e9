from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, nnls
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from mixsearch.baselines import (
    AnchorWords,
    compute_cooccurrence,
    compute_word_frequencies,
    find_anchors,
    recover_topics,
)
from mixsearch.baselines._anchor_recovery import DivergenceLoss, SquaredLoss
from mixsearch.baselines._simplex_admm import solve_squares_admm
from mixsearch.baselines._simplex_gradient import Limits, minimize_on_simplex
from mixsearch.datasets import make_topics
from mixsearch.errors import FewerComponentsWarning, SearchError

SOLVERS = [("l2", "admm"), ("l2", "exponentiated"), ("kl", "exponentiated")]


def separable_topics(rng, n_topics=4, n_words=30):
    """Topics of which the first words are anchors: word i is in topic i only."""
    topics = rng.dirichlet(np.full(n_words, 0.5), size=n_topics)
    topics[:, :n_topics] = np.diag(rng.uniform(0.05, 0.1, size=n_topics))
    return topics / topics.sum(axis=1, keepdims=True)


def population(rng, topics, alpha0=1.0):
    """The exact co-occurrence of LDA: two words have the topics of one Dirichlet draw."""
    alpha = alpha0 * rng.dirichlet(np.full(len(topics), 5.0))
    pairs = (np.diag(alpha) + np.outer(alpha, alpha)) / (alpha0 * (alpha0 + 1))
    return topics.T @ pairs @ topics, alpha / alpha0


def count_pairs(counts, weights):
    """Compute Q from all ordered pairs of different positions of every document."""
    n_words = len(counts[0])
    total = np.zeros((n_words, n_words))
    for row, weight in zip(counts, weights, strict=True):
        places = [word for word, times in enumerate(row) for _ in range(times)]
        pairs = list(permutations(range(len(places)), 2))
        for a, b in pairs:
            total[places[a], places[b]] += weight / len(pairs)
    return total


def as_array(matrix):
    return matrix @ np.eye(matrix.shape[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_cooccurrence_counts_every_pair_of_different_places(weighted):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.8, size=(6, 5))
    counts[0] = [3, 1, 0, 0, 2]
    counts[1] = [0, 1, 0, 0, 0]  # no pair
    counts[2] = 0
    weights = rng.uniform(size=6) if weighted else np.ones(6)
    says = np.where(counts.sum(axis=1) >= 2, weights, 0)
    expected = count_pairs(counts, says / says.sum())
    found = compute_cooccurrence(sp.csr_array(counts), weights if weighted else None)
    assert_allclose(as_array(found), expected, atol=1e-15)
    assert_allclose(expected.sum(), 1)


def test_the_operator_for_many_words_is_the_matrix_for_few():
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.05, size=(40, 400))
    wide = compute_cooccurrence(sp.csr_array(counts))
    assert not isinstance(wide, np.ndarray)
    assert_allclose(as_array(wide), count_pairs(counts, np.full(40, 1 / 40)), atol=1e-15)


@pytest.mark.parametrize("n_corners", [2, 3, 7])
def test_anchors_of_a_simplex_are_its_corners(n_corners):
    rng = np.random.default_rng(n_corners)
    corners = rng.uniform(size=(n_corners, 12))
    inside = rng.dirichlet(np.ones(n_corners), size=50) @ corners
    order = rng.permutation(n_corners + 50)
    points = np.vstack([corners, inside])[order]
    assert set(order[find_anchors(points, n_corners)]) == set(range(n_corners))


def test_no_more_anchors_than_corners_are_found():
    corners = np.eye(3)
    points = np.vstack([corners, corners.mean(axis=0, keepdims=True), corners])
    assert len(find_anchors(points, 6)) == 3


@pytest.mark.parametrize(("loss", "solver"), SOLVERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_exact_cooccurrence_of_separable_topics_gives_the_topics(loss, solver, seed):
    accuracy = 1e-5 if solver == "admm" else 1e-4  # exponentiated gradient is slow to leave words of one topic
    rng = np.random.default_rng(seed)
    topics = separable_topics(rng)
    Q, weights = population(rng, topics)
    anchors = find_anchors(Q / Q.sum(axis=1, keepdims=True), 4)
    assert set(anchors) == set(range(4))
    found = recover_topics(Q, anchors, loss=loss, solver=solver, tol=1e-11)
    assert_allclose(found.topics, topics[anchors], atol=accuracy)
    assert_allclose(found.weights, weights[anchors], atol=accuracy)


@pytest.mark.parametrize(("loss", "solver"), SOLVERS)
def test_an_operator_gives_the_topics_of_its_matrix(loss, solver):
    rng = np.random.default_rng(3)
    Q, _ = population(rng, separable_topics(rng))
    anchors = np.arange(4)
    matrix, operator = (recover_topics(each, anchors, loss=loss, solver=solver) for each in (Q, aslinearoperator(Q)))
    assert_allclose(operator.topics, matrix.topics, atol=1e-12)


def solve_squares(solver, gram, cross, limits):
    if solver == "admm":
        return solve_squares_admm(gram, cross, limits)
    return minimize_on_simplex(SquaredLoss(gram, cross), limits)


@pytest.mark.parametrize(("solver", "accuracy"), [("admm", 1e-13), ("exponentiated", 1e-8)])
def test_squares_end_where_non_negative_least_squares_does(solver, accuracy):
    rng = np.random.default_rng(4)
    anchors, targets = rng.dirichlet(np.ones(15), size=6), rng.dirichlet(np.ones(15), size=20)
    found = solve_squares(solver, anchors @ anchors.T, targets @ anchors.T, Limits(accuracy, 5000))
    # A row of large weight keeps the sum of coefficients at one.
    heavy = 1e4
    system = np.vstack([anchors.T, np.full(6, heavy)])
    expected = [nnls(system, np.append(target, heavy))[0] for target in targets]
    # The curvature of squares turns a distance from the least square into one from its place.
    least = np.linalg.eigvalsh(anchors @ anchors.T)[0]
    assert_allclose(found.points, expected, atol=np.sqrt(accuracy / least) + 1e-6)
    assert found.gaps.max() <= accuracy


@pytest.mark.parametrize("solver", ["admm", "exponentiated"])
def test_one_anchor_is_every_word(solver):
    found = solve_squares(solver, np.array([[0.5]]), np.array([[0.1], [0.7]]), Limits())
    assert_array_equal(found.points, [[1], [1]])
    assert_array_equal(found.gaps, 0)


def test_equal_anchors_share_a_word():
    anchors = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    found = solve_squares_admm(anchors @ anchors.T, np.array([[0.3, 0.3, 0.4]]) @ anchors.T, Limits(1e-12))
    assert_allclose(found.points @ anchors, [[0.3, 0.3, 0.4]], atol=1e-6)


def test_divergences_end_where_a_general_minimiser_does():
    rng = np.random.default_rng(5)
    anchors, targets = rng.dirichlet(np.ones(12), size=4), rng.dirichlet(np.ones(12), size=5)
    found = minimize_on_simplex(DivergenceLoss(anchors, targets), Limits(1e-10, 5000))
    for target, point in zip(targets, found.points, strict=True):
        expected = minimize(
            lambda c, target=target: -target @ np.log(np.maximum(c @ anchors, 1e-12)),
            np.full(4, 0.25),
            method="SLSQP",
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda c: c.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        assert_allclose(point, expected.x, atol=1e-4)


@pytest.mark.parametrize("solver", ["admm", "exponentiated"])
def test_the_gap_bounds_the_distance_from_the_minimum(solver):
    rng = np.random.default_rng(10)
    anchors, targets = rng.dirichlet(np.ones(15), size=6), rng.dirichlet(np.ones(15), size=20)
    objective = SquaredLoss(anchors @ anchors.T, targets @ anchors.T)
    rough = solve_squares(solver, objective.gram, objective.cross, Limits(1e-3))
    exact = solve_squares_admm(objective.gram, objective.cross, Limits(1e-13))
    above = objective.evaluate(rough.points)[0] - objective.evaluate(exact.points)[0]
    assert np.all(above <= rough.gaps + 1e-12)
    assert 1e-12 < above.max() <= 1e-3


def test_topics_of_drawn_documents_come_near_to_the_truth():
    rng = np.random.default_rng(6)
    topics = separable_topics(rng, 3, 40)
    shares = rng.dirichlet(np.full(3, 0.3), size=4000)
    counts = rng.multinomial(80, shares @ topics)
    model = AnchorWords(3, min_documents=200).fit(counts)
    assert set(model.anchors_) == {0, 1, 2}
    assert_allclose(model.topics_, topics[model.anchors_], atol=0.01)
    assert_allclose(model.topics_.sum(axis=1), 1)
    assert_allclose(model.weights_.sum(), 1)


def test_sparse_and_dense_counts_of_many_words_give_one_answer():
    data = make_topics(300, 1200, 3, mean_length=60, random_state=0)
    sparse, dense = (AnchorWords(3, min_documents=30).fit(each) for each in (data.counts, data.counts.toarray()))
    assert_array_equal(sparse.anchors_, dense.anchors_)
    assert_allclose(sparse.topics_, dense.topics_)


def test_rare_words_are_no_anchors():
    rng = np.random.default_rng(7)
    counts = rng.multinomial(30, separable_topics(rng, 3, 20)[rng.integers(3, size=300)])
    counts = np.hstack([counts, np.zeros((300, 1), dtype=int)])
    counts[:2, -1] = 30  # the farthest word of all, in two documents
    assert 20 in AnchorWords(3, min_documents=1).fit(counts).anchors_
    assert 20 not in AnchorWords(3, min_documents=3).fit(counts).anchors_


def test_the_topic_of_a_word_is_the_one_where_it_is_likeliest():
    counts = [[2, 2, 0, 0, 1], [1, 2, 0, 0, 0], [0, 0, 3, 1, 2], [0, 0, 1, 3, 1]]
    model = AnchorWords(2, min_documents=1).fit(counts)
    for word in range(5):
        assert_allclose(model.find_component(word).center[word], model.topics_[:, word].max())


def test_documents_without_the_labelled_word_and_their_words_do_not_enter():
    counts = np.array([[2, 1, 1, 0], [1, 2, 1, 0], [0, 0, 3, 3], [0, 1, 2, 1]])
    weights = compute_word_frequencies(counts, 0)
    assert_allclose(weights, [0.5, 0.25, 0, 0])
    whole = AnchorWords(2, min_documents=1).fit(counts, document_weights=weights)
    part = AnchorWords(2, min_documents=1).fit(counts[:2, :3], document_weights=weights[:2])
    assert_allclose(whole.topics_[:, :3], part.topics_)
    assert_array_equal(whole.topics_[:, 3], 0)


def test_a_document_of_twice_the_weight_is_two_documents():
    rng = np.random.default_rng(8)
    counts = rng.poisson(1.0, size=(30, 12))
    weights = rng.integers(1, 4, size=30)
    heavy = AnchorWords(3, min_documents=1).fit(counts, document_weights=weights)
    many = AnchorWords(3, min_documents=1).fit(np.repeat(counts, weights, axis=0))
    assert_allclose(heavy.topics_, many.topics_, atol=1e-10)


def test_a_word_of_an_empty_document_has_no_weight():
    assert_allclose(compute_word_frequencies([[0, 0], [1, 3]], 1), [0, 0.75])


def test_fewer_corners_than_topics_are_told():
    counts = [[2, 2, 0, 0], [1, 2, 0, 0], [0, 0, 3, 1]]
    with pytest.warns(FewerComponentsWarning, match="3 anchors requested, but the 2 words in at least 2 documents"):
        AnchorWords(3, min_documents=2).fit([*counts[:1], [0, 2, 0, 1], *counts[2:]])


def test_a_descent_that_is_cut_short_says_so():
    rng = np.random.default_rng(9)
    with pytest.warns(ConvergenceWarning, match="words are above the tolerance 1e-16 after 1 iterations"):
        AnchorWords(3, min_documents=1, tol=1e-16, max_iter=1).fit(rng.poisson(1.0, size=(30, 12)))


@pytest.mark.parametrize(
    ("counts", "options", "weights", "message"),
    [
        ([[0.5, 1], [1, 2]], {}, None, "non-negative integers"),
        ([[-1.0, 1], [1, 2]], {}, None, "non-negative integers"),
        ([[1, 1], [1, 2]], {}, [1, -1], r"2 non-negative numbers, got shape \(2,\) with minimum -1"),
        ([[1, 1], [1, 2]], {}, [1, 1, 1], r"got shape \(3,\)"),
        ([[1, 0], [0, 1]], {}, None, "None of the 2 documents has a positive weight and at least 2 words"),
        ([[1, 1], [1, 2]], {"min_documents": 3}, None, "No word occurs in 3 documents"),
        ([[1, 1], [1, 2]], {"loss": "l1"}, None, "loss must be one of 'l2', 'kl', got 'l1'"),
        ([[1, 1], [1, 2]], {"solver": "newton"}, None, "solver must be one of 'admm', 'exponentiated'"),
        ([[1, 1], [1, 2]], {"n_components": 0}, None, "n_components must be a positive integer, got 0"),
    ],
)
def test_what_cannot_be_fitted_is_named(counts, options, weights, message):
    with pytest.raises(SearchError, match=message):
        AnchorWords(**{"n_components": 2, "min_documents": 1} | options).fit(counts, document_weights=weights)

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge as RidgeRegression
from tests.unit.subspace.planted import draw_flats

from mixsearch.subspace._expression import N_EDGES, RIDGE_FACTOR, Nodes, Ridge


@pytest.mark.parametrize(("n", "d"), [(30, 50), (60, 20)])
def test_edges_are_the_largest_coefficients_of_a_ridge_regression_on_all_others(n, d):
    nodes = Nodes.of(np.random.default_rng(0).normal(size=(n, d)))
    graph = nodes.express(Ridge(0.05, np.zeros(n))).walk.graph.toarray() > 0
    largest = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        model = RidgeRegression(alpha=0.05 * RIDGE_FACTOR, fit_intercept=False)
        coefficients = model.fit(nodes.units[others].T, nodes.units[i]).coef_
        largest[i, others[np.argsort(-np.abs(coefficients))[:N_EDGES]]] = True
    assert np.array_equal(graph, largest | largest.T)


def test_a_node_expresses_itself_alone_and_others_have_weights_that_sum_to_one():
    X, _ = draw_flats((2, 2), n=40)
    expression = Nodes.of(X).express(Ridge(0.1, np.zeros(len(X))))
    assert_allclose(expression.express(X).toarray(), np.eye(len(X)))
    weights = expression.express(X[:5] + 0.01).toarray()
    assert_allclose(weights.sum(axis=1), 1)
    assert np.all((weights > 0).sum(axis=1) == N_EDGES)


def test_samples_far_from_zero_are_seen_from_nearer():
    X, _ = draw_flats((2, 2), n=50)
    far = Nodes.of(X + 1e6)
    assert np.linalg.norm(far.samples - far.origin, axis=1).max() < 100
    assert not Nodes.of(X).origin.any()


def test_samples_that_are_zero_express_nothing():
    X, _ = draw_flats((2, 2), n=40)
    X[3] = 0
    expression = Nodes.of(X).express(Ridge(0.1, np.zeros(len(X))))
    assert np.all(np.isfinite(expression.walk.graph.data))
    assert not expression.express(X[[3]]).toarray().any()

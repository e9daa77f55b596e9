import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.linear_model import Ridge as RidgeRegression
from sklearn.metrics import roc_auc_score
from tests.unit.subspace.planted import draw_flats, draw_loops

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import DoubtfulExamplesWarning, collect_warnings
from mixsearch.subspace.em import SubspaceMixture
from mixsearch.subspace.expression import N_EDGES, RIDGE_FACTOR, Nodes, Ridge
from mixsearch.subspace.shared import Predictor

loops, loop_labels = draw_loops()


def search_loops(rows, **options):
    with collect_warnings():
        return SubspaceSearch(6, dim=1, **options).fit(loops).search(examples=loops[rows])


def test_a_mixture_that_suits_the_samples_carries_the_answer():
    data = make_subspaces(600, 20, 3, dim=2, deviation=0.3, random_state=0)
    found = SubspaceSearch(3, dim=2).fit(data.X).search(examples=data.X[data.labels == 0][:5])
    assert found.carried_by == "mixture"
    assert np.isfinite(found.stderr.weight)


@pytest.mark.parametrize("rows", [[10], [70, 85, 100]])
def test_samples_that_express_each_other_carry_the_answer_where_no_subspace_suits(rows):
    found = search_loops(rows)
    assert found.carried_by == "self-expression"
    others = np.delete(np.arange(len(loops)), rows)
    is_member = loop_labels[others] == loop_labels[rows[0]]
    membership = found.membership(loops)
    assert np.all((membership >= 0) & (membership <= 1))
    assert roc_auc_score(is_member, membership[others]) > 0.97
    mixture = search_loops(rows, self_expression=False)
    assert mixture.carried_by == "mixture"
    assert roc_auc_score(is_member, mixture.membership(loops)[others]) < 0.97


def test_an_example_of_another_loop_is_doubted():
    assert not search_loops([70, 85, 100]).doubts
    doubts = search_loops([70, 85, 100, 300]).doubts
    assert [(type(doubt), doubt.code) for doubt in doubts] == [(DoubtfulExamplesWarning, "examples_disagree")]
    assert doubts[0].fields["rows"] == [3]


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_every_subspace_has_a_dimension_of_its_own(offset):
    X, labels = draw_flats((1, 2, 4), offset=offset)
    search = SubspaceSearch("auto", dim="auto", center=False).fit(X)
    assert search.n_components_ == 3
    for label, dim in enumerate((1, 2, 4)):
        found = search.search(examples=X[labels == label][:6])
        # A flat off the origin and zero make a subspace of one more dimension.
        assert found.basis.shape[1] == dim + bool(offset)
        assert found.stderr.basis.shape == found.basis.shape
        assert roc_auc_score(labels == label, found.membership(X)) > 0.95
    assert search.dim_ == 4 + bool(offset)


def test_features_are_predicted_by_the_conditional_mean():
    rng = np.random.default_rng(0)
    bases = np.array([np.linalg.qr(rng.normal(size=(6, 2)))[0] for _ in range(2)])
    mixture = SubspaceMixture(bases, np.array([[2.0, 1.0], [3.0, 0.0]]), np.array([0.3, 0.7]), np.array([0.1, 0.2]), 0)
    known, unknown = np.array([0, 2, 5]), np.array([1, 3, 4])
    X = rng.normal(size=(4, 6))
    odds, predictions = [], []
    for basis, variances, weight, noise in zip(*mixture[:4], strict=True):
        covariance = basis @ np.diag(variances) @ basis.T + noise * np.eye(6)
        own = covariance[np.ix_(known, known)]
        odds.append(weight * multivariate_normal(np.zeros(3), own).pdf(X[:, known]))
        predictions.append(X[:, known] @ np.linalg.solve(own, covariance[np.ix_(known, unknown)]))
    resp = np.array(odds) / np.sum(odds, axis=0)
    expected = np.sum((X[:, unknown] - np.einsum("kn,knb->nb", resp, predictions)) ** 2, axis=1)
    assert_allclose(Predictor.of(mixture, np.eye(6), known, unknown).errors(X), expected)


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

"""Samples that express each other: against scikit-learn's ridge regression, and on planted loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score

from mixsearch import SubspaceSearch
from mixsearch.errors import collect_warnings
from mixsearch.graph.self_expression import TUNING, SelfExpression


def draw_loops(n_loops=6, n=60, d=80, seed=0):
    """Draw samples of closed curves with many harmonics, as images of turning objects are."""
    rng = np.random.default_rng(seed)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    waves = np.hstack([[np.cos(f * angles) / f, np.sin(f * angles) / f] for f in range(1, 7)]).reshape(12, n).T
    loops = [waves @ rng.normal(size=(12, d)) for _ in range(n_loops)]
    return np.concatenate(loops) + 0.02 * rng.normal(size=(n_loops * n, d)), np.repeat(np.arange(n_loops), n)


loops, loop_labels = draw_loops()


def search_loops(rows, **options):
    with collect_warnings():
        return SubspaceSearch(6, dim=1, **options).fit(loops).search(examples=loops[rows], refine=True)


@pytest.mark.parametrize("rows", [[10], [70, 85, 100]])
def test_members_of_a_loop_express_each_other_where_no_subspace_suits(rows):
    answer = search_loops(rows, self_expression=True)
    left = np.delete(np.arange(len(loops)), rows)
    is_member = loop_labels[left] == loop_labels[rows[0]]
    membership = answer.membership(loops)
    assert np.all((membership >= 0) & (membership <= 1))
    assert roc_auc_score(is_member, membership[left]) > 0.97
    assert roc_auc_score(is_member, search_loops(rows).membership(loops)[left]) < 0.97


def test_an_example_of_another_loop_does_not_come_back_and_negative_ones_are_no_members():
    assert search_loops([70, 85, 100], self_expression=True).check.ranks.max() < 60
    assert search_loops([70, 85, 100, 300], self_expression=True).check.ranks.max() > 100
    with collect_warnings():
        fitted = SubspaceSearch(6, dim=1, self_expression=True).fit(loops)
        answer = fitted.search(examples=loops[[70, 300]], not_examples=loops[[310, 320]], refine=True)
    membership = answer.membership(loops)
    assert membership[loop_labels == loop_labels[70]].mean() > membership[loop_labels == loop_labels[310]].mean()


@pytest.mark.parametrize(("n", "d"), [(30, 50), (60, 20)])
def test_edges_are_the_largest_coefficients_of_a_ridge_regression_on_all_others(n, d):
    expression = SelfExpression.of(np.random.default_rng(0).normal(size=(n, d)))
    largest = np.zeros((n, n), dtype=bool)
    for i in range(n):
        left = np.delete(np.arange(n), i)
        model = Ridge(alpha=TUNING.ridge, fit_intercept=False).fit(expression.units[left].T, expression.units[i])
        largest[i, left[np.argsort(-np.abs(model.coef_))[: TUNING.n_edges]]] = True
    assert np.array_equal(expression.affinity.toarray() > 0, largest | largest.T)


def test_a_node_expresses_itself_alone_and_other_samples_have_weights_that_sum_to_one():
    X = np.random.default_rng(1).normal(size=(80, 30))
    expression = SelfExpression.of(X)
    assert_allclose(expression.express(X).toarray(), np.eye(len(X)))
    weights = expression.express(X[:5] + 0.01).toarray()
    assert_allclose(weights.sum(axis=1), 1)
    assert np.all((weights > 0).sum(axis=1) == TUNING.n_edges)


def test_samples_far_from_zero_are_seen_from_nearer():
    X = np.random.default_rng(2).normal(size=(100, 30))
    assert np.linalg.norm(X + 1e6 - SelfExpression.of(X + 1e6).origin, axis=1).max() < 100
    assert not SelfExpression.of(X).origin.any()

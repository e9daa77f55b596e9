import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.metrics import roc_auc_score
from tests.unit.subspace.planted import draw_flats, draw_loops

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import DoubtfulExamplesWarning, collect_warnings
from mixsearch.subspace._em import SubspaceMixture
from mixsearch.subspace._shared import _Predictor

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


def test_the_subspace_is_that_of_the_members_without_standard_errors():
    found = search_loops([70, 85, 100])
    members = loops[loop_labels == 1] - found.center
    first = np.linalg.svd(members, full_matrices=False)[2][0]
    assert abs(first @ found.basis[:, 0]) > 0.95
    assert np.isnan(found.stderr.weight)
    assert np.isnan(found.stderr.basis).all()
    assert found.moment_estimate.carried_by == "mixture"
    assert "self-expression" in repr(found)


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
    assert_allclose(_Predictor.of(mixture, np.eye(6), known, unknown).errors(X), expected)

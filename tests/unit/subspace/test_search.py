"""Searches on planted subspaces: hints, examples, refinement, location, noise."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal
from sklearn.metrics import roc_auc_score
from tests.coded import raises

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import DoubtfulExamplesWarning, collect_warnings

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")

data = make_subspaces(8000, 30, 4, dim=3, deviation=0.2, random_state=1)
search = SubspaceSearch(4, dim=3).fit(data.X)


def gap(one, other):
    return np.linalg.norm(one @ one.T - other @ other.T, 2)


def members(target, q=5, skip=0):
    return data.X[data.labels == target][skip : skip + q]


def point_with_projections(*projections):
    """Make a point with given squared projections onto the first subspaces, and none onto the others."""
    along = np.zeros((4, 3))
    along[: len(projections)] = np.sqrt(projections)[:, None] * [0.6, 0, 0.8]
    return np.linalg.lstsq(np.hstack(list(data.bases)).T, along.ravel(), rcond=None)[0]


@pytest.mark.parametrize("target", [0, 3])
def test_one_point_of_a_subspace_finds_it(target):
    found = search.search(data.bases[target] @ np.ones(3))
    assert gap(found.basis, data.bases[target]) < 0.2
    assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-10)
    assert found.weight == pytest.approx(data.weights[target], rel=0.15)


@pytest.mark.parametrize("refine", [False, True])
def test_membership_separates_members_from_others(refine):
    membership = search.search(examples=members(3), refine=refine).membership(data.X)
    assert roc_auc_score(data.labels == 3, membership) > 0.97
    assert membership.mean() == pytest.approx(data.weights[3], abs=0.02)


@pytest.mark.parametrize(("share", "order"), [(0.4, (0, 1)), (0.8, (1, 0))])
def test_the_subspace_is_found_whatever_another_one_contains_of_the_hint(share, order):
    projections = [1.0, share] if order == (0, 1) else [share, 1.0]
    found = search.search(point_with_projections(*projections))
    assert gap(found.basis, data.bases[order[0]]) < 0.2
    assert_allclose(found.scores[:2], [1, share], atol=0.1)
    assert found.separation == pytest.approx(1 / share, rel=0.15)
    assert found.p_first > 0.99
    assert gap(found.alternatives[0].basis, data.bases[order[1]]) < 0.3
    subspaces = (found, *found.alternatives)
    assert sum(each.weight for each in subspaces) == pytest.approx(1, abs=0.05)
    assert all(other.separation < 1 for other in found.alternatives)


def test_the_printed_algorithm_needs_three_times_as_much_of_the_hint_as_others_have():
    printed = SubspaceSearch(4, dim=3, preset="paper").fit(data.X)
    assert gap(printed.search(point_with_projections(1.0, 0.1)).basis, data.bases[0]) < 0.3
    assert gap(printed.search(point_with_projections(1.0, 0.6)).basis, data.bases[0]) > 0.7


@pytest.mark.parametrize("target", [0, 3])
def test_a_refined_subspace_is_as_near_as_one_from_all_labels(target):
    found = search.search(examples=members(target), refine=True)
    own = data.X[data.labels == target]
    best = gap(np.linalg.eigh(own.T @ own)[1][:, -3:], data.bases[target])
    assert gap(found.basis, data.bases[target]) < 1.3 * best
    assert gap(found.moment_estimate.basis, data.bases[target]) > gap(found.basis, data.bases[target])
    assert found.weight == pytest.approx(np.mean(data.labels == target), abs=0.01)
    assert np.all(np.diff(found._refined.fit.log_likelihoods) >= 0)


def run_textbook_em(X, bases, n_iter):
    """Run EM for all subspaces in all dimensions, each with a noise of its own, by textbook densities."""
    d, r = bases[0].shape
    weights, covariances = np.full(len(bases), 1 / len(bases)), [U @ U.T + 0.1 * np.eye(d) for U in bases]
    for _ in range(n_iter):
        densities = np.array([multivariate_normal(cov=C).pdf(X) for C in covariances]) * weights[:, None]
        resp = densities / densities.sum(axis=0)
        weights = resp.mean(axis=1)
        pairs = [np.linalg.eigh((X.T * own) @ X / own.sum()) for own in resp]
        noise = [values[:-r].mean() for values, _ in pairs]
        covariances = [
            (U[:, -r:] * (values[-r:] - own)) @ U[:, -r:].T + own * np.eye(d)
            for own, (values, U) in zip(noise, pairs, strict=True)
        ]
    variances = [values[-r:][::-1] - own for own, (values, _) in zip(noise, pairs, strict=True)]
    return weights, [U[:, -r:] for _, U in pairs], variances, noise


def test_em_ends_where_that_of_the_whole_mixture_in_all_dimensions_does():
    small = make_subspaces(1500, 8, 2, dim=2, deviation=0.3, random_state=3)
    found = SubspaceSearch(2, dim=2).fit(small.X).search(small.bases[0] @ [1, 1], refine=True)
    weights, bases, variances, noise = run_textbook_em(small.X, small.bases, 200)
    assert found.weight == pytest.approx(weights[0], abs=0.01)
    assert found.noise_variance == pytest.approx(noise[0], rel=0.02)
    assert gap(found.basis, bases[0]) < 0.1 * gap(bases[0], small.bases[0]) + 0.02
    assert_allclose(found.variances, variances[0], rtol=0.05)


@pytest.mark.parametrize("target", range(3))
def test_every_subspace_has_variances_and_noise_of_its_own(target):
    rng = np.random.default_rng(7)
    bases = np.linalg.qr(rng.normal(size=(3, 20, 2)))[0]
    labels, deviations = rng.choice(3, size=6000), np.array([0.25, 0.35, 0.5])
    X = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(6000, 2)) * np.sqrt([3.0, 1.0]))
    X += deviations[labels][:, None] * rng.normal(size=(6000, 20))
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=X[labels == target][:4], refine=True)
    assert found.noise_variance == pytest.approx(deviations[target] ** 2, rel=0.03)
    assert found.moment_estimate.noise_variance == pytest.approx(deviations[target] ** 2, rel=0.2)
    assert found.weight == pytest.approx(np.mean(labels == target), abs=0.01)
    assert_allclose(found.variances, [3, 1], rtol=0.12)


@pytest.mark.parametrize("change", [lambda X: X.astype(np.float32), csr_array, lambda X: 1e-6 * X, lambda X: 1e6 * X])
def test_precision_sparsity_and_scale_hardly_matter(change):
    plain = search.search(examples=members(0), refine=True)
    other = SubspaceSearch(4, dim=3).fit(change(data.X)).search(examples=change(members(0)), refine=True)
    assert gap(other.basis, plain.basis) < 1e-3
    assert_allclose(other.stderr.basis.mean(), plain.stderr.basis.mean(), rtol=0.05)
    assert_allclose(other.membership(change(data.X[:100])), plain.membership(data.X[:100]), atol=2e-3)


@pytest.mark.parametrize(("factor", "code"), [(1e60, "too_large"), (1e-60, "too_small")])
def test_samples_whose_sixth_powers_leave_floats_are_refused(factor, code):
    with raises(code):
        SubspaceSearch(4, dim=3).fit(factor * data.X)


def test_constant_features_half_precision_and_read_only_samples_are_as_good_as_any():
    planes = make_subspaces(6000, 30, 3, dim=2, deviation=0.3, random_state=0)
    X = np.column_stack([planes.X, np.full(len(planes.X), 3.0)]).astype(np.float16)
    X.flags.writeable = False
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=X[planes.labels == 0][:4], refine=True)
    truth = np.vstack([planes.bases[0], np.zeros((1, 2))])
    assert np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2


def test_equal_samples_do_not_make_the_likelihood_unbounded():
    found = (
        SubspaceSearch(4, dim=3).fit(np.vstack([data.X, np.zeros((600, 30))])).search(examples=members(0), refine=True)
    )
    assert np.isfinite(found._refined.fit.log_likelihoods).all()
    assert gap(found.basis, data.bases[0]) < 0.2


@pytest.mark.parametrize("refine", [False, True])
def test_samples_without_noise_give_the_subspace_exactly(refine):
    clean = make_subspaces(600, 20, 3, dim=2, deviation=0.0, random_state=1)
    own = clean.labels == 1
    found = SubspaceSearch(3, dim=2).fit(clean.X).search(examples=clean.X[own][:3], refine=refine)
    assert gap(found.basis, clean.bases[1]) < (1e-6 if refine else 0.2)
    if refine:
        assert found.weight == pytest.approx(own.mean(), abs=1e-6)
        assert_allclose(found.membership(clean.X), own, atol=1e-6)


def test_examples_that_the_mixture_contradicts_stay_in_their_subspace():
    plain = search.search(examples=members(0), refine=True)
    with pytest.warns(DoubtfulExamplesWarning):
        held = search.search(examples=np.vstack([members(0), members(1, 1)]), refine=True)
    assert held._refined.fit.log_likelihoods[-1] != plain._refined.fit.log_likelihoods[-1]
    assert gap(held.basis, data.bases[0]) < 0.2


@pytest.mark.parametrize("refine", [False, True])
def test_negative_examples_exclude_their_subspace(refine):
    for target, away in ((0, 1), (1, 0)):
        between = np.vstack([members(target, 3), members(away, 1)])
        with collect_warnings():
            found = search.search(examples=between, not_examples=members(away, 10, skip=10), refine=refine)
        assert gap(found.basis, data.bases[target]) < 0.3
    with raises("needs_examples", argument="not_examples"):
        search.search(data.bases[0][:, 0], not_examples=members(1))


@pytest.mark.parametrize(("refine", "by"), [(False, "hint"), (True, "examples")])
def test_an_offset_of_all_samples_changes_nothing_and_none_is_found_without_one(refine, by):
    assert_allclose(search.center_, 0)
    offset = np.random.default_rng(1).standard_normal(30)
    shifted = SubspaceSearch(4, dim=3).fit(data.X + offset)
    hint = {"hint": data.bases[0] @ np.ones(3)} if by == "hint" else {"examples": members(0) + offset}
    found = shifted.search(**hint, refine=refine)
    assert_allclose(found.center, data.X.mean(axis=0) + offset)
    plain = search.search(**(hint if by == "hint" else {"examples": members(0)}), refine=refine)
    assert gap(found.basis, plain.basis) < 0.05
    assert found.weight == pytest.approx(plain.weight, abs=0.01)


def test_an_answer_without_its_samples_still_knows_its_weight_and_members():
    found = search.search(data.bases[0] @ np.ones(3))
    bare = replace(found._family, chunks=found._family.chunks.detach())
    copy = pickle.loads(pickle.dumps(replace(found, _family=bare)))
    assert copy.weight == found.weight
    assert_allclose(copy.membership(data.X[:50]), found.membership(data.X[:50]))

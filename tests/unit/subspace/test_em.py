import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import multivariate_normal, ortho_group
from tests.coded import raises

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_hint, make_subspaces
from mixsearch.errors import DoubtfulExamplesWarning, collect_warnings

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")

data = make_subspaces(6000, 40, 3, dim=2, deviation=0.3, random_state=0)
search = SubspaceSearch(3, dim=2).fit(data.X)


def gap(one, other):
    return np.linalg.norm(one @ one.T - other @ other.T, 2)


def members(target, q=4):
    return data.X[data.labels == target][:q]


def oracle(target):
    own = data.X[data.labels == target]
    return np.linalg.eigh(own.T @ own)[1][:, -2:]


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


@pytest.mark.parametrize("target", range(3))
def test_a_refined_subspace_is_as_near_as_one_from_all_labels(target):
    found = search.search(examples=members(target), refine=True)
    best = gap(oracle(target), data.bases[target])
    assert gap(found.basis, data.bases[target]) < 1.3 * best
    assert gap(found.moment_estimate.basis, data.bases[target]) > gap(found.basis, data.bases[target])
    assert found.weight == pytest.approx(np.mean(data.labels == target), abs=0.01)


def test_em_ends_where_that_of_the_whole_mixture_in_all_dimensions_does():
    small = make_subspaces(1500, 8, 2, dim=2, deviation=0.3, random_state=3)
    found = SubspaceSearch(2, dim=2).fit(small.X).search(small.bases[0] @ [1, 1], refine=True, tol=1e-6)
    weights, bases, variances, noise = run_textbook_em(small.X, small.bases, 200)
    assert found.weight == pytest.approx(weights[0], abs=0.01)
    assert found.noise_variance == pytest.approx(noise[0], rel=0.02)
    assert gap(found.basis, bases[0]) < 0.1 * gap(bases[0], small.bases[0]) + 0.02
    assert_allclose(found.variances, variances[0], rtol=0.05)


def test_no_iteration_lowers_the_likelihood_and_max_iter_limits_them():
    found = search.search(examples=members(1), refine=True)
    assert np.all(np.diff(found._refined.fit.log_likelihoods) >= 0)
    assert len(search.search(examples=members(1), refine=True, max_iter=2)._refined.fit.log_likelihoods) <= 3
    assert search.search(examples=members(1), refine=False)._refined is None


def test_rotating_the_samples_rotates_the_refined_subspace():
    turn = ortho_group.rvs(40, random_state=1)
    v = make_hint(data.bases, 2, gamma=0.9)
    plain = search.search(v, refine=True, tol=1e-6)
    turned = SubspaceSearch(3, dim=2).fit(data.X @ turn.T).search(turn @ v, refine=True, tol=1e-6)
    assert gap(turned.basis, turn @ plain.basis) < 1e-3
    assert_allclose(turned.variances, plain.variances, rtol=1e-3)


def test_variances_and_noise_are_those_of_the_coordinates():
    rng = np.random.default_rng(5)
    bases = [np.linalg.qr(rng.normal(size=(20, 2)))[0] for _ in range(2)]
    X = np.vstack([rng.normal(size=(3000, 2)) * [3, 1.5] @ U.T for U in bases]) + 0.2 * rng.normal(size=(6000, 20))
    found = SubspaceSearch(2, dim=2).fit(X).search(examples=X[:5], refine=True)
    assert_allclose(found.variances, [9, 2.25], rtol=0.1)
    assert found.noise_variance == pytest.approx(0.04, rel=0.05)


def draw_unequal(seed):
    """Draw from three planes with variances 3 and 1 of the coordinates, and noise that differs by 4."""
    rng = np.random.default_rng(seed)
    bases = np.linalg.qr(rng.normal(size=(3, 20, 2)))[0]
    labels, deviations = rng.choice(3, size=6000), np.array([0.25, 0.35, 0.5])
    inside = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(6000, 2)) * np.sqrt([3.0, 1.0]))
    return inside + deviations[labels][:, None] * rng.normal(size=(6000, 20)), labels, bases, deviations**2


@pytest.mark.parametrize("target", range(3))
def test_every_subspace_has_variances_and_noise_of_its_own(target):
    X, labels, bases, noise = draw_unequal(7)
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=X[labels == target][:4], refine=True)
    own = X[labels == target]
    best = np.linalg.eigh(own.T @ own)[1][:, -2:]
    assert found.noise_variance == pytest.approx(noise[target], rel=0.03)
    assert found.weight == pytest.approx(np.mean(labels == target), abs=0.01)
    assert_allclose(found.variances, [3, 1], rtol=0.12)
    assert gap(found.basis, bases[target]) < 1.3 * gap(best, bases[target])


def test_equal_samples_do_not_make_the_likelihood_unbounded():
    X = np.vstack([data.X, np.zeros((600, 40))])
    found = SubspaceSearch(3, dim=2).fit(X).search(examples=members(0), refine=True)
    assert np.isfinite(found._refined.fit.log_likelihoods).all()
    assert gap(found.basis, data.bases[0]) < 0.2


def test_samples_without_noise_give_the_subspace_exactly():
    clean = make_subspaces(600, 20, 3, dim=2, deviation=0.0, random_state=1)
    found = SubspaceSearch(3, dim=2).fit(clean.X).search(examples=clean.X[clean.labels == 1][:3], refine=True)
    assert gap(found.basis, clean.bases[1]) < 1e-6
    assert found.weight == pytest.approx(np.mean(clean.labels == 1), abs=1e-6)
    assert_allclose(found.membership(clean.X), clean.labels == 1, atol=1e-6)


def test_single_precision_and_sparse_samples_give_the_same():
    plain = search.search(data.bases[0] @ [1, 1], refine=True)
    for X in (data.X.astype(np.float32), csr_array(data.X)):
        other = SubspaceSearch(3, dim=2).fit(X).search(data.bases[0] @ [1, 1], refine=True)
        assert gap(other.basis, plain.basis) < 1e-3
        assert_allclose(other.stderr.basis.mean(), plain.stderr.basis.mean(), rtol=0.05)


def test_examples_that_the_mixture_contradicts_stay_in_their_subspace():
    strange = data.X[data.labels == 1][:1]
    plain = search.search(examples=members(0), refine=True)
    with pytest.warns(DoubtfulExamplesWarning):
        held = search.search(examples=np.vstack([members(0), strange]), refine=True)
    assert held._refined.fit.log_likelihood != plain._refined.fit.log_likelihood
    assert gap(held.basis, data.bases[0]) < 0.2


def test_negative_examples_exclude_their_subspace():
    for target, away in ((0, 1), (1, 0)):
        between, negative = np.vstack([members(target, 3), members(away, 1)]), data.X[data.labels == away][10:20]
        for refine in (False, True):
            with collect_warnings():
                found = search.search(examples=between, not_examples=negative, refine=refine)
            assert gap(found.basis, data.bases[target]) < 0.3


def test_negative_examples_need_examples():
    with raises("needs_examples", argument="not_examples"):
        search.search(data.bases[0][:, 0], not_examples=members(1))

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture

from mixsearch import GaussianSearch
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions
from mixsearch.datasets import make_gaussian_mixture, make_hint
from mixsearch.errors import NotRefinedWarning
from mixsearch.gaussian import _search as estimator
from mixsearch.gaussian._em import fit_mixture, refine_gaussian


@pytest.fixture(scope="module")
def overlapping():
    """Four Gaussians whose samples overlap, so that membership is a matter of probability."""
    return make_gaussian_mixture(
        4000, 15, 4, deviation=3.0, weights=np.array([0.4, 0.3, 0.2, 0.1]), random_state=np.random.RandomState(3)
    )


@pytest.fixture(scope="module")
def search(overlapping):
    return GaussianSearch(4).fit(overlapping.X)


@pytest.mark.parametrize("target", range(4))
def test_steps_reach_the_maximum_of_the_likelihood_in_the_signal_space(overlapping, search, target):
    found = search.search(make_hint(overlapping.centers, target), refine=True, tol=1e-6)
    V = search._family.frame.basis[:, 1:]
    Z, starts = (overlapping.X - search.mean_) @ V, (overlapping.centers - search.mean_) @ V
    peer = GaussianMixture(4, covariance_type="spherical", means_init=starts, tol=1e-10, max_iter=2000, reg_covar=0)
    peer.fit(Z)
    assert_allclose((found.center - search.mean_) @ V, peer.means_[target], atol=0.02)
    assert found.weight == pytest.approx(peer.weights_[target], abs=2e-3)
    assert_allclose(found.membership(overlapping.X), peer.predict_proba(Z)[:, target], atol=0.01)


def test_outside_the_signal_space_the_center_is_least_squares_on_the_memberships(overlapping, search):
    found = search.search(make_hint(overlapping.centers, 1), refine=True)
    members = np.column_stack(
        [search.search(make_hint(overlapping.centers, i), refine=True).membership(overlapping.X) for i in range(4)]
    )
    centered = overlapping.X - search.mean_
    V = search._family.frame.basis
    expected, *_ = np.linalg.lstsq(members, centered - centered @ V @ V.T, rcond=None)
    beside = (found.center - search.mean_) @ (np.eye(15) - V @ V.T)
    assert_allclose(beside, expected[1], atol=1e-4)


@pytest.mark.parametrize("deviation", [0.5, 2.0])
def test_well_separated_gaussians_come_out_as_if_every_label_were_known(deviation):
    data = make_gaussian_mixture(3000, 60, 5, deviation=deviation, random_state=1)
    search = GaussianSearch(5).fit(data.X)
    for target in range(5):
        found = search.search(make_hint(data.centers, target), refine=True)
        oracle = data.X[data.labels == target].mean(axis=0)
        error, best = (np.linalg.norm(center - data.centers[target]) for center in (found.center, oracle))
        assert error < 1.02 * best
        assert found.weight == pytest.approx(np.mean(data.labels == target), abs=1e-3)


def test_refinement_is_better_than_moments_where_there_is_much_noise():
    data = make_gaussian_mixture(3000, 100, 5, deviation=3.0, random_state=0)
    search = GaussianSearch(5).fit(data.X)
    errors = []
    for target in range(5):
        found = search.search(make_hint(data.centers, target), refine=True)
        errors.append([np.linalg.norm(each.center - data.centers[target]) for each in (found, found.moment_estimate)])
    refined, moments = np.mean(errors, axis=0)
    assert refined < 0.9 * moments


def test_every_component_gets_its_own_variance():
    deviations = np.array([0.5, 1.0, 2.0])
    data = make_gaussian_mixture(6000, 20, 3, deviation=deviations, random_state=0)
    search = GaussianSearch(3).fit(data.X)
    for target, deviation in enumerate(deviations):
        found = search.search(make_hint(data.centers, target), refine=True)
        assert found.noise_variance == pytest.approx(deviation**2, rel=0.03)


def test_the_moment_estimate_stays_available(overlapping, search):
    hint = make_hint(overlapping.centers, 2)
    plain, found = search.search(hint), search.search(hint, refine=True)
    assert_allclose(found.moment_estimate.center, plain.center)
    assert found.moment_estimate.weight == pytest.approx(plain.weight)
    assert np.linalg.norm(found.center - plain.center) > 0.01
    assert all(other._refined is None for other in found.alternatives)
    assert plain.moment_estimate._refined is None


def test_the_log_likelihood_never_falls(overlapping, search):
    objectives = search.search(make_hint(overlapping.centers, 0), refine=True)._refined.objectives
    assert len(objectives) > 2
    assert np.all(np.diff(objectives) >= 0)


def test_a_number_bounds_the_steps(overlapping, search):
    hint = make_hint(overlapping.centers, 0)
    assert len(search.search(hint, refine=True, max_iter=2, tol=0)._refined.objectives) == 3


def test_answers_do_not_depend_on_what_was_asked_before(overlapping):
    hints = [make_hint(overlapping.centers, i) for i in range(4)]
    there, back = GaussianSearch(4).fit(overlapping.X), GaussianSearch(4).fit(overlapping.X)
    forward = [there.search(hint, refine=True).center for hint in hints]
    backward = [back.search(hint, refine=True).center for hint in hints[::-1]][::-1]
    assert_allclose(forward, backward)
    many = there.search_many(hints, refine=True)
    assert_allclose([found.center for found in many], forward)


def test_a_component_that_the_mixture_lacks_is_looked_for_from_the_hint(overlapping, search):
    found = search.search(make_hint(overlapping.centers, 3), refine=True)
    learned = fit_mixture(search._family, EMOptions(100, 0.01))
    place = int(np.argmin(learned.mixture.weights))
    wrong = learned._replace(mixture=learned.mixture.with_center(place, 50 + learned.mixture.centers[place]))
    refined = refine_gaussian(search._family, found._candidates, EMOptions(100, 0.01), wrong)
    assert refined is not None
    assert_allclose(refined.center, found.center, atol=0.2)


def test_steps_that_lead_elsewhere_leave_the_moment_estimate(overlapping, search):
    found = search.search(make_hint(overlapping.centers, 1))
    nowhere = found._candidates.points.copy()
    nowhere[1:, 0] += 30
    lost = Candidates(nowhere, found._candidates.weights, found._candidates.scores, found._candidates.preference)
    learned = fit_mixture(search._family, EMOptions(100, 0.01))
    assert refine_gaussian(search._family, lost, EMOptions(100, 0.01), learned) is None


def test_a_search_says_that_it_was_not_refined(overlapping, monkeypatch):
    search = GaussianSearch(4).fit(overlapping.X)
    hint = make_hint(overlapping.centers, 1)
    monkeypatch.setattr(estimator, "refine_gaussian", lambda *_: None)
    with pytest.warns(NotRefinedWarning, match="the moment estimate is returned"):
        found = search.search(hint, refine=True)
    assert_allclose(found.center, search.search(hint).center)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_sparse_and_single_precision_samples_give_the_same(overlapping, search, dtype, kind):
    hint = make_hint(overlapping.centers, 0)
    other = GaussianSearch(4).fit(kind(overlapping.X.astype(dtype)))
    assert_allclose(other.search(hint, refine=True).center, search.search(hint, refine=True).center, atol=2e-3)


@pytest.mark.parametrize("noise", ["default", "paper"])
def test_both_noise_levels_can_be_refined(noise):
    data = make_gaussian_mixture(3000, 20, 3, deviation=1.0, random_state=0)
    found = GaussianSearch(3, preset=noise).fit(data.X).search(make_hint(data.centers, 1), refine=True)
    oracle = data.X[data.labels == 1].mean(axis=0)
    assert_allclose(found.center, oracle, atol=0.02)
    assert found.noise_variance == pytest.approx(1.0, rel=0.05 if noise == "average" else 0.25)


def test_one_component_is_the_mean_of_all_samples():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(500, 4))
    found = GaussianSearch(1).fit(X).search(np.ones(4), refine=True)
    assert_allclose(found.center, X.mean(axis=0))
    assert found.weight == pytest.approx(1.0)
    assert found.noise_variance == pytest.approx(X.var(axis=0).mean())


def test_samples_without_noise_are_their_centers():
    data = make_gaussian_mixture(300, 10, 3, deviation=0.0, random_state=0)
    found = GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 2), refine=True)
    assert_allclose(found.center, data.centers[2], atol=1e-6)


def test_two_features_of_one_direction_are_enough():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-3, 1, size=(500, 2)), rng.normal(3, 1, size=(300, 2))])
    found = GaussianSearch(2).fit(X).search(np.ones(2), refine=True)
    assert_allclose(found.center, X[500:].mean(axis=0), atol=0.02)


def test_refinement_takes_fewer_components_than_were_fitted(overlapping):
    search = GaussianSearch(4).fit(overlapping.X)
    found = search.search(make_hint(overlapping.centers, 0), n_components=3, refine=True)
    assert len(found._refined.mixture.weights) == 3


def test_a_component_between_others_is_found_from_its_members():
    rng = np.random.default_rng(0)
    centers = np.array([[-10.0, 0.0, 0.0], [0.0, 2.0, 0.0], [10.0, 0.0, 0.0]])
    labels = rng.integers(3, size=1500)
    X = centers[labels] + rng.normal(size=(1500, 3))
    search = GaussianSearch(3).fit(X)
    for target in range(3):
        found = search.search(examples=X[labels == target][:5], refine=True)
        assert_allclose(found.center, X[labels == target].mean(axis=0), atol=0.02)
        assert_allclose(found.moment_estimate.center, centers[target], atol=1.0)
        assert found.confidence > 0.99


@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9])
def test_refined_answers_come_in_the_units_of_the_samples(overlapping, search, unit):
    examples = overlapping.X[overlapping.labels == 1][:5]
    plain = search.search(examples=examples, refine=True)
    found = GaussianSearch(4).fit(overlapping.X * unit).search(examples=examples * unit, refine=True)
    assert_allclose(found.center / unit, plain.center, atol=1e-3)
    assert_allclose(found.stderr.center / unit, plain.stderr.center, rtol=0.01)
    assert found.stderr.weight == pytest.approx(plain.stderr.weight, rel=0.01)


def test_refined_answers_do_not_depend_on_where_zero_is(overlapping, search):
    examples = overlapping.X[overlapping.labels == 1][:5]
    plain = search.search(examples=examples, refine=True)
    found = GaussianSearch(4).fit(overlapping.X + 1e7).search(examples=examples + 1e7, refine=True)
    assert_allclose(found.center - 1e7, plain.center, atol=1e-4)
    assert found.noise_variance == pytest.approx(plain.noise_variance, rel=1e-4)
    assert_allclose(found.stderr.center, plain.stderr.center, rtol=1e-3)


def test_a_component_without_noise_has_no_negative_variance():
    X = np.ones((100, 5))
    assert GaussianSearch(1).fit(X).search(np.ones(5), refine=True).noise_variance >= 0

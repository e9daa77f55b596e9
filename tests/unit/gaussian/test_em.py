import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint


@pytest.fixture(scope="module")
def overlapping():
    """Draw four Gaussians that overlap, so that memberships are uncertain."""
    return make_gaussian_mixture(
        4000, 15, 4, deviation=3.0, weights=np.array([0.4, 0.3, 0.2, 0.1]), random_state=np.random.RandomState(3)
    )


@pytest.fixture(scope="module")
def search(overlapping):
    return GaussianSearch(4).fit(overlapping.X)


def fit_peer(data):
    """Fit the likeliest mixture near the truth by scikit-learn."""
    start = {"means_init": data.centers, "weights_init": data.weights, "precisions_init": data.deviations**-2.0}
    mixture = GaussianMixture(len(data.centers), covariance_type="spherical", reg_covar=0, tol=1e-10, max_iter=2000)
    return mixture.set_params(**start).fit(data.X)


@pytest.mark.parametrize("target", [0, 3])
def test_steps_reach_the_maximum_of_the_likelihood(overlapping, search, target):
    found = search.search(make_hint(overlapping.centers, target), refine=True)
    peer = fit_peer(overlapping)
    assert_allclose(found.center, peer.means_[target], atol=0.03)
    assert found.weight == pytest.approx(peer.weights_[target], abs=2e-3)
    assert found.noise_variance == pytest.approx(peer.covariances_[target], rel=2e-3)
    # Of the residual centers, EM in the signal space knows nothing: they say little about a sample.
    apart = np.abs(found.membership(overlapping.X) - peer.predict_proba(overlapping.X)[:, target])
    assert apart.mean() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("largest", [2.0, 8.0])
def test_components_of_different_variance_come_out_as_the_likeliest_ones(largest, preset):
    deviations = np.array([1.0, np.sqrt(largest), largest]) / 2
    data = make_gaussian_mixture(8000, 10, 3, deviation=deviations, norm=5.0, random_state=1)
    peer = fit_peer(data)
    search = GaussianSearch(3, preset=preset).fit(data.X)
    for target in range(3):
        found = search.search(examples=data.X[data.labels == target][:5], refine=True)
        error, best = (np.linalg.norm(each - data.centers[target]) for each in (found.center, peer.means_[target]))
        assert error < 1.02 * best
        assert found.weight == pytest.approx(peer.weights_[target], abs=1e-3)
        assert found.noise_variance == pytest.approx(peer.covariances_[target], rel=2e-3)


def test_log_densities_of_samples_are_those_of_the_likeliest_mixture(overlapping, search):
    peer = fit_peer(overlapping)
    # EM leaves out what centers differ outside the signal space.
    assert_allclose(search.score_samples(overlapping.X), peer.score_samples(overlapping.X), atol=0.5)
    assert search.score_samples(overlapping.X).mean() == pytest.approx(peer.score(overlapping.X), abs=0.01)


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")  # one may be atypical
def test_examples_that_score_highest_for_another_component_are_refined_to_their_own(overlapping, search):
    """Even if moments find another component."""
    for row in range(8):
        found = search.search(examples=overlapping.X[row : row + 1], refine=True)
        chances = [
            search.search(make_hint(overlapping.centers, i), refine=True).membership(overlapping.X[row : row + 1])[0]
            for i in range(4)
        ]
        assert found.membership(overlapping.X[row : row + 1])[0] == pytest.approx(max(chances), abs=1e-6)


def test_a_component_between_others_is_found_from_its_members():
    rng = np.random.default_rng(0)
    centers = np.array([[-10.0, 0.0, 0.0], [0.0, 2.0, 0.0], [10.0, 0.0, 0.0]])
    labels = rng.integers(3, size=1500)
    X = centers[labels] + rng.normal(size=(1500, 3))
    search = GaussianSearch(3).fit(X)
    for target in range(3):
        found = search.search(examples=X[labels == target][:5], refine=True)
        assert_allclose(found.center, X[labels == target].mean(axis=0), atol=0.02)
        assert found.check.ranks.max() <= np.sum(labels == target)


@pytest.mark.parametrize("unit", [1e-70, 1e9])
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

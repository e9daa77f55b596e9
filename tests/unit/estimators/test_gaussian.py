import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mixsearch import GaussianSearch, SearchError
from mixsearch.datasets import make_gaussian_mixture, make_hint

data = make_gaussian_mixture(
    6000, 40, 5, deviation=np.array([0.3, 0.6, 0.9, 1.2, 1.5]), weights=np.full(5, 0.2), random_state=4
)
search = GaussianSearch(5).fit(data.X)


@pytest.mark.parametrize("target", range(5))
def test_a_component_comes_with_a_variance_of_its_own(target):
    found = search.search(make_hint(data.centers, target))
    assert found.variance == pytest.approx(data.deviations[target] ** 2, rel=0.15)
    assert found.weight == pytest.approx(0.2, rel=0.1)


def test_membership_is_a_probability_that_tells_members_from_others():
    found = search.search(make_hint(data.centers, 2))
    members = found.score_samples(data.X)
    assert members.min() >= 0
    assert members.max() <= 1
    assert roc_auc_score(data.labels == 2, members) > 0.999
    assert members.mean() == pytest.approx(0.2, abs=0.02)


def test_membership_takes_sparse_samples_and_refuses_other_widths():
    found = search.search(make_hint(data.centers, 2))
    assert_allclose(found.score_samples(sp.csr_array(data.X[:50])), found.score_samples(data.X[:50]), atol=1e-12)
    with pytest.raises(SearchError, match="X has 3 features, but the component has 40"):
        found.score_samples(data.X[:, :3])


def test_one_sample_is_enough_of_a_hint():
    rng = np.random.default_rng(0)
    for target in range(5):
        sample = data.X[rng.choice(np.flatnonzero(data.labels == target))]
        found = search.search(examples=sample[None, :])
        assert np.linalg.norm(found.center - data.centers[target]) < 0.5


def test_examples_are_a_hint_wherever_the_origin_is():
    shift = np.full(40, 20.0)
    moved = GaussianSearch(5).fit(data.X + shift)
    found = moved.search(examples=(data.X + shift)[data.labels == 0][:2])
    assert np.linalg.norm(found.center - shift - data.centers[0]) < 0.5


def test_noise_is_averaged_over_the_whole_noise_space():
    truth = np.mean(data.deviations**2)
    ours, paper = (
        abs(GaussianSearch(5, noise=kind).fit(data.X).noise_variance_ - truth) for kind in ("average", "paper")
    )
    assert ours < 0.02
    assert paper > 3 * ours


def test_samples_without_noise_are_no_obstacle():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(3, 10))
    labels = rng.choice(3, size=300)
    found = GaussianSearch(3).fit(centers[labels]).search(np.linalg.pinv(centers)[:, 1])
    assert_allclose(found.center, centers[1], atol=1e-6)
    assert_allclose(found.score_samples(centers[labels]), labels == 1, atol=1e-6)


def test_the_whole_of_a_single_gaussian_is_its_mean():
    X = np.random.default_rng(0).normal(size=(5000, 6)) + 3
    found = GaussianSearch(1).fit(X).search(np.ones(6))
    assert_allclose(found.center, X.mean(axis=0), atol=0.05)
    assert found.separation == np.inf
    assert found.alternatives == ()

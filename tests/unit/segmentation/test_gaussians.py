import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.special import softmax
from scipy.stats import multivariate_normal

from mixsearch.segmentation.gaussians import SegmentGaussians, argmax_segments, recenter_on_seeds, softmax_in_place


@pytest.fixture
def clusters():
    rng = np.random.default_rng(0)
    return SegmentGaussians(rng.normal(size=(3, 4)), np.array([0.5, 1.0, 2.0]), np.array([0.2, 0.3, 0.5]))


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(50, 4))


def test_probabilities_are_those_of_the_mixture(clusters, X):
    logs = np.array(
        [
            np.log(weight) + multivariate_normal(center, variance * np.eye(4)).logpdf(X)
            for center, variance, weight in zip(*clusters, strict=True)
        ]
    )
    assert_allclose(softmax_in_place(clusters.log_densities(X)), softmax(logs, axis=0), rtol=1e-9)


def test_pooled_gaussians_assign_to_the_nearest_center(clusters, X):
    assert_array_equal(argmax_segments(clusters.pooled.log_densities(X)), cdist(X, clusters.centers).argmin(axis=1))


@pytest.mark.parametrize("variances", [(50.0, 50.0, 50.0), (40.0, 50.0, 60.0)])
def test_features_far_from_zero_are_told_apart_in_single_precision(variances):
    rng = np.random.default_rng(3)
    far = SegmentGaussians(30_000 + rng.normal(scale=20, size=(3, 4)), np.array(variances), np.array([0.2, 0.3, 0.5]))
    X = far.centers[rng.integers(3, size=200)] + rng.normal(scale=7, size=(200, 4))
    exact, coarse = (softmax_in_place(far.log_densities(each)) for each in (X, X.astype(np.float32)))
    assert_allclose(coarse, exact, atol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_afterwards_every_seed_is_nearest_to_its_own_center(seed):
    rng = np.random.default_rng(seed)
    known = [rng.normal(size=(2, 3)) for _ in range(5)]
    kept, _ = recenter_on_seeds(SegmentGaussians(rng.normal(size=(5, 3)), np.ones(5), np.full(5, 0.2)), known)
    means = [pixels.mean(axis=0) for pixels in known]
    assert_array_equal(cdist(means, kept.centers).argmin(axis=1), range(5))

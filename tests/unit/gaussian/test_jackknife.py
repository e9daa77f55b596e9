"""The fast jackknife, compared with a full fit without each group."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.split_samples import jackknife_slices

from mixsearch import GaussianSearch
from mixsearch.core.jackknife import jackknife
from mixsearch.datasets import make_gaussian_mixture, make_hint

N = 2000


@pytest.fixture(scope="module")
def data():
    return make_gaussian_mixture(N, 12, 3, deviation=1.5, random_state=0)


def hint_beside(data, target):
    """Return a hint partly outside the span of the centers, so that its projection depends on the frame."""
    return make_hint(data.centers, target, gamma=0.6) + 0.3 * data.centers.mean(axis=0) / 10


def refits(data, target, **options):
    """Return every leave-one-out fit, computed in full."""
    found = []
    for rows in jackknife_slices(N):
        kept = np.delete(data.X, np.arange(N)[rows], axis=0)
        found.append(GaussianSearch(3).fit(kept).search(hint_beside(data, target), **options))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("target", [0, 2])
def test_standard_errors_are_those_of_refits(data, target, refine):
    found = GaussianSearch(3).fit(data.X).search(hint_beside(data, target), refine=refine)
    others = refits(data, target, refine=refine)
    centers = jackknife(np.array([other.center for other in others]))
    # The sandwich of a refined answer is another estimator of the same error: forty refits know it to a tenth.
    exact, average = (0.45, 0.1) if refine else (0.15, 0.04)
    assert_allclose(found.stderr.center, centers, rtol=exact)
    assert np.linalg.norm(found.stderr.center) == pytest.approx(np.linalg.norm(centers), rel=average)
    weights = jackknife(np.array([other.weight for other in others]))
    assert found.stderr.weight == pytest.approx(float(weights), rel=0.4 if refine else 0.05)


def test_the_jackknife_of_a_mean_is_its_usual_standard_error():
    x = np.random.default_rng(0).exponential(size=40)
    replicates = (x.sum() - x) / 39
    assert float(jackknife(replicates)) == pytest.approx(x.std(ddof=1) / np.sqrt(40))

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch
from mixsearch.core.extraction import extract_with_rehint
from mixsearch.core.moments import Hinted
from mixsearch.datasets import make_gaussian_mixture


def hint_scoring(centers, scores):
    """Return the shortest direction under which the centers have these scores."""
    return np.linalg.pinv(centers) @ scores


@pytest.mark.parametrize("offset", [0.0, 5.0])
@pytest.mark.parametrize("deviations", [1.0, (0.5, 1.0, 2.0, 2.0)])
def test_a_direction_that_says_nothing_is_warned_about(offset, deviations) -> None:
    warned = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        centers, labels = 3 * rng.normal(size=(4, 20)), rng.integers(4, size=1000)
        X = centers[labels] + rng.normal(size=(1000, 20)) * np.broadcast_to(deviations, 4)[labels, None]
        v = rng.normal(size=20)
        v -= hint_scoring(centers, centers @ v - offset)
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            found = GaussianSearch(4).fit(X).search(v)
        warned.append("weak_hint" in {warning.code for warning in found.warnings})
    assert np.mean(warned) >= 0.9


def test_a_small_lead_that_is_no_noise_is_not_warned_about() -> None:
    data = make_gaussian_mixture(20_000, 10, 3, deviation=0.2, norm=5.0, random_state=0)
    found = GaussianSearch(3).fit(data.X).search(hint_scoring(data.centers, [1.0, 0.95, 0.0]))
    assert found.separation < 1.1
    assert found.p_first > 0.975
    assert found.warnings == ()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_with_exact_moments_the_second_contraction_changes_nothing(order) -> None:
    weights, scores = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.9, 0.2])
    overlaps = np.sqrt(weights[order])
    hinted = Hinted(np.diag(scores[order]), overlaps, scores[order] * overlaps)

    def contract(hint):
        return Hinted(np.diag(hint / overlaps), overlaps, hint)

    found, rehint = extract_with_rehint(contract, hinted)
    assert rehint is not None
    assert_allclose(found.scores, scores, atol=1e-12)
    assert_allclose(found.weights, weights, atol=1e-12)

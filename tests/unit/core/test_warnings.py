import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch import GaussianSearch
from mixsearch.core.extraction import Extraction, extract_with_rehint
from mixsearch.core.jackknife import compare_scores
from mixsearch.core.moments import Hinted
from mixsearch.datasets import make_gaussian_mixture, make_hint


def hint_scoring(centers, scores):
    """Return the shortest direction under which the centers have these scores."""
    return np.linalg.pinv(centers) @ scores


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_a_tie_is_among_the_warnings_of_the_answer() -> None:
    found = []
    for seed in range(10):
        data = make_gaussian_mixture(2000, 10, 3, random_state=seed)
        found.append(GaussianSearch(3).fit(data.X).search(hint_scoring(data.centers, [1.0, 1.0, 0.0])))
    warned = [each for each in found if [warning.code for warning in each.warnings] == ["weak_hint"]]
    assert len(warned) >= 6  # by chance a tie looks like a lead that is 95% sure in 1 of 10 cases
    assert "hardly singles out" in repr(warned[0])


def test_the_interval_of_a_lead_holds_the_factors_that_leave_no_clear_difference() -> None:
    low, high = compare_scores(4.0, 2.0, np.diag([0.04, 0.01])).interval
    for factor in (low, high):
        assert 4.0 - factor * 2.0 == pytest.approx((1 if factor < 2 else -1) * 1.96 * np.hypot(0.2, 0.1 * factor))
    assert compare_scores(-2.0, -4.0, np.diag([0.01, 0.04])).interval == pytest.approx((low, high))
    assert compare_scores(4.0, 2.0, np.diag([0.04, 0.01])).p_first == pytest.approx(1.0)
    assert compare_scores(2.0, 2.0, np.diag([0.04, 0.01])).p_first == pytest.approx(0.5)


def test_a_lead_over_a_negative_score_is_infinite_and_that_of_the_other_is_zero() -> None:
    covariance = 0.01 * np.eye(2)
    assert compare_scores(1.0, -1.0, covariance).interval == (np.inf, np.inf)
    assert compare_scores(-1.0, 1.0, covariance).interval == (0, 0)
    assert compare_scores(1.0, 0.1, covariance).interval[1] == np.inf


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_the_interval_of_the_separation_holds_the_true_one() -> None:
    inside = []
    for seed in range(20):
        data = make_gaussian_mixture(1000, 20, 4, deviation=1.0, norm=4.0, random_state=seed)
        hint = make_hint(data.centers, 0, gamma=0.6, random_state=seed)
        scores = np.sort(data.centers @ hint)[::-1]
        low, high = GaussianSearch(4).fit(data.X).search(hint).separation_interval
        inside.append(low <= scores[0] / scores[1] <= high if scores[1] > 0 else high == np.inf)
    assert np.mean(inside) >= 0.85


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
    assert found.separation_interval[0] > 1
    assert found.warnings == ()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_with_exact_moments_the_second_contraction_changes_nothing(order) -> None:
    weights, scores = np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.9, 0.2])
    overlaps = np.sqrt(weights[order])
    hinted = Hinted(np.diag(scores[order]), overlaps, scores[order] * overlaps)

    def contract(hint):
        return Hinted(np.diag(hint / overlaps), overlaps, hint)

    found, rehint = extract_with_rehint(contract, hinted, Extraction(rehint=True))
    assert rehint is not None
    assert_allclose(found.scores, scores, atol=1e-12)
    assert_allclose(found.weights, weights, atol=1e-12)

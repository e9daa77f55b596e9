import numpy as np
import pytest

from mixsearch import GaussianSearch, WeakHintWarning
from mixsearch.core.doubts import MIN_P_VALUE, trust
from mixsearch.core.jackknife import N_DRAWS, interval_of_lead, probability_of_first
from mixsearch.datasets import make_gaussian_mixture, make_hint


def test_a_test_that_a_right_answer_passes_costs_no_confidence() -> None:
    assert trust(1.0) == trust(MIN_P_VALUE) == 1
    assert trust(MIN_P_VALUE / 4) == pytest.approx(0.25)
    assert trust(0.0) == 0


def test_a_warning_about_the_hint_is_among_the_doubts_of_the_answer() -> None:
    data = make_gaussian_mixture(2000, 10, 3, random_state=0)
    tie = make_hint(data.centers, 0, gamma=0.5) + make_hint(data.centers, 1, gamma=0.5)
    tie += np.linalg.pinv(data.centers) @ (np.array([1.0, 1.0, 0.0]) - data.centers @ tie)
    with pytest.warns(WeakHintWarning):
        found = GaussianSearch(3).fit(data.X).search(tie)
    assert [doubt.code for doubt in found.doubts] == ["weak_hint"]
    assert "hardly singles out" in repr(found)
    assert GaussianSearch(3).fit(data.X).search(make_hint(data.centers, 0)).doubts == ()


def test_the_lead_of_simulated_scores_has_the_quantiles_of_their_ratio() -> None:
    rng = np.random.default_rng(0)
    preferences = rng.normal((4.0, 2.0), 0.1, size=(N_DRAWS, 2))
    ratios = preferences[:, 0] / preferences[:, 1]
    assert interval_of_lead(preferences, 0) == pytest.approx(np.quantile(ratios, (0.025, 0.975)), rel=1e-3)
    assert interval_of_lead(-preferences, 1) == pytest.approx(np.quantile(ratios, (0.025, 0.975)), rel=1e-3)
    assert probability_of_first(preferences, 0) == 1


def test_a_lead_over_a_negative_score_is_infinite_and_that_of_the_other_is_zero() -> None:
    preferences = np.tile([1.0, -1.0], (10, 1))
    assert interval_of_lead(preferences, 0) == (np.inf, np.inf)
    assert interval_of_lead(preferences, 1) == (0, 0)
    assert interval_of_lead(preferences[:, :1], 0) == (np.inf, np.inf)


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_the_interval_of_the_separation_holds_the_true_one() -> None:
    inside = []
    for seed in range(40):
        data = make_gaussian_mixture(1000, 20, 4, deviation=1.0, norm=4.0, random_state=seed)
        hint = make_hint(data.centers, 0, gamma=0.6, random_state=seed)
        scores = np.sort(data.centers @ hint)[::-1]
        low, high = GaussianSearch(4).fit(data.X).search(hint).separation_interval
        inside.append(low <= scores[0] / scores[1] <= high if scores[1] > 0 else high == np.inf)
    assert np.mean(inside) >= 0.85

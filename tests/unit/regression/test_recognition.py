"""Estimates from moments are recognised among the regressions that EM finds, whatever number of them is fitted."""

import numpy as np
import pytest
from tests.unit.regression.conftest import NOISE

from mixsearch import RegressionSearch
from mixsearch.datasets import make_hint, make_mixed_regression
from mixsearch.errors import WeakHintWarning
from mixsearch.regression.design import Design
from mixsearch.regression.mixture import RegressionMixture
from mixsearch.regression.recognition import LikelyMixture, recognise


def make_likely(slopes, error=0.0):
    """Return what EM found, with slopes as columns."""
    k = slopes.shape[1]
    mixture = RegressionMixture(slopes, np.zeros(k), np.ones(k), np.full(k, 1 / k))
    return LikelyMixture(mixture, np.full(k, error), mixture, Design(np.zeros(len(slopes)), None), 1000)


@pytest.mark.parametrize(("share", "is_recognised"), [(0.0, True), (0.3, True), (0.49, False), (0.51, False)])
def test_an_estimate_is_recognised_well_before_it_is_halfway_to_another_regression(share, is_recognised):
    likely = make_likely(np.eye(3))
    estimate = likely.mixture.slopes[:, 0] * (1 - share) + likely.mixture.slopes[:, 1] * share
    found = recognise(estimate, likely)
    assert found.component == int(share > 0.5)
    assert (found.trust > 0.9) == is_recognised


def test_nothing_is_recognised_among_regressions_that_are_known_too_roughly():
    assert recognise(np.eye(3)[:, 0], make_likely(np.eye(3), error=0.5)).trust == 0


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_two_components_too_many_leave_a_recognised_answer_sure():
    data = make_mixed_regression(20_000, 10, 3, deviation=NOISE, random_state=0)
    found = RegressionSearch(5).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.9))
    apart = np.linalg.norm(data.centers[1:] - data.centers[0], axis=1).min()
    assert np.linalg.norm(found.center - data.centers[0]) < apart / 2
    assert found.confidence > 0.9
    assert not any(isinstance(doubt, WeakHintWarning) for doubt in found.doubts)

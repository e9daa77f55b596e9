"""Estimates from moments are recognised among the regressions that EM finds, whatever number of them is fitted."""

import numpy as np
import pytest
from tests.unit.regression.conftest import NOISE

from mixsearch import RegressionSearch
from mixsearch.core.em import EMOptions
from mixsearch.datasets import make_hint, make_mixed_regression
from mixsearch.errors import WeakHintWarning
from mixsearch.regression._design import Design
from mixsearch.regression._em import maximize_likelihood
from mixsearch.regression._likelier import merge_copies, take_part
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._recognition import LikelyMixture, recognise
from mixsearch.regression._refinement import make_regressors


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


def with_one_more(mixture, move, share):
    """Return the mixture with a share of its first regression moved."""
    moved = mixture.slopes[:, 0] + move * np.eye(len(mixture.slopes))[0]
    weights = mixture.weights * [1 - share, 1, 1]
    return RegressionMixture(
        np.column_stack([mixture.slopes, moved]),
        np.append(mixture.levels, mixture.levels[0]),
        np.append(mixture.variances, mixture.variances[0]),
        np.append(weights, share * mixture.weights[0]),
    )


@pytest.mark.parametrize(("move", "share"), [(0.0, 0.5), (0.1, 0.3), (1e4, 1e-6)])
def test_copies_of_a_regression_and_lines_without_members_are_no_rivals(data, search, move, share):
    part = take_part(make_regressors(search._family), 4)
    slopes = part.design.to_slopes(data.centers.T)
    truth = RegressionMixture(slopes, np.zeros(3), np.full(3, NOISE**2), data.weights)
    found = maximize_likelihood(part, with_one_more(truth, move, share), EMOptions(max_iter=1, tol=1.0))
    merged = merge_copies(part, found).state
    assert merged.n_components == 3
    assert np.all(np.linalg.norm(merged.slopes[:, :, None] - slopes[:, None], axis=0).min(axis=0) < 0.1)


def test_different_regressions_are_not_merged(data):
    rng = np.random.default_rng(0)
    centers = data.centers[0] + 0.5 * np.eye(6)[:3]
    y = np.einsum("ij,ij->i", data.X, centers[data.labels]) + NOISE * rng.standard_normal(len(data.X))
    part = take_part(make_regressors(RegressionSearch(3).fit(data.X, y)._family), 3)
    truth = RegressionMixture(part.design.to_slopes(centers.T), np.zeros(3), np.full(3, NOISE**2), data.weights)
    assert merge_copies(part, maximize_likelihood(part, truth, EMOptions(max_iter=30, tol=0.1))).state.n_components == 3


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_two_components_too_many_leave_a_recognised_answer_sure():
    data = make_mixed_regression(20_000, 10, 3, deviation=NOISE, random_state=0)
    found = RegressionSearch(5).fit(data.X, data.y).search(make_hint(data.centers, 0, gamma=0.9))
    apart = np.linalg.norm(data.centers[1:] - data.centers[0], axis=1).min()
    assert np.linalg.norm(found.center - data.centers[0]) < apart / 2
    assert found.confidence > 0.9
    assert not any(isinstance(doubt, WeakHintWarning) for doubt in found.doubts)

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.populations import draw_mixture, whitener

from mixsearch.extraction.whitening import extract_by_whitening
from mixsearch.refine.rest import separate_rest
from mixsearch.types import Hinted


def contractions(mixture):
    """R(c) of the population, for hints c in its frame, and the true points as columns."""
    points = whitener(mixture.frame).T @ mixture.centers.T
    return lambda c: (points * (mixture.weights * (c @ points))) @ points.T, points


def hinted_by(mixture, scores):
    """The population's hinted moment for a hint that gives the components these scores."""
    contract, points = contractions(mixture)
    c = np.linalg.solve(points.T, scores)
    return contract, points, Hinted(contract(c), points @ mixture.weights, c)


@pytest.mark.parametrize(("k", "seed"), [(2, 0), (3, 1), (5, 2), (12, 3)])
def test_components_of_equal_scores_are_told_apart_by_other_contractions(k, seed):
    mixture = draw_mixture(seed, k, k + 4)
    contract, points, hinted = hinted_by(mixture, np.array([3.0] + [1.0] * (k - 1)))
    rough = extract_by_whitening(hinted)
    sharp = separate_rest(contract, rough)
    assert_allclose(sharp.points[:, 0], rough.points[:, 0])
    order = np.argmin(np.linalg.norm(points[:, :, None] - sharp.points[:, None, :], axis=0), axis=1)
    assert sorted(order) == list(range(k))
    assert_allclose(sharp.points[:, order], points, atol=1e-8)
    assert_allclose(sharp.weights[order], mixture.weights, atol=1e-8)
    assert_allclose(sharp.scores[order], [3.0] + [1.0] * (k - 1), atol=1e-8)


def test_separation_of_the_rest_survives_noise_in_the_moments():
    mixture, rng = draw_mixture(5, 6, 10), np.random.default_rng(0)
    exact, points, hinted = hinted_by(mixture, np.array([3.0, 1.0, 1.01, 0.99, 1.0, 1.02]))
    noise = 0.01 * rng.standard_normal((6, 6, 6))
    noise = noise + noise.transpose(0, 2, 1)

    def contract(c):
        return exact(c) + np.tensordot(c, noise, axes=1)

    rough = extract_by_whitening(Hinted(contract(hinted.hint), hinted.mean, hinted.hint))
    sharp = separate_rest(contract, rough)

    def worst(candidates):
        distances = np.linalg.norm(points[:, :, None] - candidates.points[:, None, :], axis=0)
        return distances.min(axis=1).max()

    assert worst(sharp) < 0.25
    assert worst(rough) > 1.0


def test_a_single_component_has_no_rest():
    mixture = draw_mixture(0, 1, 3)
    contract, _, hinted = hinted_by(mixture, np.array([3.0]))
    rough = extract_by_whitening(hinted)
    assert separate_rest(contract, rough) is rough

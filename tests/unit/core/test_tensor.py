import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.populations import draw_mixture, whitener

from mixsearch.core.extraction import all_components


def population(mixture):
    """Return the tensor of the population, in its frame, and the true points as columns."""
    points = whitener(mixture.frame).T @ mixture.centers.T
    return np.einsum("i,ai,bi,ci->abc", mixture.weights, points, points, points), points


@pytest.mark.parametrize(("k", "seed"), [(1, 0), (2, 0), (3, 1), (5, 2), (12, 3)])
def test_all_components_are_told_apart_by_all_contractions(k, seed):
    mixture = draw_mixture(seed, k, k + 4)
    tensor, points = population(mixture)
    found = all_components(tensor, points @ mixture.weights)
    order = np.argmin(np.linalg.norm(points[:, :, None] - found.points[:, None, :], axis=0), axis=1)
    assert sorted(order) == list(range(k))
    assert_allclose(found.points[:, order], points, atol=1e-8)
    assert_allclose(found.weights[order], mixture.weights, atol=1e-8)

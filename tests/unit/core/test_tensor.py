import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.populations import draw_mixture, whitener

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch
from mixsearch.core.extraction import all_components
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_topics


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


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("model", ["gaussian", "regression", "lda"])
def test_the_tensor_of_a_model_holds_the_moments_of_all_hints(model, within):
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0][:, : 2 if within else 3]
    if model == "lda":
        topics = LdaSearch(3).fit(make_topics(500, 30, 3, random_state=0).counts)._family
        tensor, contract = topics.tensor(basis), topics.hinted
    else:
        if model == "gaussian":
            fitted = GaussianSearch(3).fit(make_gaussian_mixture(500, 8, 3, random_state=0).X)
        else:
            data = make_mixed_regression(2000, 6, 3, random_state=0)
            fitted = RegressionSearch(3).fit(data.X, data.y)
        tensor, contract = fitted._family.tensor(basis), fitted._family.hinted
    wanted = [basis.T @ contract(u).matrix @ basis for u in basis.T]
    assert_allclose(tensor, wanted, atol=1e-9 * np.abs(wanted).max())

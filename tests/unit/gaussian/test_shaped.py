"""Refined components with diagonal, tied or full covariances, compared with scikit-learn started at the truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.mixture import GaussianMixture
from tests.unit.gaussian.shaped import CENTERS, WEIGHTS, draw

from mixsearch import GaussianSearch

SHAPES = {"diagonal": "diag", "tied": "tied", "full": "full"}
OVERLAP = 1.4


@pytest.fixture(scope="module", params=SHAPES)
def fitted(request):
    """Return samples of a shape, a search fitted with it, and the likeliest mixture near the truth."""
    data = draw(request.param, overlap=OVERLAP)
    peer = GaussianMixture(
        3,
        covariance_type=SHAPES[request.param],
        means_init=CENTERS / OVERLAP,
        weights_init=WEIGHTS,
        tol=1e-8,
        max_iter=1000,
    ).fit(data.X)
    return data, GaussianSearch(3, covariance=request.param).fit(data.X), peer


@pytest.mark.parametrize("target", range(3))
def test_the_component_is_that_of_the_likeliest_mixture(fitted, target):
    data, search, peer = fitted
    found = search.search(examples=data.members(target), refine=True)
    assert_allclose(found.center, peer.means_[target], atol=0.03)
    assert found.weight == pytest.approx(peer.weights_[target], abs=0.005)
    apart = np.abs(found.membership(data.X) - peer.predict_proba(data.X)[:, target])
    assert apart.mean() < 0.01
    assert_allclose(found.covariance, data.covariances[target], atol=0.35)
    assert search.score_samples(data.X).mean() == pytest.approx(peer.score(data.X), abs=0.01)


def test_standard_errors_are_those_of_a_center_or_a_little_larger(fitted):
    """Unknown memberships and a tail of overlap make them larger than those of the members' mean."""
    data, search, _ = fitted
    found = search.search(examples=data.members(0), refine=True)
    members = data.X[data.labels == 0]
    of_mean = members.std(axis=0) / np.sqrt(len(members))
    assert np.all(found.stderr.center > 0.9 * of_mean)
    assert np.all(found.stderr.center < 2 * of_mean)
    assert np.sqrt(0.25 / len(data.X)) * 0.9 < found.stderr.weight < 0.03


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")  # examples contradict the mixture
@pytest.mark.parametrize("shape", SHAPES)
def test_examples_that_the_mixture_contradicts_are_held_in_their_component_or_out_of_it(shape):
    data = draw(shape, n=300, overlap=2.0, seed=1)
    search = GaussianSearch(3, covariance=shape).fit(data.X)
    clear = data.members(0, 20)
    membership = search.search(examples=clear, refine=True).membership(data.X)
    missed = data.X[(data.labels == 0) & (membership > 0.1) & (membership < 0.5)]
    wrong = data.X[(data.labels != 0) & (membership > 0.5)]
    held = search.search(examples=np.vstack([clear, *[missed] * 20]), refine=True)
    assert held.membership(missed).min() > 0.5
    out = search.search(examples=clear, not_examples=np.vstack([wrong] * 20), refine=True)
    assert out.membership(wrong).mean() < 0.5


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")  # the example is between two components
def test_samples_of_other_components_decide_between_components(fitted):
    data, search, _ = fitted
    middle = (CENTERS[:2] / OVERLAP).mean(axis=0, keepdims=True)
    for target, other in ((0, 1), (1, 0)):
        found = search.search(examples=middle, not_examples=data.members(other), refine=True)
        assert np.argmin(np.linalg.norm(CENTERS / OVERLAP - found.center, axis=1)) == target

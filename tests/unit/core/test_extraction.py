"""Components from moments in a frame: all of them, the one of a hint, and how clearly it leads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises
from tests.populations import draw_mixture, whitener

from mixsearch import GaussianSearch, search_family
from mixsearch.core.extraction import all_components, extract_by_whitening, extract_with_rehint
from mixsearch.core.moments import Hinted
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import WeakHintWarning
from mixsearch.gaussian import fit_gaussian


def test_a_component_without_weight_has_no_center():
    mixture = draw_mixture(3, 4, 9)
    W = whitener(mixture.frame)
    with raises("no_mass", weight=0):
        extract_by_whitening(Hinted(W.T @ mixture.hinted @ W, np.zeros(4), np.zeros(4)))


def search_tie(seed):
    data = make_gaussian_mixture(2000, 10, 3, random_state=seed)
    family = fit_gaussian(chunk_in_memory(data.X), 3, paper=False, seed=0)
    return search_family(family, np.linalg.pinv(data.centers) @ [1.0, 1.0, 0.0])


def test_a_tie_in_any_family_is_among_the_warnings_and_names_the_line_of_the_caller():
    with pytest.warns(WeakHintWarning) as warned:
        codes = [warning.code for seed in range(5) for warning in search_tie(seed).warnings]
    assert codes.count("weak_hint") == len(warned) >= 2
    assert {warning.filename for warning in warned} == {__file__}


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


def hint_scoring(centers, scores):
    """Return the shortest direction under which the centers have these scores."""
    return np.linalg.pinv(centers) @ scores


@pytest.mark.parametrize("refine", [False, True])
def test_a_small_lead_that_is_no_noise_is_not_warned_about(refine):
    data = make_gaussian_mixture(20_000, 10, 3, deviation=0.2, norm=5.0, random_state=0)
    found = GaussianSearch(3).fit(data.X).search(hint_scoring(data.centers, [1.0, 0.95, 0.0]), refine=refine)
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

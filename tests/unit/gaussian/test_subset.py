"""Whether samples follow the fitted mixture, and which start of EM gives the highest likelihood."""

import numpy as np
import pytest
from tests.coded import warns

from mixsearch import GaussianSearch
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import collect_warnings
from mixsearch.gaussian.subset import fit_subset


def subset_of(X, n_components):
    with collect_warnings():
        return fit_subset(GaussianSearch(n_components).fit(X)._family)


@pytest.mark.parametrize("deviation", [1.0, 2.0, (0.5, 1.0, 1.0, 2.0)])
@pytest.mark.parametrize("n_samples", [300, 3000])
def test_samples_of_the_model_pass(deviation, n_samples):
    p_values = []
    for seed in range(5):
        X = make_gaussian_mixture(n_samples, 20, 4, deviation=deviation, norm=6.0, random_state=seed).X
        p_values.append(subset_of(X, 4).p_value)
    assert np.median(p_values) > 0.2
    assert min(p_values) > 1e-3


def elongate(data, rng):
    axes = rng.normal(size=data.centers.shape)
    axes = (axes / np.linalg.norm(axes, axis=1, keepdims=True))[data.labels]
    along = np.einsum("ij,ij->i", data.X - data.centers[data.labels], axes)
    return data.X + 2 * along[:, None] * axes


def give_heavy_tails(data, rng):
    noise = data.X - data.centers[data.labels]
    return data.centers[data.labels] + noise / np.sqrt(rng.chisquare(4, (len(noise), 1)) / 2)


@pytest.mark.parametrize("spoil", [elongate, give_heavy_tails])
def test_clusters_of_another_shape_are_noticed(spoil):
    data = make_gaussian_mixture(3000, 20, 4, norm=8.0, random_state=0)
    assert np.all(subset_of(spoil(data, np.random.default_rng(0)), 4).p_values < 1e-3)


def test_a_component_that_stands_for_several_is_noticed_and_others_are_not():
    data = make_gaussian_mixture(3000, 20, 4, norm=8.0, random_state=0)
    with collect_warnings():
        found = [GaussianSearch(3).fit(data.X).search(examples=x[None], refine=True) for x in data.centers]
    apart = np.linalg.norm([[one.center - other.center for one in found] for other in found], axis=2)
    merged = np.sum(apart < 1, axis=1) > 1
    doubted = np.array(["not_spherical" in [doubt.code for doubt in each.doubts] for each in found])
    assert merged.any()
    assert not merged.all()
    np.testing.assert_array_equal(doubted, merged)


def test_examples_of_two_components_are_named():
    data = make_gaussian_mixture(3000, 20, 4, norm=8.0, random_state=0)
    rows = np.concatenate([np.flatnonzero(data.labels == i)[:n] for i, n in ((0, 4), (1, 1))])
    with warns("examples_disagree", n_examples=5):
        found = GaussianSearch(4).fit(data.X).search(examples=data.X[rows])
    assert found.confidence < 0.01


def test_an_example_far_from_everything_is_named():
    data = make_gaussian_mixture(3000, 20, 4, norm=8.0, random_state=0)
    with warns("examples_atypical", rows=[0], n_examples=1):
        found = GaussianSearch(4).fit(data.X).search(examples=np.full((1, 20), 50.0))
    assert found.confidence < 0.01


@pytest.mark.slow
def test_standard_errors_of_misfitting_samples_are_those_of_refits():
    rng = np.random.default_rng(0)

    def draw():
        labels = rng.integers(2, size=300)
        return rng.standard_t(5, size=(300, 3)) * [1.0, 1.0, 0.3] + np.outer(labels, [0.0, 9.0, 0.0])

    X, example = draw(), np.array([[0.0, 9.0, 0.0]])
    with collect_warnings():
        found = GaussianSearch(2).fit(X).search(examples=example, refine=True)
        others = [GaussianSearch(2).fit(draw()).search(examples=example, refine=True) for _ in range(60)]
    ratios = found.stderr.center / np.std([each.center for each in others], axis=0)
    assert "not_spherical" in [doubt.code for doubt in found.doubts]
    assert 0.4 < np.median(ratios) < 2.5


def test_points_without_noise_are_neither_too_few_components_nor_overflow():
    points = np.random.default_rng(0).normal(size=(3, 60))
    X = points[np.arange(80) % 3]
    found = GaussianSearch(3).fit(X).search(examples=points[:1], refine=True)
    assert found.doubts == ()
    np.testing.assert_allclose(found.center, points[0], atol=1e-6)

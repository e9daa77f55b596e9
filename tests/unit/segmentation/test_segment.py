import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from tests.coded import raises, warns
from tests.unit.segmentation.images import assert_same_labels, halves, painted, thirds

from mixsearch import GaussianSearch, segment
from mixsearch.segmentation import features as _features
from mixsearch.segmentation import segment as _segment

SEEDS = [(5, 20), (50, 20)]
THREE = {"left": (6, 24), "right": (66, 24), "disk": (36, 24)}


def agreement(found, truth):
    return np.mean(found.labels == truth)


@pytest.mark.parametrize("assign", ["auto", "nearest", "posterior"])
@pytest.mark.parametrize("name", ["rich", "rgb"])
def test_each_seed_finds_its_segment(name, assign):
    picture, truth = thirds(height=144, width=216)
    found = segment(picture, {part: (3 * x, 3 * y) for part, (x, y) in THREE.items()}, features=name, assign=assign)
    assert agreement(found, truth) > 0.95
    assert found.names == ("left", "right", "disk")
    assert found.labels.shape == truth.shape


def test_plain_colours_are_what_the_paper_does():
    """One search per seed among as many components as seeds, pixels to the nearest center."""
    picture, _ = thirds()
    X = picture.reshape(-1, 3).astype(np.float32)
    search = GaussianSearch(3).fit(X)
    width = picture.shape[1]
    centers = [search.search(examples=X[[y * width + x]]).center for x, y in THREE.values()]
    expected = cdist(X, centers).argmin(axis=1).reshape(picture.shape[:2])
    found = segment(picture, THREE, features="rgb")
    assert_same_labels(found.labels, expected, found.probabilities)


def test_one_seed_cuts_its_segment_from_the_rest():
    picture, truth = halves()
    found = segment(picture, {"blue": (5, 20)})
    assert found.names == ("blue", "rest")
    assert found.seeds == (((5, 20),), ())
    assert len(found.components) == len(found.separations) == 1
    assert "rest  has no seed" in repr(found)
    assert agreement(found, truth) > 0.97


def test_transparent_pixels_have_no_segment():
    picture, truth = halves()
    alpha = np.ones((40, 60))
    alpha[:, :3] = 0
    found = segment(np.dstack([picture, alpha]), SEEDS)
    assert_array_equal(found.labels == -1, alpha == 0)
    assert np.mean(found.labels[:, 3:] == truth[:, 3:]) > 0.97
    assert found.sizes.sum() == 40 * 57
    assert_allclose(found.probabilities.sum(axis=2), alpha, rtol=1e-5)


def test_a_large_picture_is_cut_as_a_small_one_and_along_its_own_edges(monkeypatch):
    picture, truth = thirds(height=240, width=360)
    seeds = {name: (5 * x, 5 * y) for name, (x, y) in THREE.items()}
    monkeypatch.setattr(_features, "MAX_FEATURE_PIXELS", 6000)
    found = segment(picture, seeds)
    assert agreement(found, truth) > 0.96
    blocky = found.labels[::4, ::4].repeat(4, axis=0).repeat(4, axis=1)
    assert np.mean(found.labels == truth) > np.mean(blocky == truth)


@pytest.mark.parametrize("name", ["rich", "rgb"])
def test_blocks_of_rows_give_what_the_whole_gives(name, monkeypatch):
    picture, _ = thirds()
    whole = segment(picture, THREE, features=name)
    probabilities = whole.probabilities
    monkeypatch.setattr(_segment, "CHUNK_PIXELS", 500)
    parts = segment(picture, THREE, features=name)
    assert_same_labels(parts.labels, whole.labels, probabilities)
    assert_allclose(parts.probabilities, probabilities, atol=1e-6)


def test_seeds_that_mean_the_same_component_stand_for_themselves_with_a_warning():
    labels = np.zeros((40, 60), dtype=int)
    labels[:, 45:] = 1
    picture = painted(labels, noise=0.02)
    with warns("shared_component", segments="'segment 1' and 'segment 2'"):
        found = segment(picture, [(5, 5), (30, 30)], features="rgb")
    assert found.labels[5, 5] == 0
    assert found.labels[30, 30] == 1


@pytest.mark.parametrize(
    ("seeds", "n_components", "code"),
    [
        (THREE, 2, "bad_n_components"),
        (THREE, 12, "too_few_features"),
    ],
)
def test_a_number_of_components_that_does_not_suit_the_seeds_is_refused(seeds, n_components, code):
    with raises(code):
        segment(thirds()[0], seeds, n_components=n_components)

"""Seeds over a graph of superpixels, and the paper's search: hard constraints, pieces, trust."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import binary_dilation, gaussian_filter
from scipy.spatial.distance import cdist
from tests.coded import raises, warns
from tests.unit.image.images import assert_same_labels, halves, painted, thirds

from mixsearch import GaussianSearch, segment
from mixsearch.image import prepare_image
from mixsearch.image import segment as _segment
from mixsearch.image.pixel_search import find_shared
from mixsearch.image.segment import interpolate
from mixsearch.image.tuning import TUNING

SEEDS = {"left": (20, 60), "right": (150, 60)}
THREE = {"left": (6, 24), "right": (66, 24), "disk": (36, 24)}
PATCH = np.s_[52:68, 122:138]


@pytest.fixture(scope="module")
def wide():
    """Two colors side by side, with a patch of the left one within the right half."""
    labels = np.zeros((120, 180), dtype=int)
    labels[:, 90:] = 1
    labels[50:70, 120:140] = 0
    return prepare_image(painted(labels, noise=0.05))


def seeds_kept(found):
    return all(found.labels[y, x] == i for i, pixels in enumerate(found.seeds) for x, y in pixels)


@pytest.mark.parametrize("method", ["graph", "paper"])
def test_each_seed_finds_its_segment(method):
    picture, truth = thirds(height=144, width=216)
    found = segment(picture, {part: (3 * x, 3 * y) for part, (x, y) in THREE.items()}, method=method)
    assert np.mean(found.labels == truth) > 0.95
    assert found.names == ("left", "right", "disk")
    assert_allclose(found.probabilities.sum(axis=2), 1, rtol=1e-5)


@pytest.mark.parametrize("method", ["graph", "paper"])
def test_one_seed_cuts_its_segment_from_the_rest(method):
    picture, truth = halves()
    found = segment(picture, {"blue": (5, 20)}, method=method)
    assert found.names == ("blue", "rest")
    assert found.seeds == (((5, 20),), ())
    assert "rest  has no seed" in repr(found)
    assert np.mean(found.labels == truth) > 0.97


@pytest.mark.parametrize("method", ["graph", "paper"])
def test_transparent_pixels_have_no_segment(method):
    picture, truth = halves()
    alpha = np.ones((40, 60))
    alpha[:, :3] = 0
    found = segment(np.dstack([picture, alpha]), [(5, 20), (50, 20)], method=method)
    assert_array_equal(found.labels == -1, alpha == 0)
    assert np.mean(found.labels[:, 3:] == truth[:, 3:]) > 0.97
    assert found.sizes.sum() == 40 * 57
    assert_allclose(found.probabilities.sum(axis=2), alpha, rtol=1e-5)


def test_scores_are_the_mean_of_a_gaussian_process():
    """Against the textbook formula, for two segments with a seed each."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2))
    scales = rng.uniform(0.5, 2, 30)
    correlation = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 2)
    known = np.array([3, 7])
    probabilities = interpolate((correlation * np.outer(scales, scales))[:, known], known, np.eye(2), TUNING)
    among = correlation[np.ix_(known, known)] + TUNING.noise * np.eye(2)
    mean = correlation[:, known] @ np.linalg.inv(among) @ [0.5, -0.5]
    others = np.setdiff1d(np.arange(30), known)
    assert_array_equal(probabilities[others].argmax(axis=1), np.where(mean[others] > 0, 0, 1))
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_allclose(probabilities[known], np.eye(2))


def test_a_segment_does_not_swallow_others_by_having_more_seeds():
    """Two groups with a lot in common: with equal noise, the 14 seeds of one would take a third of the other."""
    points = np.concatenate([np.linspace(0, 1, 40), np.linspace(2, 3, 40)])
    correlation = 0.8 + 0.2 * np.exp(-2 * (points[:, None] - points) ** 2)
    known = np.append(np.arange(0, 40, 3), 79)
    targets = np.eye(2)[np.append(np.zeros(14, dtype=int), 1)]
    labels = interpolate(correlation[:, known], known, targets, TUNING).argmax(axis=1)
    assert np.mean(labels == np.repeat([0, 1], 40)) > 0.95


@pytest.mark.parametrize("step", [1, 3])
def test_every_seed_keeps_its_label_even_against_its_looks(wide, step):
    rng = np.random.default_rng(0)
    pixels = [(int(x), int(y)) for x, y in zip(rng.integers(0, 60, 40), rng.integers(0, 40, 40), strict=True)]
    pixels = [(3 * x, 3 * y) for x, y in dict.fromkeys(pixels)]
    found = wide.segment({"one": pixels[::2], "other": pixels[1::2]}, step=step)
    assert seeds_kept(found)
    assert all(found.probabilities[y, x, i] == 1 for i, some in enumerate(found.seeds) for x, y in some)


def test_a_pixel_said_not_to_belong_to_a_segment_does_not(wide):
    found = wide.segment({"left": (20, 60)}, not_seeds={"left": [(150, 60), (130, 60)]})
    assert found.names == ("left", "rest")
    assert found.labels[60, 130] == found.labels[60, 150] == 1
    assert found.labels[60, 20] == 0
    three = wide.segment([(20, 20), (150, 20), (150, 110)], not_seeds={"segment 1": (20, 100)})
    assert three.labels[100, 20] != 0
    with raises("unknown_segment", name="sky"):
        wide.segment(SEEDS, not_seeds={"sky": (3, 3)})
    assert wide.segment(SEEDS, not_seeds={"left": (20, 60)}).labels[60, 20] == 0  # a seed keeps its label


def test_what_looks_alike_elsewhere_belongs_to_the_segment(wide):
    assert np.mean(wide.segment(SEEDS).labels[PATCH] == 0) > 0.9


def test_the_expected_overlap_is_high_if_seeds_tell_and_low_if_they_do_not(wide):
    clear = wide.segment(SEEDS).expected_iou
    muddled = wide.segment({"one": (20, 20), "other": (20, 100)}).expected_iou
    assert clear.min() > 0.8
    assert muddled.min() < clear.min() - 0.2
    assert wide.segment({"left": (20, 60)}).expected_iou.max() < clear.min()  # the rest may be anything
    assert np.isnan(wide.segment(SEEDS, method="paper").expected_iou).all()


def test_two_colors_of_one_rough_object_need_one_click():
    """Red and blue patches of the same coarse texture on a smooth gray background."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:240, :320]
    inside = (y - 120) ** 2 + (x - 160) ** 2 < 80**2
    rough = gaussian_filter(rng.normal(size=(240, 320)), 1.0)
    colors = np.where((x < 160)[..., None], [0.7, 0.3, 0.3], [0.3, 0.4, 0.7]) + 0.6 * rough[..., None]
    image = np.where(inside[..., None], colors, 0.5 + 0.0005 * (y[..., None] - 120))
    image = np.clip(image + rng.normal(scale=0.01, size=image.shape), 0, 1)
    found = segment(image, {"object": (120, 120), "background": (20, 20)})
    assert np.mean(found.labels[inside] == 0) > 0.9
    assert np.mean(found.labels[~inside] == 1) > 0.9


def test_borders_of_a_large_image_follow_its_edges(monkeypatch):
    """Superpixels are of a downscaled copy, which alone would blur the borders."""
    y, x = np.mgrid[:300, :400]
    labels = (np.sin(x / 12) * 30 + 150 < y).astype(int)
    monkeypatch.setattr(_segment, "MAX_GRAPH_PIXELS", 8000)
    found = segment(painted(labels, noise=0.03), [(200, 25), (200, 275)])
    near = np.zeros(labels.shape, dtype=bool)
    near[1:] = labels[1:] != labels[:-1]
    near = binary_dilation(near, iterations=4)
    blocky = found.labels[::4, ::4].repeat(4, axis=0).repeat(4, axis=1)
    assert np.mean(found.labels[near] == labels[near]) > max(0.85, np.mean(blocky[near] == labels[near]))
    assert_array_equal(found.probabilities.argmax(axis=2), found.labels)


@pytest.mark.parametrize("method", ["graph", "paper"])
def test_a_thinned_answer_has_some_of_the_pixels_of_the_full_one(method):
    prepared = prepare_image(halves(500, 701)[0])  # larger than the graph is built on
    full, small = (prepared.segment([(100, 90), (600, 400)], method=method, step=step) for step in (1, 3))
    probabilities = full.probabilities[1::3, 1::3]
    assert_same_labels(small.labels, full.labels[1::3, 1::3], probabilities)
    assert_allclose(small.probabilities, probabilities, rtol=0, atol=1e-3)  # seeds are of their squares
    assert small.seeds == (((33, 30),), ((200, 133),))


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (3, 3)])
def test_tiny_pictures(shape):
    picture = np.linspace(0, 1, shape[0] * shape[1]).reshape(shape)
    found = segment(picture, [(0, 0), (shape[1] - 1, shape[0] - 1)])
    assert found.labels.shape == shape
    assert seeds_kept(found)


def test_plain_colors_are_what_the_paper_does():
    """One search per seed among as many components as seeds, pixels to the nearest center."""
    picture, _ = thirds()
    X = picture.reshape(-1, 3).astype(np.float32)
    search = GaussianSearch(3).fit(X)
    width = picture.shape[1]
    centers = [search.search(examples=X[[y * width + x]]).center for x, y in THREE.values()]
    expected = cdist(X, centers).argmin(axis=1).reshape(picture.shape[:2])
    assert np.mean(segment(picture, THREE, method="paper").labels == expected) > 0.999


def test_two_seeds_that_find_the_same_component_are_noticed():
    labels = np.zeros((40, 60), dtype=int)
    labels[:, 45:] = 1
    picture = painted(labels, noise=0.02)
    with warns("shared_component"):
        found = segment(picture, [(5, 5), (30, 30)], method="paper")
    assert found.labels[5, 5] == 0
    assert found.labels[30, 30] == 1


def test_two_centers_of_one_component_are_noticed_though_each_is_nearest_to_its_seed():
    one, same, other = np.zeros(3), np.array([0.1, 0, 0]), np.array([0, 5.0, 0])
    seeds = [np.array([[-1.0, 0, 0]]), np.array([[1.0, 0, 0]])]
    assert find_shared([np.array([one, other]), np.array([same, other])], seeds) == (0, 1)
    assert find_shared([np.array([one, other]), np.array([other, one])], [seeds[0], other[None]]) is None


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"method": "nearest"}, "bad_argument"),
        ({"method": "paper", "not_seeds": {"left": (3, 3)}}, "needs_graph"),
    ],
)
def test_options_that_do_not_suit_are_refused(wide, options, code):
    with raises(code):
        wide.segment(SEEDS, **options)


def test_more_segments_than_colors_can_tell_are_refused():
    with raises("too_many_segments", n_segments=4):
        segment(halves()[0], [(5, 5), (5, 30), (50, 5), (50, 30)], method="paper")

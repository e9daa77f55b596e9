"""Seeds over a graph of superpixels: hard constraints, corrections, pieces, confidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import raises
from tests.unit.segmentation.images import as_bytes, halves, painted, thirds

from mixsearch import segment
from mixsearch.segmentation import graph as _graph
from mixsearch.segmentation import prepare_image, read_image
from mixsearch.segmentation.features import compute_features
from mixsearch.segmentation.graph import Superpixels, find_superpixels
from mixsearch.segmentation.graph_posterior import collect_known, correct_locally, interpolate_known

SEEDS = {"left": (20, 60), "right": (150, 60)}


@pytest.fixture(scope="module")
def wide():
    """Two colors side by side, with a patch of the left one within the right half."""
    labels = np.zeros((120, 180), dtype=int)
    labels[:, 90:] = 1
    labels[50:70, 120:140] = 0
    return labels, prepare_image(painted(labels, noise=0.05))


def seeds_kept(found):
    return all(found.labels[y, x] == i for i, pixels in enumerate(found.seeds) for x, y in pixels)


def test_superpixels_cover_the_picture_and_follow_its_edges():
    picture, truth = thirds(240, 360)
    superpixels = find_superpixels(read_image(picture))
    assert superpixels.sizes.sum() == truth.size
    assert superpixels.sizes.min() > 0
    purity = [np.bincount(truth[superpixels.labels == i]).max() for i in range(len(superpixels.sizes))]
    assert sum(purity) > 0.97 * truth.size
    assert (superpixels.pairs[:, 0] < superpixels.pairs[:, 1]).all()


@pytest.mark.parametrize("name", ["minimum_spanning_tree", "connected_components", "dijkstra"])
def test_graphs_have_32_bit_indices(monkeypatch, name):
    """SciPy before 1.17.1 refuses others: "Buffer dtype mismatch"."""
    solve, given = getattr(_graph, name), []

    def spy(links, **options):
        given.extend([links.indices, links.indptr])
        return solve(links, **options)

    monkeypatch.setattr(_graph, name, spy)
    segment(halves()[0], [(5, 20), (50, 20)]).correct({"segment 1": (33, 20)})
    assert {each.dtype for each in given} == {np.dtype(np.int32)}


@pytest.mark.parametrize("kernel", ["similarity", "proximity"])
def test_similarity_and_proximity_are_kernels_with_ones_on_their_diagonals(kernel):
    kernel = getattr(compute_features(read_image(halves(120, 180)[0]), "rich").graph, kernel)
    assert_allclose(np.diag(kernel), 1, rtol=1e-10)
    assert_allclose(kernel, kernel.T, atol=1e-8)
    assert np.linalg.eigvalsh(kernel).min() > -1e-8


def test_interpolation_is_the_mean_of_a_gaussian_process():
    """Against the textbook formula, for two segments with a seed each."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2))
    similarity = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 2)
    known = collect_known([np.array([3]), np.array([7])], [np.array([], dtype=int)] * 2, similarity)
    probabilities = interpolate_known(known, similarity, np.eye(30))
    mean = similarity[:, [3, 7]] @ np.linalg.inv(similarity[np.ix_([3, 7], [3, 7])] + 0.1 * np.eye(2)) @ [0.5, -0.5]
    others = np.setdiff1d(np.arange(30), [3, 7])
    assert_array_equal(probabilities[others].argmax(axis=1), np.where(mean[others] > 0, 0, 1))
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_allclose(probabilities[[3, 7]], np.eye(2))


def make_chain(n):
    """Superpixels of one pixel each, of which only the first and the last are at the border of the picture."""
    ends = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    labels = np.zeros((3, n), dtype=int)
    labels[:2, -1] = labels[0] = labels[2] = n - 1
    labels[1] = np.arange(n)
    return Superpixels(labels, np.ones(n), ends, np.ones(n - 1), np.ones(n - 1))


def test_a_segment_does_not_swallow_others_by_having_more_seeds():
    """Two groups with a lot in common: with equal noise, the 14 seeds of one would take a third of the other."""
    points = np.concatenate([np.linspace(0, 1, 40), np.linspace(2, 3, 40)])
    similarity = 0.8 + 0.2 * np.exp(-2 * (points[:, None] - points) ** 2)
    known = collect_known([np.arange(0, 40, 3), np.array([79])], [np.array([], dtype=int)] * 2, similarity)
    labels = interpolate_known(known, similarity, np.eye(80)).argmax(axis=1)
    assert np.mean(labels == np.repeat([0, 1], 40)) > 0.95


def test_a_seed_against_its_looks_changes_what_is_near_it():
    """All are alike, so that only the proximity tells the middle of the chain from its ends."""
    similarity, distance = np.full((21, 21), 0.999), np.abs(np.subtract.outer(np.arange(21), np.arange(21)))
    np.fill_diagonal(similarity, 1)
    known = collect_known([np.array([0, 20]), np.array([10])], [np.array([], dtype=int)] * 2, similarity)
    labels = interpolate_known(known, similarity, 0.7**distance).argmax(axis=1)
    assert (labels[8:13] == 1).all()
    assert (labels[[0, 1, 2, 18, 19, 20]] == 0).all()


def test_a_correction_goes_as_far_as_it_is_surer_and_connected():
    before = np.array([[0.9, 0.1], [0.6, 0.4], [0.6, 0.4], [0.95, 0.05], [0.6, 0.4]])
    after = np.array([[0.2, 0.8], [0.1, 0.9], [0, 1], [0.1, 0.9], [0.1, 0.9]])
    seeded = [np.array([], dtype=int), np.array([2])]
    known = collect_known([np.array([0]), np.array([2])], [np.array([], dtype=int)] * 2, np.eye(5))
    found = correct_locally(before, after, seeded, known, make_chain(5))
    assert_array_equal(found, np.stack([after[0], after[1], after[2], before[3], before[4]]))


def test_every_seed_keeps_its_label_even_against_its_own_looks(wide):
    _, prepared = wide
    rng = np.random.default_rng(0)
    pixels = [(int(x), int(y)) for x, y in zip(rng.integers(0, 180, 40), rng.integers(0, 120, 40), strict=True)]
    pixels = list(dict.fromkeys(pixels))
    found = prepared.segment({"one": pixels[::2], "other": pixels[1::2]})
    assert seeds_kept(found)
    probabilities = found.probabilities
    assert all(probabilities[y, x, i] == 1 for i, some in enumerate(found.seeds) for x, y in some)


def test_a_correction_leaves_alone_what_is_sure_and_not_like_it(wide):
    _, prepared = wide
    before = prepared.segment(SEEDS)
    after = before.correct({"right": (130, 60)})
    assert np.mean(after.labels[52:68, 122:138] == 1) > 0.9
    assert_array_equal(after.labels[:, :60], before.labels[:, :60])
    assert after.seeds == (((20, 60),), ((150, 60), (130, 60)))
    assert seeds_kept(after.correct({"left": (100, 100)}))


def test_wrong_corrections_are_refused(wide):
    _, prepared = wide
    found = prepared.segment(SEEDS)
    with raises("unknown_segment", name="sky", known="left, right"):
        found.correct({"sky": (3, 3)})
    with raises("seed_shared"):
        found.correct({"right": (20, 60)})
    with raises("needs_graph", assign="assign"):
        prepared.segment(SEEDS, assign="nearest").correct({"right": (3, 3)})


def test_a_pixel_said_not_to_belong_to_a_segment_does_not(wide):
    _, prepared = wide
    found = prepared.segment({"left": (20, 60)}, not_seeds={"left": [(150, 60), (130, 60)]})
    assert found.names == ("left", "rest")
    assert found.labels[60, 130] == found.labels[60, 150] == 1
    assert found.labels[60, 20] == 0
    three = prepared.segment([(20, 20), (150, 20), (150, 110)], not_seeds={"segment 1": (20, 100)})
    assert three.labels[100, 20] != 0


def test_only_the_connected_piece(wide):
    _, prepared = wide
    loose = prepared.segment(SEEDS)
    tight = prepared.segment(SEEDS, connected=True)
    assert np.mean(loose.labels[52:68, 122:138] == 0) > 0.9
    assert not (tight.labels[52:68, 122:138] == 0).any()
    assert np.mean(tight.labels[:, :80] == 0) > 0.99


def test_holes_and_small_pieces(wide):
    _, prepared = wide
    patch = np.s_[52:68, 122:138]
    assert (prepared.segment(SEEDS, fill_holes=True).labels[patch] == 1).all()
    assert (prepared.segment(SEEDS, min_area=0.03).labels[patch] == 1).all()
    kept = prepared.segment({"left": [(20, 60), (130, 60)], "right": (150, 60)}, fill_holes=True, min_area=0.03)
    assert np.mean(kept.labels[patch] == 0) > 0.9  # it has a seed


def test_the_expected_overlap_is_high_if_seeds_tell_and_low_if_they_do_not(wide):
    _, prepared = wide
    clear = prepared.segment(SEEDS).expected_iou
    muddled = prepared.segment({"one": (20, 20), "other": (20, 100)}).expected_iou
    assert clear.min() > 0.8
    assert muddled.min() < clear.min() - 0.2
    assert np.isnan(prepared.segment(SEEDS, assign="nearest").expected_iou).all()


def test_the_next_click_is_suggested_where_nothing_is_known():
    labels = np.repeat([0, 1, 2], 60) * np.ones((120, 1), dtype=int)
    prepared = prepare_image(painted(labels, noise=0.03))
    x, _ = prepared.segment([(20, 60), (90, 60)]).suggest_click()
    assert x >= 115
    thinned = prepared.segment([(20, 60), (90, 60)], step=3)
    assert abs(3 * thinned.suggest_click()[0] - x) <= 4
    with raises("needs_graph", assign="assign"):
        prepared.segment([(20, 60), (90, 60)], assign="nearest").suggest_click()


def test_a_cut_out_is_opaque_inside_transparent_outside_and_soft_between():
    picture, truth = thirds(240, 360)
    found = segment(as_bytes(picture), {"left": (30, 120), "right": (330, 120), "disk": (180, 120)})
    cut = found.cut_out("disk")
    assert_array_equal(cut[..., :3], as_bytes(picture))
    assert cut[120, 180, 3] == 255
    assert cut[10, 10, 3] == 0
    assert len(np.unique(cut[..., 3])) > 2
    assert np.mean((cut[..., 3] > 127) == (truth == 2)) > 0.98


@pytest.mark.parametrize("shape", [(1, 40), (3, 3)])
def test_tiny_pictures(shape):
    picture = np.linspace(0, 1, shape[0] * shape[1]).reshape(shape)
    found = segment(picture, [(0, 0), (shape[1] - 1, shape[0] - 1)])
    assert found.labels.shape == shape
    assert seeds_kept(found)

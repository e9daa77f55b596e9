"""Superpixels, their looks and their affinity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises
from tests.unit.image.images import halves, thirds

from mixsearch.image import read_image
from mixsearch.image.superpixels import build_affinity, compute_looks, find_superpixels
from mixsearch.image.tuning import TUNING


def find(picture):
    image = read_image(picture)
    superpixels = find_superpixels(image, TUNING)
    return superpixels, compute_looks(superpixels, image.visible, TUNING)


def test_superpixels_cover_the_picture_and_follow_its_edges():
    picture, truth = thirds(240, 360)
    superpixels, _ = find(picture)
    assert superpixels.sizes.sum() == truth.size
    assert superpixels.sizes.min() > 0
    purity = [np.bincount(truth[superpixels.labels == i]).max() for i in range(len(superpixels.sizes))]
    assert sum(purity) > 0.97 * truth.size


def test_pairs_are_those_that_touch_and_lengths_count_sides_of_pixels():
    superpixels, _ = find(thirds(48, 72)[0])
    labels = superpixels.labels
    sides = [(labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])]
    crossed = [np.sort([a, b]) for one, other in sides for a, b in zip(one.flat, other.flat, strict=True) if a != b]
    pairs, counts = np.unique(crossed, axis=0, return_counts=True)
    assert_allclose(superpixels.pairs, pairs)
    assert_allclose(superpixels.lengths, counts)


def test_looks_have_their_units_from_the_picture():
    superpixels, looks = find(thirds(120, 180)[0])
    assert_allclose(np.average(looks, axis=0, weights=superpixels.sizes), 0, atol=1e-9)
    assert_allclose(np.average(looks**2, axis=0, weights=superpixels.sizes), 1)


def test_transparent_pixels_do_not_count():
    picture, _ = halves(120, 180)
    alpha = np.ones((120, 180))
    alpha[:40] = 0
    hidden = picture.copy()
    hidden[:40] = 1.0
    given = [find(np.dstack([each, alpha]))[1] for each in (picture, hidden)]
    assert_allclose(given[0], given[1], atol=1e-4)


def test_the_affinity_is_symmetric_and_weaker_across_an_edge():
    picture, truth = halves(120, 180)
    superpixels, looks = find(picture)
    affinity = build_affinity(superpixels, looks, TUNING).toarray()
    assert_allclose(affinity, affinity.T)
    sides = np.array([truth[superpixels.labels == i].mean() > 0.5 for i in range(len(superpixels.sizes))])
    one, other = superpixels.pairs.T
    across = sides[one] != sides[other]
    assert affinity[one, other][across].mean() < 0.1 * affinity[one, other][~across].mean()


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_picture_that_is_the_same_everywhere_is_refused(value):
    with raises("image_uniform"):
        find(np.full((40, 60), value))

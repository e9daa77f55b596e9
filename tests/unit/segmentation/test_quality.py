"""Planted segments are found well. Each test fails if a constant of quality is changed for the worse."""

import numpy as np
import pytest
from scipy.ndimage import binary_dilation

from mixsearch import segment


def paint(labels, colors, noise, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(np.array(colors)[labels] + rng.normal(scale=noise, size=(*labels.shape, 3)), 0, 1)


def test_position_separates_segments_of_one_color():
    labels = np.repeat([0, 1, 2], 60) * np.ones((120, 1), dtype=int)
    image = paint(labels, [[0.2, 0.3, 0.7], [0.8, 0.7, 0.3], [0.2, 0.3, 0.7]], noise=0.05)
    found = segment(image, [(20, 60), (90, 60), (160, 60)], assign="nearest")
    assert np.mean(found.labels == labels) > 0.9


def test_an_edge_is_not_taken_for_texture():
    """Around the edge of two flat segments, most pixels do not belong to the rough segment."""
    rng = np.random.default_rng(0)
    image = np.repeat([0.2, 0.8, 0.5], 80) + rng.normal(scale=0.01, size=(160, 240))
    image[:, 160:] += rng.normal(scale=0.2, size=(160, 80))
    found = segment(np.clip(image, 0, 1), [(40, 80), (120, 80), (200, 80)], assign="nearest")
    assert found.mask(2)[:, 76:84].mean() < 0.23


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SharedComponentWarning")
@pytest.mark.parametrize("seeds", [[(60, 80), (230, 200)], [(110, 220), (190, 90)]])
def test_a_speck_at_the_seed_does_not_mislead(seeds):
    labels = np.repeat([0, 1], 150) * np.ones((300, 1), dtype=int)
    colors = np.array([[0.35, 0.42, 0.6], [0.6, 0.5, 0.4]])
    image = paint(labels, colors, noise=0.03)
    for (x, y), color, other in zip(seeds, colors, colors[::-1], strict=True):
        image[y - 1 : y + 2, x - 1 : x + 2] = 1.5 * other - 0.5 * color
    assert np.mean(segment(image, seeds, assign="nearest").labels == labels) > 0.85


def test_borders_of_a_large_image_follow_its_edges():
    """The features are computed on a downscaled copy, which alone would blur the borders."""
    y, x = np.mgrid[:600, :800]
    labels = (np.sin(x / 25) * 60 + 300 < y).astype(int)
    image = paint(labels, [[0.2, 0.3, 0.5], [0.7, 0.6, 0.4]], noise=0.03)
    near = np.zeros(labels.shape, dtype=bool)
    near[1:] = labels[1:] != labels[:-1]
    near = binary_dilation(near, iterations=4)
    found = segment(image, [(400, 50), (400, 550)])
    assert np.mean(found.labels[near] == labels[near]) > 0.85

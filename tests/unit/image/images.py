"""Small pictures whose segments are known."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

COLOURS = np.array([[0.15, 0.2, 0.6], [0.8, 0.7, 0.3], [0.2, 0.6, 0.2]])


def halves(height=40, width=60, noise=0.04, seed=0):
    """Two colours side by side, (h, w, 3), and which of them each pixel has, (h, w)."""
    labels = np.zeros((height, width), dtype=int)
    labels[:, width // 2 :] = 1
    return painted(labels, noise, seed), labels


def thirds(height=48, width=72, noise=0.04, seed=0):
    """A disk in the middle of two halves."""
    y, x = np.mgrid[:height, :width]
    labels = (x >= width // 2).astype(int)
    labels[(y - height / 2) ** 2 + (x - width / 2) ** 2 < (height / 4) ** 2] = 2
    return painted(labels, noise, seed), labels


def painted(labels, noise=0.04, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(COLOURS[labels] + rng.normal(scale=noise, size=(*labels.shape, 3)), 0, 1)


def as_bytes(picture):
    return np.round(255 * picture).astype(np.uint8)


def assert_same_labels(found, expected, probabilities, atol=1e-5):
    """Labels from two ways of computing the probabilities, (h, w, k): they may differ only where two segments tie."""
    second, first = np.sort(probabilities, axis=2)[..., -2:].transpose(2, 0, 1)
    clear = first - second > atol
    assert clear.mean() > 0.99
    assert_array_equal(found[clear], expected[clear])

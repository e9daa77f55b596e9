"""Split an image into superpixels: small regions whose borders follow the edges of the image."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter, watershed_ift

from mixsearch._typing import Array
from mixsearch.segmentation._color import convert_to_lab
from mixsearch.segmentation._image import RasterImage

# About this many superpixels: few enough for dense matrices, enough to follow thin parts.
N_SUPERPIXELS = 800
# A superpixel has at least this many pixels on average.
MIN_PIXELS = 16
# Markers stay this fraction of a grid cell away from its sides, so that no two of them touch.
MARGIN = 0.25
# Edges are scaled so that their 99th percentile has this value: the watershed takes integers.
EDGE_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class Superpixels:
    """The superpixels of an image and the borders between them."""

    labels: Array  # (h, w) of int32: the superpixel of each pixel, from 0
    sizes: Array  # (n,): pixels of each superpixel
    pairs: Array  # (e, 2): superpixels that touch, the smaller index first
    lengths: Array  # (e,): pixels along the border of each pair
    edges: Array  # (e,): mean edge strength along it

    def average(self, planes: Array) -> Array:
        """Return the means of planes, (h, w, f), over each superpixel, (n, f)."""
        flat, n = self.labels.ravel(), len(self.sizes)
        sums = [np.bincount(flat, planes[..., i].ravel(), n) for i in range(planes.shape[2])]
        return np.stack(sums, axis=1) / self.sizes[:, None]


def find_superpixels(image: RasterImage) -> Superpixels:
    """Flood the edge strength of an image from the calmest pixel of each cell of a grid."""
    strength = _compute_edges(image)
    n_wanted = max(min(N_SUPERPIXELS, strength.size // MIN_PIXELS), 1)
    scale = EDGE_LEVELS / max(float(np.quantile(strength, 0.99)), float(np.finfo(np.float32).tiny))
    levels = np.clip(strength * scale, 0, np.iinfo(np.uint16).max).astype(np.uint16)
    labels = watershed_ift(levels, _place_markers(strength, n_wanted)) - 1
    return _collect(labels, strength)


def _compute_edges(image: RasterImage) -> Array:
    """Return the length of the gradient of CIELAB at each pixel, (h, w)."""
    lab = convert_to_lab(image.rows(slice(None)))
    squared = np.zeros(lab.shape[:2], dtype=np.float32)
    for i in range(3):
        smooth = gaussian_filter(lab[..., i], 1.0, mode="nearest")
        for axis in range(2):
            if smooth.shape[axis] > 1:
                squared += np.gradient(smooth, axis=axis) ** 2
    return np.sqrt(squared)


def _place_markers(strength: Array, n_wanted: int) -> Array:
    """Return a numbered marker at the calmest pixel inside each cell of a grid, and 0 elsewhere."""
    height, width = strength.shape
    side = np.sqrt(height * width / n_wanted)
    rows, columns = (np.linspace(0, n, min(max(round(n / side), 1), n) + 1).astype(int) for n in (height, width))
    markers = np.zeros(strength.shape, dtype=np.int32)
    n_markers = 0
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            down, across = int(MARGIN * (bottom - top)), int(MARGIN * (right - left))
            cell = strength[top + down : bottom - down, left + across : right - across]
            y, x = np.unravel_index(int(cell.argmin()), cell.shape)
            n_markers += 1
            markers[top + down + y, left + across + x] = n_markers
    return markers


def _collect(labels: Array, strength: Array) -> Superpixels:
    n = int(labels.max()) + 1
    (one, other), (before, after) = _pair_neighbors(labels), _pair_neighbors(strength)
    crossed = np.maximum(before, after)
    differ = one != other
    low, high = np.minimum(one, other)[differ], np.maximum(one, other)[differ]
    keys, inverse = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    lengths = np.bincount(inverse, minlength=len(keys))
    return Superpixels(
        labels,
        np.bincount(labels.ravel(), minlength=n),
        np.stack([keys // n, keys % n], axis=1),
        lengths,
        np.bincount(inverse, crossed[differ], len(keys)) / lengths,
    )


def _pair_neighbors(plane: Array) -> tuple[Array, Array]:
    """Return the values of each pixel and its right neighbor, then of each pixel and its lower neighbor."""
    before = np.concatenate([plane[:, :-1].ravel(), plane[:-1].ravel()])
    return before, np.concatenate([plane[:, 1:].ravel(), plane[1:].ravel()])

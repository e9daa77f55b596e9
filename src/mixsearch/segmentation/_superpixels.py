"""Split an image into superpixels: small regions whose borders follow the edges of the image."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from mixsearch._typing import Array
from mixsearch.segmentation._color import convert_to_lab
from mixsearch.segmentation._image import RasterImage

# About this many superpixels: few enough for dense matrices, enough to follow thin parts.
N_SUPERPIXELS = 800
# A superpixel has at least this many pixels on average.
MIN_PIXELS = 16
# Markers stay this fraction of a grid cell away from its sides, so that no two of them touch.
MARGIN = 0.25
# Added to all edges, in units of CIELAB, since a weight of 0 is no link.
MIN_EDGE = 0.01


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

    def connect(self, chosen: Array) -> Array:
        """Return a number for each superpixel, (n,), equal for those connected through chosen ones, (n,) of bool."""
        one, other = self.pairs[chosen[self.pairs].all(axis=1)].T
        n = len(self.sizes)
        links = coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
        return np.asarray(connected_components(links, directed=False)[1])


def find_superpixels(image: RasterImage) -> Superpixels:
    """Flood the edge strength of an image from the calmest pixel of each cell of a grid."""
    strength = _compute_edges(image)
    markers = _place_markers(strength, max(min(N_SUPERPIXELS, strength.size // MIN_PIXELS), 1))
    return _collect(_flood(strength, markers), strength)


def _flood(strength: Array, markers: Array) -> Array:
    """Return the marker from which the water comes that first reaches each pixel, (h, w) of int32.

    Notes
    -----
    The watershed is the minimum spanning forest rooted in the markers (Cousty et al., 2009): the minimum spanning tree
    of all pixels and a root that is linked to every marker by the lightest edges, without the root.
    """
    n, roots = strength.size, np.flatnonzero(markers)
    one, other = _pair_neighbors(np.arange(n, dtype=np.int32).reshape(strength.shape))
    weights = np.maximum(*_pair_neighbors(strength)) + np.float32(MIN_EDGE)
    links = coo_array(
        (
            np.append(weights, np.full(len(roots), MIN_EDGE / 2, dtype=weights.dtype)),
            (np.append(one, roots), np.append(other, np.full(len(roots), n))),
        ),
        shape=(n + 1, n + 1),
    )
    tree = minimum_spanning_tree(links.tocsr()).tocoo()
    kept = (tree.row < n) & (tree.col < n)
    forest = coo_array((tree.data[kept], (tree.row[kept], tree.col[kept])), shape=(n, n))
    return np.asarray(connected_components(forest, directed=False)[1].reshape(strength.shape))


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
    """Mark the calmest pixel inside each cell of a grid, (h, w) of bool."""
    height, width = strength.shape
    side = np.sqrt(height * width / n_wanted)
    rows, columns = (np.linspace(0, n, min(max(round(n / side), 1), n) + 1).astype(int) for n in (height, width))
    markers = np.zeros(strength.shape, dtype=bool)
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            down, across = int(MARGIN * (bottom - top)), int(MARGIN * (right - left))
            cell = strength[top + down : bottom - down, left + across : right - across]
            y, x = np.unravel_index(int(cell.argmin()), cell.shape)
            markers[top + down + y, left + across + x] = True
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

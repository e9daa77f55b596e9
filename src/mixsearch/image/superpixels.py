"""Superpixels: small regions whose borders follow the edges of the image, their looks, and their affinity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter, gaussian_gradient_magnitude, minimum_filter
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.image.reading import RasterImage, make_missing_error
from mixsearch.image.tuning import Tuning

# A superpixel has at least this many pixels on average.
MIN_PIXELS = 16
# In units of CIELAB, of which one is visible: smaller deviations are rounding errors, as in the hue of gray.
MIN_DEVIATION = 0.01
# Every border lets this fraction of the walk through, so that no part of a flat image is out of reach.
MIN_PASSED = 1e-3
# Links of this weight are there, but carry nothing.
TINY = 1e-6


@dataclass(frozen=True, eq=False)
class Superpixels:
    """The superpixels of an image and the borders between them."""

    lab: Array  # (h, w, 3): CIELAB
    labels: Array  # (h, w) of int32: the superpixel of each pixel, from 0
    sizes: Array  # (n,): pixels of each superpixel
    pairs: Array  # (e, 2): superpixels that touch
    lengths: Array  # (e,): pixels along the border of each pair

    def average(self, plane: Array) -> Array:
        """Return the mean of a plane, (h, w), over each superpixel, (n,)."""
        return np.bincount(self.labels.ravel(), plane.ravel(), len(self.sizes)) / self.sizes


def find_superpixels(image: RasterImage, tuning: Tuning) -> Superpixels:
    """Flood the edge strength of an image from the calmest pixel of each cell of a grid."""
    try:
        from skimage.color import rgb2lab
        from skimage.segmentation import watershed
    except ModuleNotFoundError as error:
        raise make_missing_error("The graph of an image needs scikit-image.") from error
    lab = rgb2lab(image.to_rgb())
    strength = np.sqrt(sum(gaussian_gradient_magnitude(lab[..., i], 1.0, mode="nearest") ** 2 for i in range(3)))
    labels = watershed(strength, _place_markers(strength, tuning.n_superpixels)).astype(np.int32) - 1
    one = np.concatenate([labels[:, :-1].ravel(), labels[:-1].ravel()])
    other = np.concatenate([labels[:, 1:].ravel(), labels[1:].ravel()])
    differ, n = one != other, int(labels.max()) + 1
    keys = np.minimum(one, other)[differ].astype(np.int64) * n + np.maximum(one, other)[differ]
    pairs, lengths = np.unique(keys, return_counts=True)
    return Superpixels(lab, labels, np.bincount(labels.ravel()), np.stack([pairs // n, pairs % n], axis=1), lengths)


def _place_markers(strength: Array, n_wanted: int) -> Array:
    """Number the calmest pixel in the middle half of each cell of a grid, from 1, (h, w)."""
    height, width = strength.shape
    side = np.sqrt(height * width / max(min(n_wanted, strength.size // MIN_PIXELS), 1))
    rows, columns = (np.linspace(0, n, min(max(round(n / side), 1), n) + 1).astype(int) for n in (height, width))
    markers = np.zeros(strength.shape, dtype=np.int32)
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            down, across = (bottom - top) // 4, (right - left) // 4
            cell = strength[top + down : bottom - down, left + across : right - across]
            y, x = np.unravel_index(int(cell.argmin()), cell.shape)
            markers[top + down + y, left + across + x] = markers.max() + 1
    return markers


def compute_looks(superpixels: Superpixels, visible: Array | None, tuning: Tuning) -> Array:
    """Compute the color of superpixels and of their neighborhood, and its texture, each of deviation 1, (n, f)."""
    lab = superpixels.lab
    width = tuning.scale * float(np.sqrt(lab.shape[0] * lab.shape[1]))
    planes = [lab[..., i] for i in range(3)]
    planes += [_blur(plane, width) for plane in planes]
    planes += [_compute_texture(plane, width) for plane in planes[:3]]
    weights = superpixels.sizes if visible is None else superpixels.average(visible) * superpixels.sizes
    means = np.stack([superpixels.average(plane) for plane in planes], axis=1)
    means -= np.average(means, axis=0, weights=weights)
    deviations = np.sqrt(np.average(means**2, axis=0, weights=weights))
    if max(np.ptp(plane if visible is None else plane[visible]) for plane in planes[:3]) < MIN_DEVIATION:
        raise SearchError(
            "The image is the same everywhere: there is nothing to separate segments by.", code="image_uniform"
        )
    return np.asarray(means[:, deviations > MIN_DEVIATION] / deviations[deviations > MIN_DEVIATION])


def _blur(plane: Array, width: float) -> Array:
    return np.asarray(gaussian_filter(plane, width, mode="nearest", truncate=3.0))


def _compute_texture(plane: Array, width: float) -> Array:
    """Return the log of the local standard deviation of a color, in units of CIELAB, of which one is visible.

    An edge varies as well but isn't texture, so a pixel takes the calmest of the neighborhoods around it.
    """
    fine = plane - _blur(plane, width / 2)
    calmest = minimum_filter(np.sqrt(_blur(fine**2, width)), 2 * round(0.8 * width) + 1, mode="nearest")
    return np.asarray(np.log(calmest + 1))


def build_affinity(superpixels: Superpixels, looks: Array, tuning: Tuning) -> sp.csr_array:
    """Link superpixels that touch, the more alike the more, and those that look alike, (n, n), symmetric."""
    n = len(superpixels.sizes)
    one, other = superpixels.pairs.T
    contrast = np.linalg.norm(looks[one] - looks[other], axis=1)
    common = float(np.quantile(contrast, 0.9)) if len(contrast) else 1.0
    resistance = contrast / max(tuning.contrast * common, TINY)
    touching = _link(superpixels.lengths * np.maximum(np.exp(-resistance), MIN_PASSED), one, other, n)
    height = tuning.height * _standardize(superpixels.average(np.indices(superpixels.labels.shape)[0]), superpixels)
    similar = _link_similar(np.column_stack([looks, height, _compute_depth(superpixels, resistance)]), tuning.n_similar)
    # Both have degrees of 1 on average.
    touching, similar = (each * (n / max(float(each.sum()), TINY)) for each in (touching, similar))
    return sp.csr_array(touching + similar)


def _compute_depth(superpixels: Superpixels, resistance: Array) -> Array:
    """Compute how much contrast lies between each superpixel and the border of the image, (n,), of deviation 1.

    Objects in front of a background are deep inside, and the background on both sides of them is not.
    """
    labels, n = superpixels.labels, len(superpixels.sizes)
    outermost = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    one, other = superpixels.pairs.T
    weights = np.append(resistance, np.zeros(len(outermost))) + TINY  # a weight of 0 is not a link
    links = _link(weights, np.append(one, outermost), np.append(other, np.full(len(outermost), n)), n + 1)
    return _standardize(dijkstra(links, indices=[n])[0, :n], superpixels)


def _link(weights: Array, one: Array, other: Array, n: int) -> sp.csr_array:
    ends = np.concatenate([one, other]).astype(np.int32), np.concatenate([other, one]).astype(np.int32)
    return sp.csr_array((np.concatenate([weights, weights]), ends), shape=(n, n))


def _link_similar(features: Array, n_similar: int) -> sp.csr_array:
    """Link each superpixel to those with the nearest features, at the scale of the last of them."""
    n = len(features)
    n_similar = min(n_similar, n - 1)
    distances, indices = (np.reshape(each, (n, -1)) for each in KDTree(features).query(features, n_similar + 1))
    scales = np.maximum(distances[:, -1], np.finfo(float).eps)
    rows, columns = np.repeat(np.arange(n, dtype=np.int32), n_similar), indices[:, 1:].ravel().astype(np.int32)
    weights = np.exp(-(distances[:, 1:].ravel() ** 2) / (scales[rows] * scales[columns]))
    links = sp.csr_array((weights, (rows, columns)), shape=(n, n))
    return sp.csr_array(links.maximum(links.T))


def _standardize(values: Array, superpixels: Superpixels) -> Array:
    centered = values - np.average(values, weights=superpixels.sizes)
    return np.asarray(centered / max(float(np.sqrt(np.average(centered**2, weights=superpixels.sizes))), TINY))

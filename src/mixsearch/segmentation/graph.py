"""The graph of superpixels: small regions whose borders follow the edges of the image, and how alike they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.ndimage import gaussian_filter
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra, minimum_spanning_tree
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.segmentation.image import RasterImage, convert_to_lab

if TYPE_CHECKING:
    from mixsearch.segmentation.features import FeatureImage

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
        return np.asarray(connected_components(_link(np.ones(len(one)), one, other, n), directed=False)[1])


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
    links = _link(
        np.append(weights, np.full(len(roots), MIN_EDGE / 2, dtype=weights.dtype)),
        np.append(one, roots),
        np.append(other, np.full(len(roots), n)),
        n + 1,
    )
    tree = minimum_spanning_tree(links).tocoo()
    kept = (tree.row < n) & (tree.col < n)
    forest = _link(tree.data[kept], tree.row[kept], tree.col[kept], n)
    return np.asarray(connected_components(forest, directed=False)[1].reshape(strength.shape))


def _link(weights: Array, one: Array, other: Array, n: int) -> csr_array[Any]:
    """Return a graph of n nodes; `scipy.sparse.csgraph` before SciPy 1.17.1 takes 32-bit indices only."""
    ends = (one.astype(np.int32), other.astype(np.int32))
    return coo_array((weights, ends), shape=(n, n)).tocsr()


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


# The walk over the whole image goes on with this probability at each step, and the one between neighbors with that.
CONTINUE, CONTINUE_NEAR = 0.9999, 0.995
# A border lets the walk through by exp(-edge / EDGE_SCALE - contrast / CONTRAST_SCALE), both in units of the 90th
# percentile over all borders of the image.
EDGE_SCALE, CONTRAST_SCALE = 0.7, 0.2
# Each superpixel also leads to those most similar to it, wherever they are, at the scale of its tenth neighbor.
N_SIMILAR, SCALE_NEIGHBOR = 12, 10
# The weight of the horizontal position among these: scenes are layered from top to bottom, not from side to side.
HORIZONTAL = 0.25
# Every pair is connected a little, so that the graph is in one piece.
MIN_LINK = 1e-6


@dataclass(frozen=True, eq=False)
class SimilarityGraph:
    """Superpixels of an image and their similarity.

    Attributes
    ----------
    superpixels : Superpixels
    means : array of shape (n, f)
        The mean features of each superpixel.
    similarity : array of shape (n, n)
        A kernel with ones on the diagonal: what belongs together, wherever it is.
    proximity : array of shape (n, n)
        Another one: what is near, with no edge between.
    """

    superpixels: Superpixels
    means: Array
    similarity: Array
    proximity: Array


def build_graph(features: FeatureImage) -> SimilarityGraph:
    """Return how alike and how near all superpixels of an image are."""
    superpixels = find_superpixels(features.image)
    means = superpixels.average(features.pixels.rows(slice(None)))
    looks, positions = np.split(means, [means.shape[1] - features.n_positions], axis=1)
    resistances = _compute_resistances(superpixels, looks)
    depth = _compute_depths(superpixels, resistances)[:, None]
    compared = np.hstack([looks, positions * [HORIZONTAL, 1][: features.n_positions], depth])
    neighbors, similar = _scale(_link_neighbors(superpixels, resistances)), _scale(_link_similar(compared))
    return SimilarityGraph(
        superpixels, means, _count_visits(neighbors + similar, CONTINUE), _count_visits(neighbors, CONTINUE_NEAR)
    )


def _count_visits(links: Array, continues: float) -> Array:
    """Return the visits of a random walk, (n, n), scaled to a diagonal of ones.

    Notes
    -----
    (I - αS)⁻¹ = Σₜ αᵗSᵗ counts the visits of a walk with normalized transitions S = D^(-1/2) C D^(-1/2), for links C.
    It is positive definite.
    """
    degrees = np.sqrt(links.sum(axis=1))
    walk = np.eye(len(links)) - continues * links / np.outer(degrees, degrees)
    visits = cho_solve(cho_factor(walk, overwrite_a=True), np.eye(len(links)))
    norms = np.sqrt(np.diag(visits))
    return np.asarray(visits / np.outer(norms, norms))


def _scale(links: Array) -> Array:
    return np.asarray(links / max(float(links.sum(axis=1).mean()), np.finfo(float).tiny))


def _compute_resistances(superpixels: Superpixels, looks: Array) -> Array:
    """Return how much of the walk each border stops, (e,): by its edge strength and the contrast of its sides."""
    if not len(superpixels.pairs):
        return np.zeros(0)
    one, other = superpixels.pairs.T
    contrast = np.linalg.norm(looks[one] - looks[other], axis=1)
    return np.asarray(_relative(superpixels.edges) / EDGE_SCALE + _relative(contrast) / CONTRAST_SCALE)


def _compute_depths(superpixels: Superpixels, resistances: Array) -> Array:
    """Return how many edges lie between each superpixel and the border of the image, (n,) of mean 0 and deviation 1.

    Things in front of a background are deep inside, and the background on both sides of them is not.
    """
    labels, n = superpixels.labels, len(superpixels.sizes)
    outermost = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    one, other = superpixels.pairs.T
    weights = np.append(resistances, np.zeros(len(outermost))) + MIN_LINK  # a weight of 0 is no link
    links = _link(weights, np.append(one, outermost), np.append(other, np.full(len(outermost), n)), n + 1)
    depths = dijkstra(links, directed=False, indices=[n])[0, :n]
    centered = depths - np.average(depths, weights=superpixels.sizes)
    deviation = np.sqrt(np.average(centered**2, weights=superpixels.sizes))
    return np.asarray(centered / max(float(deviation), MIN_LINK))


def _link_neighbors(superpixels: Superpixels, resistances: Array) -> Array:
    """Link superpixels that touch, the more the longer and weaker their border is."""
    n = len(superpixels.sizes)
    links = np.full((n, n), MIN_LINK)
    if not len(superpixels.pairs):
        return links
    one, other = superpixels.pairs.T
    links[one, other] += np.exp(-resistances) * superpixels.lengths / np.median(superpixels.lengths)
    links[other, one] = links[one, other]
    return links


def _relative(values: Array) -> Array:
    return np.asarray(values / max(float(np.quantile(values, 0.9)), np.finfo(float).tiny))


def _link_similar(means: Array) -> Array:
    """Link each superpixel to the few with the most similar features."""
    n = len(means)
    distances = cdist(means, means)
    nearest = np.sort(distances, axis=1)
    scales = np.maximum(nearest[:, min(SCALE_NEIGHBOR, n - 1)], np.finfo(float).eps)
    close = distances <= nearest[:, [min(N_SIMILAR, n - 1)]]
    links = np.where(close | close.T, np.exp(-(distances**2) / np.outer(scales, scales)), 0)
    np.fill_diagonal(links, 0)
    return links


# The smallest expected intersection over union, a code and words; in falling order.
_VERDICTS = (
    (0.85, "sure", "sure"),
    (0.65, "partial", "partly in doubt"),
    (-math.inf, "unsure", "in doubt: add a seed"),
)


def judge_overlap(expected_iou: float) -> tuple[str, str]:
    """Return what an expected intersection over union means: a code and words."""
    return next((code, words) for least, code, words in _VERDICTS if expected_iou >= least)


@dataclass(frozen=True, eq=False)
class Confidence:
    """The confidence in a segmentation, from the probabilities of its superpixels."""

    graph: SimilarityGraph
    probabilities: Array  # (n, k)

    @property
    def expected_iou(self) -> Array:
        """The expected overlap of each segment with the true one, (k,).

        Notes
        -----
        Expected intersection over expected union, if every superpixel belongs to a segment by its probability.
        """
        labels, masses = self.probabilities.argmax(axis=1), self.probabilities * self.graph.superpixels.sizes[:, None]
        own = labels[:, None] == np.arange(masses.shape[1])
        unions = own.T @ self.graph.superpixels.sizes + np.sum(masses * ~own, axis=0)
        return np.asarray(np.sum(masses * own, axis=0) / np.maximum(unions, np.finfo(float).tiny))

    def suggest(self) -> int:
        """Return the superpixel like the most pixels in doubt."""
        doubt = (1 - self.probabilities.max(axis=1)) * self.graph.superpixels.sizes
        return int((self.graph.similarity @ doubt * (1 - self.probabilities.max(axis=1))).argmax())

    def find_middle(self, superpixel: int) -> tuple[int, int]:
        """Return the pixel (x, y) of a superpixel closest to its mean position."""
        y, x = np.nonzero(self.graph.superpixels.labels == superpixel)
        nearest = int(((y - y.mean()) ** 2 + (x - x.mean()) ** 2).argmin())
        return int(x[nearest]), int(y[nearest])

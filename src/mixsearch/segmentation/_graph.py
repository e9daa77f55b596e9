"""Compute how alike superpixels are: a random walk between neighbors in the image and among similar ones.

Nothing here depends on seeds, so it is computed once for each image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.segmentation._superpixels import Superpixels, find_superpixels

if TYPE_CHECKING:
    from mixsearch.segmentation._features import FeatureImage

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
    ends = (np.append(one, outermost), np.append(other, np.full(len(outermost), n)))
    depths = dijkstra(coo_array((weights, ends), shape=(n + 1, n + 1)).tocsr(), directed=False, indices=[n])[0, :n]
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

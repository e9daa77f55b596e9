"""Compute how alike superpixels are: a random walk between neighbors in the image and among similar ones.

Nothing here depends on seeds, so it is computed once for each image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.segmentation._superpixels import Superpixels, find_superpixels

if TYPE_CHECKING:
    from mixsearch.segmentation._features import FeatureImage

# The walk goes on with this probability at each step. Shorter walks stay near the seeds.
CONTINUE = 0.999
# A border lets the walk through by exp(-edge / EDGE_SCALE - contrast / CONTRAST_SCALE), both in units of the 90th
# percentile over all borders of the image.
EDGE_SCALE, CONTRAST_SCALE = 0.7, 0.2
# Each superpixel also leads to those most similar to it, wherever they are, at the scale of its tenth neighbor.
N_SIMILAR, SCALE_NEIGHBOR = 7, 10
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
        A kernel with ones on the diagonal.
    """

    superpixels: Superpixels
    means: Array
    similarity: Array


def build_graph(features: FeatureImage) -> SimilarityGraph:
    """Return the similarity of all superpixels of an image.

    Notes
    -----
    (I - αS)⁻¹ = Σₜ αᵗSᵗ counts the visits of a random walk with normalized transitions S = D^(-1/2) C D^(-1/2), where
    C has the links within the image and among similar superpixels. It is positive definite, and scaled to a diagonal
    of ones.
    """
    superpixels = find_superpixels(features.image)
    means = superpixels.average(features.pixels.rows(slice(None)))
    links = _scale(_link_neighbors(superpixels, means[:, : means.shape[1] - features.n_positions])) + _scale(
        _link_similar(means)
    )
    degrees = np.sqrt(links.sum(axis=1))
    walk = np.eye(len(links)) - CONTINUE * links / np.outer(degrees, degrees)
    visits = cho_solve(cho_factor(walk, overwrite_a=True), np.eye(len(links)))
    norms = np.sqrt(np.diag(visits))
    return SimilarityGraph(superpixels, means, visits / np.outer(norms, norms))


def _scale(links: Array) -> Array:
    return np.asarray(links / max(float(links.sum(axis=1).mean()), np.finfo(float).tiny))


def _link_neighbors(superpixels: Superpixels, means: Array) -> Array:
    """Link superpixels that touch, the more the longer and weaker their border is. Means are without positions."""
    links = np.full((len(means), len(means)), MIN_LINK)
    if not len(superpixels.pairs):
        return links
    one, other = superpixels.pairs.T
    contrast = np.linalg.norm(means[one] - means[other], axis=1)
    resistance = _relative(superpixels.edges) / EDGE_SCALE + _relative(contrast) / CONTRAST_SCALE
    links[one, other] += np.exp(-resistance) * superpixels.lengths / np.median(superpixels.lengths)
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

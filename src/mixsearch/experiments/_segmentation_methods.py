"""Segmentation methods: searches, k-means from the seeds, the nearest seed, the random walker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec

import numpy as np

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.baselines import seeded_kmeans
from mixsearch.errors import SearchError
from mixsearch.segmentation import Pixel, RasterImage, SegmentGaussians, argmax_segments, compute_rich_features, segment

# The parameter of the random walker: scikit-image's default, better here than 1000.
BETA = 130


class Scene:
    """An image with its colors and rich features, which the methods share."""

    def __init__(self, image: RasterImage) -> None:
        self.image = image
        self.rgb = image.rows(slice(None))

    @cached_property
    def rich(self) -> Array:
        """The rich features, (h, w, f)."""
        return compute_rich_features(self.image)


Seeds = Sequence[Pixel]
Method = Callable[[Scene, Seeds], Array]


def _take(features: Array, seeds: Seeds) -> Array:
    return np.array([features[y, x] for x, y in seeds])


def _kmeans(features: Array, seeds: Seeds) -> Array:
    height, width, n_features = features.shape
    found = seeded_kmeans(features.reshape(-1, n_features), _mark_seeds(seeds, (height, width)).ravel())
    return found.labels.reshape(height, width)


def _mark_seeds(seeds: Seeds, shape: tuple[int, int]) -> Array:
    """Return the index of its segment at each seed, and -1 elsewhere, (h, w)."""
    marked = np.full(shape, -1)
    for index, (x, y) in enumerate(seeds):
        marked[y, x] = index
    return marked


def _assign_nearest(features: Array, centers: Array) -> Array:
    gaussians = SegmentGaussians(centers, np.ones(len(centers)), np.ones(len(centers)))
    scores = gaussians.log_densities(features.reshape(-1, features.shape[2]))
    return argmax_segments(scores).reshape(features.shape[:2])


def _search_as_printed(scene: Scene, seeds: Seeds) -> Array:
    """Use the color of the pixel as the hint, as printed in the paper. Two seeds may find the same component."""
    try:
        search = GaussianSearch(len(seeds), preset="paper").fit(scene.rgb.reshape(-1, 3))
        found = search.search_many(_take(scene.rgb, seeds))
    except SearchError:  # too few directions, or a component without weight: one segment
        return np.zeros(scene.rgb.shape[:2], dtype=np.int16)
    return _assign_nearest(scene.rgb, np.array([each.center for each in found]))


def _walk(scene: Scene, seeds: Seeds) -> Array:
    from skimage.segmentation import random_walker

    marked = _mark_seeds(seeds, scene.rgb.shape[:2]) + 1  # where 0 stands for no seed
    return np.asarray(random_walker(scene.rgb, marked, beta=BETA, channel_axis=-1))


METHODS: Mapping[str, Method] = {
    "whitening, RGB": lambda scene, seeds: segment(scene.rgb, seeds, features="rgb", n_jobs=1).labels,
    "whitening, RGB as printed": _search_as_printed,
    "k-means, RGB": lambda scene, seeds: _kmeans(scene.rgb, seeds),
    "nearest seed, RGB": lambda scene, seeds: _assign_nearest(scene.rgb, _take(scene.rgb, seeds)),
    "whitening, rich": lambda scene, seeds: segment(scene.rgb, seeds, features=scene.rich, n_jobs=1).labels,
    "whitening, rich and smoothed": lambda scene, seeds: segment(scene.rgb, seeds, assign="nearest", n_jobs=1).labels,
    "k-means, rich": lambda scene, seeds: _kmeans(scene.rich, seeds),
    "nearest seed, rich": lambda scene, seeds: _assign_nearest(scene.rich, _take(scene.rich, seeds)),
    "random walker": _walk,
}


# The random walker takes a hundred times longer than the others, so it has cases of its own.
GROUPS = {
    "clusters": tuple(method for method in METHODS if method != "random walker"),
    "walker": ("random walker",),
}


def has_random_walker() -> bool:
    """Return whether scikit-image is installed."""
    return find_spec("skimage") is not None

"""Ways to segments from a pixel of each: searches, k-means started there, the nearest seed, the random walker."""

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

# Of the random walker: what scikit-image takes by default, better here than 1000.
BETA = 130


class Scene:
    """A picture with what all methods share: its colours and its rich features."""

    def __init__(self, picture: RasterImage) -> None:
        self.picture = picture
        self.rgb = picture.rows(slice(None))

    @cached_property
    def rich(self) -> Array:
        """Features, (h, w, f)."""
        return compute_rich_features(self.picture)


Seeds = Sequence[Pixel]
Method = Callable[[Scene, Seeds], Array]


def _at(features: Array, seeds: Seeds) -> Array:
    return np.array([features[y, x] for x, y in seeds])


def _kmeans(features: Array, seeds: Seeds) -> Array:
    height, width, n_features = features.shape
    found = seeded_kmeans(features.reshape(-1, n_features), _marked(seeds, (height, width)).ravel())
    return found.labels.reshape(height, width)


def _marked(seeds: Seeds, shape: tuple[int, int]) -> Array:
    """The number of its segment at each seed, and -1 elsewhere, (h, w)."""
    marked = np.full(shape, -1)
    for number, (x, y) in enumerate(seeds):
        marked[y, x] = number
    return marked


def _nearest(features: Array, centers: Array) -> Array:
    alike = SegmentGaussians(centers, np.ones(len(centers)), np.ones(len(centers)))
    scores = alike.log_densities(features.reshape(-1, features.shape[2]))
    return argmax_segments(scores).reshape(features.shape[:2])


def _as_printed(scene: Scene, seeds: Seeds) -> Array:
    """The pixel itself is the hint, seen from black; nothing keeps two seeds from finding the same component."""
    try:
        search = GaussianSearch(len(seeds), noise="paper").fit(scene.rgb.reshape(-1, 3))
        found = search.search_many(_at(scene.rgb, seeds))
    except SearchError:  # too few directions, or a component without weight: nothing is cut
        return np.zeros(scene.rgb.shape[:2], dtype=np.int16)
    return _nearest(scene.rgb, np.array([each.center for each in found]))


def _random_walker(scene: Scene, seeds: Seeds) -> Array:
    from skimage.segmentation import random_walker

    marked = _marked(seeds, scene.rgb.shape[:2]) + 1  # there, 0 stands for none
    return np.asarray(random_walker(scene.rgb, marked, beta=BETA, channel_axis=-1))


METHODS: Mapping[str, Method] = {
    "whitening, RGB": lambda scene, seeds: segment(scene.rgb, seeds, features="rgb", n_jobs=1).labels,
    "whitening, RGB as printed": _as_printed,
    "k-means, RGB": lambda scene, seeds: _kmeans(scene.rgb, seeds),
    "nearest seed, RGB": lambda scene, seeds: _nearest(scene.rgb, _at(scene.rgb, seeds)),
    "whitening, rich": lambda scene, seeds: segment(scene.rgb, seeds, features=scene.rich, n_jobs=1).labels,
    "whitening, rich and smoothed": lambda scene, seeds: segment(scene.rgb, seeds, n_jobs=1).labels,
    "k-means, rich": lambda scene, seeds: _kmeans(scene.rich, seeds),
    "nearest seed, rich": lambda scene, seeds: _nearest(scene.rich, _at(scene.rich, seeds)),
    "random walker": _random_walker,
}


# The random walker takes a hundred times as long as the others, so that it runs apart from them.
GROUPS = {
    "clusters": tuple(method for method in METHODS if method != "random walker"),
    "walker": ("random walker",),
}


def has_walker() -> bool:
    """Whether scikit-image is installed, whose random walker it is."""
    return find_spec("skimage") is not None

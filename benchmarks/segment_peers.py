"""Ways to segment an image from a few pixels of each segment, for comparison.

GrabCut and the random walker take seconds for a photograph: they see every other pixel of every other row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from scipy.spatial.distance import cdist
from skimage.color import rgb2lab
from skimage.filters import sobel
from skimage.segmentation import random_walker, slic, watershed
from sklearn.preprocessing import scale
from sklearn.semi_supervised import LabelSpreading

from mixsearch._typing import Array
from mixsearch.image import prepare_image
from mixsearch.image.reading import RasterImage
from mixsearch.image.seeds import Pixel

N_SUPERPIXELS = 500
# scikit-image's default, better here than 1000.
BETA = 130
GRABCUT_ITERATIONS = 3
SPREAD, N_NEIGHBORS = 0.99, 10

Seeds = list[list[Pixel]]


class Scene:
    """An image, and what the methods compute of it before they see seeds."""

    def __init__(self, image: RasterImage) -> None:
        self.rgb = image.to_uint8()
        self.prepared = prepare_image(image)

    @cached_property
    def colors(self) -> Array:
        """CIELAB, (h, w, 3)."""
        return np.asarray(rgb2lab(self.rgb))

    @cached_property
    def edges(self) -> Array:
        """The strongest edge of the three channels, (h, w)."""
        return np.max([sobel(self.rgb[..., i]) for i in range(3)], axis=0)

    @cached_property
    def superpixels(self) -> Array:
        """The superpixels of SLIC, (h, w)."""
        return np.asarray(slic(self.rgb, N_SUPERPIXELS, start_label=0))

    @cached_property
    def means(self) -> Array:
        """The color and the position of each superpixel of SLIC, each of deviation 1, (n, 5)."""
        planes = [*np.moveaxis(self.colors, -1, 0), *np.indices(self.superpixels.shape)]
        flat, n = self.superpixels.ravel(), self.superpixels.max() + 1
        sums = [np.bincount(flat, plane.ravel(), n) for plane in planes]
        return np.asarray(scale(np.stack(sums, axis=1) / np.bincount(flat, minlength=n)[:, None]))


def _mark(scene: Scene, seeds: Seeds) -> Array:
    """Return the segment of each seed, from 1, and 0 elsewhere."""
    marked = np.zeros(scene.rgb.shape[:2], dtype=np.int32)
    for i, pixels in enumerate(seeds, 1):
        for x, y in pixels:
            marked[y, x] = i
    return marked


def _nearest(X: Array, known: Array, segments: Array) -> Array:
    return np.asarray(segments[cdist(X, known).argmin(axis=1)])


def _flatten(seeds: Seeds) -> tuple[Array, Array, Array]:
    """Return x, y and the segment of each seed."""
    x, y = np.array([pixel for pixels in seeds for pixel in pixels]).T
    return x, y, np.repeat(np.arange(len(seeds)), [len(pixels) for pixels in seeds])


def nearest_seed(scene: Scene, seeds: Seeds) -> Array:
    x, y, segments = _flatten(seeds)
    return _nearest(scene.colors.reshape(-1, 3), scene.colors[y, x], segments).reshape(scene.rgb.shape[:2])


def slic_nearest(scene: Scene, seeds: Seeds) -> Array:
    x, y, segments = _flatten(seeds)
    return _nearest(scene.means, scene.means[scene.superpixels[y, x]], segments)[scene.superpixels]


def label_spreading(scene: Scene, seeds: Seeds) -> Array:
    x, y, segments = _flatten(seeds)
    known = np.full(len(scene.means), -1)
    known[scene.superpixels[y, x]] = segments
    model = LabelSpreading(kernel="knn", n_neighbors=N_NEIGHBORS, alpha=SPREAD, max_iter=1000)
    return np.asarray(model.fit(scene.means, known).transduction_)[scene.superpixels]


def grab_cut(scene: Scene, seeds: Seeds) -> Array:
    """Cut each segment from the rest; pixels of none or several go to the nearest seed."""
    import cv2

    cv2.setNumThreads(1)
    bgr, marked, nearest = _halve(scene.rgb[..., ::-1]), _mark_half(scene, seeds), nearest_seed(scene, seeds)
    guessed, found = _halve(nearest), []
    for i in range(1, len(seeds) + 1):
        # Without any probable pixels of both kinds GrabCut has nothing to fit: the nearest seed tells the first guess.
        mask = np.where(guessed == i - 1, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
        mask[marked > 0], mask[marked == i] = cv2.GC_BGD, cv2.GC_FGD
        models = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(bgr, mask, None, *models, GRABCUT_ITERATIONS, cv2.GC_INIT_WITH_MASK)
        found.append(_double(np.isin(mask, [cv2.GC_FGD, cv2.GC_PR_FGD]), scene))
        if len(seeds) == 2:
            return np.where(found[0], 0, 1)
    return np.where(np.sum(found, axis=0) == 1, np.argmax(found, axis=0), nearest)


def walk(scene: Scene, seeds: Seeds) -> Array:
    found = random_walker(_halve(scene.rgb), _mark_half(scene, seeds), BETA, "cg_j", channel_axis=-1)
    return _double(found - 1, scene)


def _halve(plane: Array) -> Array:
    return np.ascontiguousarray(plane[::2, ::2])


def _mark_half(scene: Scene, seeds: Seeds) -> Array:
    marked = np.zeros(scene.rgb[::2, ::2].shape[:2], dtype=np.int32)
    for x, y, segment in zip(*_flatten(seeds), strict=True):
        marked[y // 2, x // 2] = segment + 1
    return marked


def _double(plane: Array, scene: Scene) -> Array:
    height, width = scene.rgb.shape[:2]
    return np.asarray(plane.repeat(2, axis=0).repeat(2, axis=1)[:height, :width])


METHODS: Mapping[str, Callable[[Scene, Seeds], Array]] = {
    "segment": lambda scene, seeds: scene.prepared.segment(seeds).labels,
    "segment, paper": lambda scene, seeds: scene.prepared.segment(seeds, method="paper").labels,
    "nearest seed": nearest_seed,
    "GrabCut": grab_cut,
    "watershed": lambda scene, seeds: watershed(scene.edges, _mark(scene, seeds)) - 1,
    "SLIC and nearest seed": slic_nearest,
    "random walker": walk,
    "label spreading": label_spreading,
}
OURS = "segment"


def available() -> list[str]:
    """Return the methods whose packages are installed."""
    return [name for name in METHODS if name != "GrabCut" or find_spec("cv2")]

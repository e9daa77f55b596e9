"""Compute the features of pixels: plain colors, or color, texture and position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter, minimum_filter

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.segmentation.graph import SimilarityGraph, build_graph
from mixsearch.segmentation.image import RasterImage, convert_to_lab

Features = Literal["rich", "rgb"] | Callable[[Array], ArrayLike] | ArrayLike

# Features of neighborhoods are computed on at most this many pixels: larger images are downscaled for them.
MAX_FEATURE_PIXELS = 160_000
# Widths of neighborhoods, as fractions of the side of a square with the image's area.
COLOR_SCALES, TEXTURE_SCALE = (0.005, 0.02), 0.02
# The standard deviation of the position, relative to that of color and texture.
POSITION_SPREAD = 0.75
# How far from a pixel the center of the neighborhood that sets its texture may lie, in widths of neighborhoods.
CALM_RADIUS = 0.8
# In units of CIELAB, of which about one is visible: smaller variations are noise, not texture.
MIN_TEXTURE = 1.0
# Standard deviations below this are rounding errors.
MIN_DEVIATION = 1e-4


class PixelFeatures(Protocol):
    """The features of every pixel, computed as needed."""

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width."""

    def at(self, pixels: Array) -> Array:
        """Return the features of pixels by their flat indices, (n, f)."""

    def rows(self, rows: slice) -> Array:
        """Return the features of some rows, (r, w, f)."""


@dataclass(frozen=True, eq=False)
class ColorFeatures:
    """Red, green and blue of each pixel, as in the paper."""

    image: RasterImage

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width."""
        return self.image.height, self.image.width

    def at(self, pixels: Array) -> Array:
        """Return the features of pixels by their flat indices, (n, 3)."""
        chunk = self.image.pixels.reshape(-1, self.image.pixels.shape[2])[pixels].astype(np.float32)
        return np.ascontiguousarray(np.broadcast_to(chunk / np.float32(self.image.white), (len(chunk), 3)))

    def rows(self, rows: slice) -> Array:
        """Return the features of some rows, (r, w, 3)."""
        return self.image.rows(rows)


@dataclass(frozen=True, eq=False)
class ArrayFeatures:
    """Features in memory."""

    values: Array  # (h, w, f) of float32

    @property
    def shape(self) -> tuple[int, int]:
        """The height and width."""
        return self.values.shape[0], self.values.shape[1]

    def at(self, pixels: Array) -> Array:
        """Return the features of pixels by their flat indices, (n, f)."""
        return np.asarray(self.values.reshape(-1, self.values.shape[2])[pixels])

    def rows(self, rows: slice) -> Array:
        """Return the features of some rows, (r, w, f)."""
        return np.asarray(self.values[rows])


@dataclass(frozen=True, eq=False)
class FeatureImage:
    """The features of an image or of a downscaled copy.

    Attributes
    ----------
    pixels : PixelFeatures
        The features of each pixel.
    image : RasterImage
        The image they were computed on, of the same size.
    factor : int
        By which it was downscaled.
    is_local : bool
        Whether they describe neighborhoods, which blurs the borders of segments.
    n_positions : int
        How many of them, the last ones, are positions.
    """

    pixels: PixelFeatures
    image: RasterImage
    factor: int
    is_local: bool
    n_positions: int = 0

    @cached_property
    def graph(self) -> SimilarityGraph:
        """The superpixels and how alike they are, computed on first use."""
        return build_graph(self)


def compute_features(image: RasterImage, features: Features) -> FeatureImage:
    """Compute the features of an image."""
    if isinstance(features, str):
        if features == "rgb":
            return FeatureImage(ColorFeatures(image), image, 1, is_local=False)
        if features not in NAMED_FEATURES:
            raise ArgumentError(
                "{argument} must be one of {choices}, got {value!r}.",
                argument=Option("features"),
                choices=", ".join(map(repr, ("rgb", *NAMED_FEATURES))),
                value=features,
            )
        return _compute_downscaled(image, NAMED_FEATURES[features], n_positions=2)
    if callable(features):
        return _compute_downscaled(image, lambda small: features(small.rows(slice(None))))
    return FeatureImage(ArrayFeatures(_check_features(features, (image.height, image.width))), image, 1, is_local=False)


def _compute_downscaled(
    image: RasterImage, compute: Callable[[RasterImage], Any], n_positions: int = 0
) -> FeatureImage:
    factor = int(np.ceil(np.sqrt(image.width * image.height / MAX_FEATURE_PIXELS)))
    small = image.downscale(factor)
    values = _check_features(compute(small), (small.height, small.width))
    return FeatureImage(ArrayFeatures(values), small, factor, is_local=True, n_positions=n_positions)


def _check_features(features: Any, shape: tuple[int, int]) -> Array:
    values = np.asarray(features, dtype=np.float32)
    if values.ndim != 3 or values.shape[:2] != shape:
        raise SearchError(
            "The features have shape {shape}, but an image of {height} rows and {width} columns needs ({height}, "
            "{width}, f).",
            code="bad_feature_shape",
            shape=values.shape,
            height=shape[0],
            width=shape[1],
        )
    n_bad = int(values.size - np.count_nonzero(np.isfinite(values)))
    if n_bad:
        raise SearchError(
            "The features have {n_bad:,} "
            + pluralize(
                n_bad, "value that is NaN or infinite. Replace it.", "values that are NaN or infinite. Replace them."
            ),
            code="features_not_finite",
            n_bad=n_bad,
        )
    return values


def compute_rich_features(image: RasterImage) -> Array:
    """Compute color at two scales, texture and position, each scaled to its own standard deviation."""
    lab, side = convert_to_lab(image.rows(slice(None))), float(np.sqrt(image.width * image.height))
    planes = [_blur(lab[..., i], scale * side) for scale in COLOR_SCALES for i in range(3)]
    planes += [_compute_texture(lab[..., i], TEXTURE_SCALE * side) for i in range(3)]
    y, x = np.mgrid[: image.height, : image.width].astype(np.float32)
    visible = np.ones(x.shape, dtype=bool) if image.visible is None else image.visible
    varying = [plane for plane in planes if plane[visible].std(dtype=np.float64) > MIN_DEVIATION]
    if not varying:
        raise SearchError(
            "The image is the same everywhere: there is nothing to separate segments by.", code="image_uniform"
        )
    standardized = [_standardize(plane, visible) for plane in varying]
    position = [POSITION_SPREAD * _standardize(plane, visible) for plane in (x, y)]
    return np.stack([*standardized, *position], axis=-1)


def _blur(plane: Array, width: float) -> Array:
    return np.asarray(gaussian_filter(plane, width, mode="nearest", truncate=3.0))


def _compute_texture(plane: Array, width: float) -> Array:
    """Return the log of the local standard deviation of a color.

    An edge varies as well but isn't texture, so a pixel takes the calmest of the neighborhoods around it.
    """
    fine = plane - _blur(plane, width / 2)
    size = 2 * round(CALM_RADIUS * width) + 1
    calmest = minimum_filter(np.sqrt(_blur(fine**2, width)), size, mode="nearest")
    return np.asarray(np.log(calmest + MIN_TEXTURE))


def _standardize(plane: Array, visible: Array) -> Array:
    """Scale to mean 0 and standard deviation 1 over the visible pixels."""
    mean, deviation = plane[visible].mean(dtype=np.float64), plane[visible].std(dtype=np.float64)
    return np.asarray((plane - mean) / max(float(deviation), np.finfo(np.float32).tiny), dtype=np.float32)


NAMED_FEATURES: dict[str, Callable[[RasterImage], Array]] = {"rich": compute_rich_features}

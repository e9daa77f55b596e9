"""Upsample probabilities of a downscaled image to the full one, along its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from mixsearch._typing import Array
from mixsearch.segmentation.gaussians import argmax_segments
from mixsearch.segmentation.image import RasterImage

# Half the side of the squares in which probabilities are linear in luma, as a fraction of the image's side.
RADIUS = 0.01
# Differences of luma below this fraction of white are not an edge.
MIN_EDGE = 0.05
ALL = slice(None)


class FilterCoefficients(NamedTuple):
    """Coefficients of probabilities that are linear in luma around each pixel of the downscaled image."""

    slopes: Array  # (k - 1, h, w): the last probability is one minus the others
    intercepts: Array  # (k - 1, h, w)


def fit_guided_filter(probabilities: Array, luma: Array) -> FilterCoefficients:
    """Fit probabilities as a linear function of luma around each pixel, by least squares.

    Notes
    -----
    The guided filter: in each square the slope is cov(I, p) / (var(I) + ε), and a pixel takes the mean of the linear
    functions of all squares that contain it. Probabilities follow the edges of the image and are smoothed where it is
    flat (He, Sun and Tang, 2013). The coefficients hold for the full image as well as for the downscaled one.
    """
    size = 2 * max(round(RADIUS * float(np.sqrt(luma.size))), 1) + 1

    def average(plane: Array) -> Array:
        return np.asarray(uniform_filter(plane, size, mode="nearest"))

    luma_mean = average(luma)
    variance = average(luma**2) - luma_mean**2 + np.float32(MIN_EDGE**2)
    empty = (np.empty((len(probabilities) - 1, *luma.shape), dtype=np.float32) for _ in range(2))
    coefficients = FilterCoefficients(*empty)
    for p, slopes, intercepts in zip(probabilities[:-1], *coefficients, strict=True):
        p_mean = average(p)
        slope = (average(luma * p) - luma_mean * p_mean) / variance
        slopes[:], intercepts[:] = average(slope), average(p_mean - slope * luma_mean)
    return coefficients


@dataclass(frozen=True, eq=False)
class GuidedPosterior:
    """Probabilities at every pixel of an image, from coefficients fitted on the downscaled one."""

    coefficients: FilterCoefficients
    image: RasterImage
    factor: int

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """Return probabilities, (k, r, c), which may lie slightly outside 0 to 1."""
        y = np.arange(*rows.indices(self.image.height))
        x = np.arange(*columns.indices(self.image.width))
        slopes, intercepts = (interpolate(planes, y, x, self.factor) for planes in self.coefficients)
        slopes *= compute_luma(self.image.rows(rows)[:, columns])
        slopes += intercepts
        return np.concatenate([slopes, 1 - slopes.sum(axis=0, keepdims=True)])

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the most probable segment, (r, c)."""
        return argmax_segments(self.scores(rows, columns))

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return probabilities, (k, r, c), clipped to 0 to 1 and with sum 1."""
        clipped = np.clip(self.scores(rows, columns), 0, 1)
        return np.asarray(clipped / clipped.sum(axis=0))


def compute_luma(rgb: Array) -> Array:
    """Return the luma of RGB colors from 0 to 1, (h, w)."""
    return np.asarray(rgb @ np.array([0.299, 0.587, 0.114], dtype=np.float32))


def interpolate(planes: Array, rows: Array, columns: Array, factor: int) -> Array:
    """Interpolate planes of a downscaled image, (k, h, w), linearly at some rows and columns of the full one."""
    upper, lower, down = _find_neighbors(rows, planes.shape[1], factor)
    tall = planes[:, upper] * (1 - down)[:, None] + planes[:, lower] * down[:, None]
    left, right, across = _find_neighbors(columns, planes.shape[2], factor)
    wide: Array = tall[:, :, left]
    wide += across * (tall[:, :, right] - wide)
    return wide


def interpolate_at(planes: Array, rows: Array, columns: Array, factor: int) -> Array:
    """Interpolate planes of a downscaled image, (k, h, w), linearly at pixels of the full one, (k, n)."""
    upper, lower, down = _find_neighbors(rows, planes.shape[1], factor)
    left, right, across = _find_neighbors(columns, planes.shape[2], factor)
    above: Array = planes[:, upper, left]
    above += across * (planes[:, upper, right] - above)
    below: Array = planes[:, lower, left]
    below += across * (planes[:, lower, right] - below)
    above += down * (below - above)
    return above


def _find_neighbors(positions: Array, n_small: int, factor: int) -> tuple[Array, Array, Array]:
    """Return the downscaled pixels before and after each position, and its distance from the first."""
    exact = np.clip((positions + 0.5) / factor - 0.5, 0, n_small - 1)
    before = exact.astype(np.intp)
    return before, np.minimum(before + 1, n_small - 1), (exact - before).astype(np.float32)

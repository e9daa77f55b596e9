"""Memberships of a shrunk picture, carried to every pixel of the picture along its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter

from mixsearch.segmentation.images import Picture
from mixsearch.types import Array

# Half the side of the squares in which memberships are linear in lightness, as a part of the picture's side.
RADIUS = 0.01
# Differences of lightness below this, as a part of white, are no edge.
EDGE = 0.05
ALL = slice(None)


class Fitted(NamedTuple):
    """Coefficients of memberships that are linear in lightness around each pixel of the shrunk picture."""

    slopes: Array  # (k - 1, h, w): the last membership is what the others leave
    levels: Array  # (k - 1, h, w)


def fit_guide(memberships: Array, lightness: Array) -> Fitted:
    """Around each pixel, memberships as a linear function of lightness, by least squares.

    Parameters
    ----------
    memberships : array of shape (k, h, w)
    lightness : array of shape (h, w)

    Notes
    -----
    The guided filter: in each square the slope is cov(I, p) / (var(I) + ε), and a pixel takes the mean of the lines of
    all squares that it lies in. Where the picture has an edge the memberships follow it; where it is flat they are
    smoothed (He, Sun and Tang, 2013). The lines hold for the full picture as well as for the shrunk one.
    """
    size = 2 * max(round(RADIUS * float(np.sqrt(lightness.size))), 1) + 1

    def mean(plane: Array) -> Array:
        return np.asarray(uniform_filter(plane, size, mode="nearest"))

    center = mean(lightness)
    variance = mean(lightness**2) - center**2 + np.float32(EDGE**2)
    fitted = Fitted(*(np.empty((len(memberships) - 1, *lightness.shape), dtype=np.float32) for _ in range(2)))
    for p, slopes, levels in zip(memberships[:-1], *fitted, strict=True):
        middle = mean(p)
        slope = (mean(lightness * p) - center * middle) / variance
        slopes[:], levels[:] = mean(slope), mean(middle - slope * center)
    return fitted


@dataclass(frozen=True, eq=False)
class Sharpened:
    """Memberships at every pixel of a picture, from coefficients of the shrunk one."""

    fitted: Fitted
    picture: Picture
    factor: int

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """Memberships, (k, r, c), which may lie a little outside of 0 to 1."""
        down = np.arange(*rows.indices(self.picture.height))
        across = np.arange(*columns.indices(self.picture.width))
        slopes, levels = (stretch(plane, down, across, self.factor) for plane in self.fitted)
        slopes *= lightness_of(self.picture.rows(rows)[:, columns])
        slopes += levels
        return np.concatenate([slopes, 1 - slopes.sum(axis=0, keepdims=True)])

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """The same brought into 0 to 1, with the sum 1."""
        inside = np.clip(self.scores(rows, columns), 0, 1)
        return np.asarray(inside / inside.sum(axis=0))


def lightness_of(rgb: Array) -> Array:
    """Luma of colours from 0 to 1, (h, w)."""
    return np.asarray(rgb @ np.array([0.299, 0.587, 0.114], dtype=np.float32))


def stretch(planes: Array, rows: Array, columns: Array, factor: int) -> Array:
    """Planes of a shrunk picture, (k, h, w), at some rows and columns of the full one, linearly between pixels."""
    upper, lower, down = _between(rows, planes.shape[1], factor)
    tall = planes[:, upper] * (1 - down)[:, None] + planes[:, lower] * down[:, None]
    left, right, across = _between(columns, planes.shape[2], factor)
    wide: Array = tall[:, :, left]
    wide += across * (tall[:, :, right] - wide)
    return wide


def _between(places: Array, n_shrunk: int, factor: int) -> tuple[Array, Array, Array]:
    """Of each place the shrunk pixels before and after it, and how far it is from the first to the second."""
    exact = np.clip((places + 0.5) / factor - 0.5, 0, n_shrunk - 1)
    before = exact.astype(np.intp)
    return before, np.minimum(before + 1, n_shrunk - 1), (exact - before).astype(np.float32)

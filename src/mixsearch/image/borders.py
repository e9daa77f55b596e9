"""Labels of all pixels from the probabilities of a downscaled image, with borders along the edges of the full one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import map_coordinates, maximum_filter, minimum_filter, uniform_filter

from mixsearch._typing import Array
from mixsearch.image.reading import RasterImage
from mixsearch.image.tuning import Tuning

# Red, green and blue in luma.
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class PixelProbabilities:
    """The probabilities of segments at the pixels of a downscaled image, and how to refine them on the full one."""

    small: Array  # (k, h, w)
    top: Array  # (h, w): the likeliest segment
    is_border: Array  # (h, w) of bool: downscaled pixels with a neighbor of another segment
    slopes: Array  # (k - 1, h, w): probabilities are linear in luma around each pixel; the last is 1 minus the others
    intercepts: Array  # (k - 1, h, w)
    factor: int

    def labels(self, image: RasterImage, step: int) -> Array:
        """Return the likeliest segment of each pixel of the image, subsampled by a step, of int16."""
        y, x = image.positions(step)
        labels: Array = self.top[y // self.factor][:, x // self.factor]
        down, across = self._find_border(y, x)
        labels[down, across] = argmax_segments(self._refine(image, y[down], x[across]))
        return labels

    def probabilities(self, image: RasterImage, step: int) -> Array:
        """Return the probability of each segment at each pixel of the image, subsampled by a step, (h, w, k)."""
        y, x = image.positions(step)
        probabilities: Array = np.moveaxis(self.small, 0, -1)[y // self.factor][:, x // self.factor]
        down, across = self._find_border(y, x)
        refined = np.clip(self._refine(image, y[down], x[across]), 0, 1)
        probabilities[down, across] = (refined / refined.sum(axis=0)).T
        return probabilities

    def _find_border(self, y: Array, x: Array) -> tuple[Array, Array]:
        """Return which of these rows and columns are at a border: for large images faster than a mask of all pixels."""
        cells = np.nonzero(self.is_border)
        offsets = np.meshgrid(np.arange(self.factor), np.arange(self.factor), indexing="ij")
        found, is_there = [], np.ones((len(cells[0]), self.factor, self.factor), dtype=bool)
        for positions, cell, n, offset in zip((y, x), cells, self.top.shape, offsets, strict=True):
            starts = np.searchsorted(positions // self.factor, np.arange(n + 1))
            found.append(starts[cell][:, None, None] + offset)
            is_there &= found[-1] < starts[cell + 1][:, None, None]
        return found[0][is_there], found[1][is_there]

    def _refine(self, image: RasterImage, y: Array, x: Array) -> Array:
        """Return probabilities by the luma of single pixels, (k, n), which may lie slightly outside 0 to 1."""
        luma = image.to_rgb(y, x) @ _LUMA
        at = (np.stack([y, x]) + 0.5) / self.factor - 0.5
        slopes, intercepts = (
            np.stack([map_coordinates(plane, at, order=1, mode="nearest") for plane in planes])
            for planes in (self.slopes, self.intercepts)
        )
        return _complete(slopes * luma + intercepts)


def argmax_segments(scores: Array) -> Array:
    """Return the index of the largest score, of int16: several times faster than `argmax` for a few segments."""
    best, labels = scores[0].copy(), np.zeros(scores.shape[1:], dtype=np.int16)
    for index, score in enumerate(scores[1:], 1):
        labels[score > best] = index
        np.maximum(best, score, out=best)
    return labels


def _complete(planes: Array) -> Array:
    return np.concatenate([planes, 1 - planes.sum(axis=0, keepdims=True)])


@dataclass(frozen=True, eq=False)
class EdgeFilter:
    """The guided filter of a downscaled image: probabilities become linear functions of luma around each pixel.

    Notes
    -----
    In each square the slope is cov(I, p) / (var(I) + ε), and a pixel takes the mean of the linear functions of all
    squares that contain it. Probabilities follow the edges of the image and are smoothed where it is flat (He, Sun and
    Tang, 2013). The coefficients hold for the full image as well as for the downscaled one.
    """

    luma: Array  # (h, w)
    mean: Array  # (h, w): of luma, in the square around each pixel
    variance: Array  # (h, w)
    size: int  # pixels of the side of a square
    factor: int

    @classmethod
    def of(cls, image: RasterImage, factor: int, tuning: Tuning) -> EdgeFilter:
        """Prepare the filter of an image that was downscaled by a factor."""
        luma = image.to_rgb() @ _LUMA
        size = 2 * max(round(tuning.filter_radius * float(np.sqrt(luma.size))), 1) + 1
        mean = _average(luma, size)
        return cls(luma, mean, _average(luma**2, size) - mean**2 + np.float32(tuning.filter_edge**2), size, factor)

    def fit(self, probabilities: Array) -> PixelProbabilities:
        """Fit probabilities, (k, h, w)."""
        slopes, intercepts = np.empty((2, len(probabilities) - 1, *self.luma.shape), dtype=np.float32)
        for p, slope, intercept in zip(probabilities[:-1], slopes, intercepts, strict=True):
            p_mean = _average(p, self.size)
            in_square = (_average(self.luma * p, self.size) - self.mean * p_mean) / self.variance
            slope[:] = _average(in_square, self.size)
            intercept[:] = _average(p_mean - in_square * self.mean, self.size)
        small = np.clip(_complete(slopes * self.luma + intercepts), 0, 1)
        small /= small.sum(axis=0)
        top = argmax_segments(small)
        is_border = maximum_filter(top, 3, mode="nearest") != minimum_filter(top, 3, mode="nearest")
        return PixelProbabilities(small, top, is_border, slopes, intercepts, self.factor)


def _average(plane: Array, size: int) -> Array:
    return np.asarray(uniform_filter(plane, size, mode="nearest"))

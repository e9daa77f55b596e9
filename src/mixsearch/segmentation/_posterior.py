"""Compute the probability of each segment at every pixel, a chunk of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices
from mixsearch.segmentation._features import FeatureImage, PixelFeatures
from mixsearch.segmentation._gaussians import SegmentGaussians, argmax_segments, softmax_in_place
from mixsearch.segmentation._guided_filter import ALL, GuidedPosterior, compute_luma, fit_guided_filter
from mixsearch.segmentation._image import RasterImage, subsample_slice

CHUNK_PIXELS = 500_000


class Posterior(Protocol):
    """Labels and probabilities of the pixels of an image."""

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the segment at some rows and columns, (r, c)."""

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the probability of each segment at some rows and columns, (k, r, c)."""


@dataclass(frozen=True, eq=False)
class PixelPosterior:
    """The posterior of each pixel given its own features."""

    features: PixelFeatures
    gaussians: SegmentGaussians

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """Return log densities, (k, r, c)."""
        chunk = self.features.rows(rows)[:, columns]
        return self.gaussians.log_densities(chunk.reshape(-1, chunk.shape[2])).reshape(-1, *chunk.shape[:2])

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the segment with the largest density, (r, c)."""
        return argmax_segments(self.scores(rows, columns))

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the probability of each segment at some rows and columns, (k, r, c)."""
        return softmax_in_place(self.scores(rows, columns))


def make_posterior(image: RasterImage, features: FeatureImage, gaussians: SegmentGaussians) -> Posterior:
    """Return the posterior of the pixels themselves, or that of neighborhoods upsampled along the image's edges."""
    direct = PixelPosterior(features.pixels, gaussians)
    if not features.is_local:
        return direct
    small = features.image
    probabilities = np.concatenate([direct.probabilities(rows) for _, rows in _iterate_chunks(small, 1)], axis=1)
    coefficients = fit_guided_filter(probabilities, compute_luma(small.rows(slice(None))))
    return GuidedPosterior(coefficients, image, features.factor)


def compute_labels(posterior: Posterior, image: RasterImage, step: int = 1) -> Array:
    """Return the most probable segment of each pixel of the subsampled image, of int16; -1 if it is transparent."""
    sampled, columns = image.subsample(step), subsample_slice(image.width, step)
    labels = np.empty((sampled.height, sampled.width), dtype=np.int16)
    for target, rows in _iterate_chunks(image, step):
        labels[target] = posterior.labels(rows, columns)
    if sampled.visible is not None:
        labels[~sampled.visible] = -1
    return labels


def compute_probabilities(posterior: Posterior, image: RasterImage, n_segments: int, step: int = 1) -> Array:
    """Return the probability of each segment at these pixels, (h, w, k) of float32; 0 if the pixel is transparent."""
    sampled, columns = image.subsample(step), subsample_slice(image.width, step)
    probabilities = np.empty((sampled.height, sampled.width, n_segments), dtype=np.float32)
    for target, rows in _iterate_chunks(image, step):
        probabilities[target] = np.moveaxis(posterior.probabilities(rows, columns), 0, -1)
    if sampled.visible is not None:
        probabilities[~sampled.visible] = 0
    return probabilities


def _iterate_chunks(image: RasterImage, step: int) -> Iterator[tuple[slice, slice]]:
    """Yield some rows of the subsampled image at a time, and the same rows in the full image."""
    kept = range(image.height)[subsample_slice(image.height, step)]
    for target in row_slices(len(kept), max(CHUNK_PIXELS // image.width, 1)):
        rows = kept[target]
        yield target, slice(rows.start, rows.stop, rows.step)

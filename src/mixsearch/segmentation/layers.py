"""The probability of each segment at every pixel, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mixsearch.blocks import row_slices
from mixsearch.segmentation.clusters import Clusters, as_probabilities, likeliest
from mixsearch.segmentation.features import Described, PixelFeatures
from mixsearch.segmentation.images import Picture
from mixsearch.segmentation.sharpening import Sharpened, fit_guide, lightness_of
from mixsearch.types import Array

# Pixels that are assigned at a time.
BLOCK_PIXELS = 500_000


class Layer(Protocol):
    """What is known of every pixel of a picture."""

    def scores(self, rows: slice) -> Array:
        """A number for each segment at the pixels of some rows, (k, r, w): the largest tells the segment."""

    def probabilities(self, rows: slice) -> Array:
        """The probability of each segment at the pixels of some rows, (k, r, w)."""


@dataclass(frozen=True, eq=False)
class Pointwise:
    """Each pixel judged by its own features."""

    features: PixelFeatures
    clusters: Clusters

    def scores(self, rows: slice) -> Array:
        """Log densities, (k, r, w)."""
        part = self.features.rows(rows)
        return self.clusters.log_densities(part.reshape(-1, part.shape[2])).reshape(-1, *part.shape[:2])

    def probabilities(self, rows: slice) -> Array:
        """The probability of each segment at the pixels of some rows, (k, r, w)."""
        return as_probabilities(self.scores(rows))


def layer_of(picture: Picture, described: Described, clusters: Clusters) -> Layer:
    """From features of single pixels directly, from those of neighbourhoods along the edges of the picture."""
    direct = Pointwise(described.features, clusters)
    if not described.is_local:
        return direct
    small = described.picture
    memberships = np.concatenate([direct.probabilities(rows) for rows in _blocks(small)], axis=1)
    return Sharpened(fit_guide(memberships, lightness_of(small.rows(slice(None)))), picture, described.factor)


def label_pixels(layer: Layer, picture: Picture) -> Array:
    """The likeliest segment of each pixel, (h, w) of int16; -1 where the picture is transparent."""
    labels = np.empty((picture.height, picture.width), dtype=np.int16)
    for rows in _blocks(picture):
        labels[rows] = likeliest(layer.scores(rows))
    if picture.visible is not None:
        labels[~picture.visible] = -1
    return labels


def list_probabilities(layer: Layer, picture: Picture, n_segments: int) -> Array:
    """The probability of each segment at each pixel, (h, w, k) of float32; 0 where the picture is transparent."""
    probabilities = np.empty((picture.height, picture.width, n_segments), dtype=np.float32)
    for rows in _blocks(picture):
        probabilities[rows] = np.moveaxis(layer.probabilities(rows), 0, -1)
    if picture.visible is not None:
        probabilities[~picture.visible] = 0
    return probabilities


def _blocks(picture: Picture) -> Iterator[slice]:
    return row_slices(picture.height, max(BLOCK_PIXELS // picture.width, 1))

"""The probability of each segment at every pixel, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mixsearch.blocks import row_slices
from mixsearch.segmentation.clusters import Clusters, as_probabilities, likeliest
from mixsearch.segmentation.features import Described, PixelFeatures
from mixsearch.segmentation.images import Picture, kept_places
from mixsearch.segmentation.sharpening import ALL, Sharpened, fit_guide, lightness_of
from mixsearch.types import Array

# Pixels that are assigned at a time.
BLOCK_PIXELS = 500_000


class Layer(Protocol):
    """What is known of every pixel of a picture."""

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """A number for each segment at pixels of some rows and columns, (k, r, c): the largest tells the segment."""

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """The probability of each segment at the pixels of some rows and columns, (k, r, c)."""


@dataclass(frozen=True, eq=False)
class Pointwise:
    """Each pixel judged by its own features."""

    features: PixelFeatures
    clusters: Clusters

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """Log densities, (k, r, c)."""
        part = self.features.rows(rows)[:, columns]
        return self.clusters.log_densities(part.reshape(-1, part.shape[2])).reshape(-1, *part.shape[:2])

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """The probability of each segment at the pixels of some rows and columns, (k, r, c)."""
        return as_probabilities(self.scores(rows, columns))


def layer_of(picture: Picture, described: Described, clusters: Clusters) -> Layer:
    """From features of single pixels directly, from those of neighbourhoods along the edges of the picture."""
    direct = Pointwise(described.features, clusters)
    if not described.is_local:
        return direct
    small = described.picture
    memberships = np.concatenate([direct.probabilities(rows) for _, rows in _blocks(small, 1)], axis=1)
    return Sharpened(fit_guide(memberships, lightness_of(small.rows(slice(None)))), picture, described.factor)


def label_pixels(layer: Layer, picture: Picture, every: int = 1) -> Array:
    """The likeliest segment of each pixel, or of those of the thinned picture, of int16; -1 where it is transparent."""
    thin, columns = picture.thin(every), kept_places(picture.width, every)
    labels = np.empty((thin.height, thin.width), dtype=np.int16)
    for target, rows in _blocks(picture, every):
        labels[target] = likeliest(layer.scores(rows, columns))
    if thin.visible is not None:
        labels[~thin.visible] = -1
    return labels


def list_probabilities(layer: Layer, picture: Picture, n_segments: int, every: int = 1) -> Array:
    """The probability of each segment at the same pixels, (h, w, k) of float32; 0 where the picture is transparent."""
    thin, columns = picture.thin(every), kept_places(picture.width, every)
    probabilities = np.empty((thin.height, thin.width, n_segments), dtype=np.float32)
    for target, rows in _blocks(picture, every):
        probabilities[target] = np.moveaxis(layer.probabilities(rows, columns), 0, -1)
    if thin.visible is not None:
        probabilities[~thin.visible] = 0
    return probabilities


def _blocks(picture: Picture, every: int) -> Iterator[tuple[slice, slice]]:
    """Some rows of the thinned picture at a time, and which of the full one they are."""
    kept = range(picture.height)[kept_places(picture.height, every)]
    for target in row_slices(len(kept), max(BLOCK_PIXELS // picture.width, 1)):
        rows = kept[target]
        yield target, slice(rows.start, rows.stop, rows.step)

"""Carry the probabilities of superpixels to every pixel, with seeds as hard constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from mixsearch._typing import Array
from mixsearch.segmentation._confidence import Confidence
from mixsearch.segmentation._features import FeatureImage
from mixsearch.segmentation._gaussians import argmax_segments
from mixsearch.segmentation._graph import SimilarityGraph
from mixsearch.segmentation._guided_filter import (
    ALL,
    FilterCoefficients,
    compute_luma,
    fit_guided_filter,
    interpolate,
    interpolate_at,
)
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._interpolation import collect_known, correct_locally, interpolate_known
from mixsearch.segmentation._pieces import PieceOptions, clean_pieces
from mixsearch.segmentation._seeds import Seeds, find_windows

# Half the side of the square around a seed that keeps its label, within its superpixel; relative to the image's side.
PINNED = 0.005


@dataclass(frozen=True, eq=False)
class GraphPosterior:
    """Probabilities on the downscaled image; at borders of segments, those of the guided filter on the full one."""

    small: Array  # (k, h, w): probabilities on the downscaled image
    top: Array  # (h, w): the most probable segment there
    is_border: Array  # (h, w): which downscaled pixels have a neighbor of another segment
    coefficients: FilterCoefficients
    image: RasterImage
    factor: int
    seeds: Seeds
    confidence: Confidence

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the most probable segment at some rows and columns, (r, c). Only borders need the full image."""
        y, x = self._positions(rows, columns)
        start, stop = self._small_rows(y)
        labels: Array = self.top[start:stop, x // self.factor][y // self.factor - start]
        down, across = self._find_border(y, x)
        labels[down, across] = argmax_segments(self._refine(y[down], x[across]))
        for i, at in self._find_seeds(y, x):
            labels[at] = i
        return labels

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the probability of each segment at some rows and columns, (k, r, c)."""
        y, x = self._positions(rows, columns)
        found = interpolate(self.small, y, x, self.factor)
        down, across = self._find_border(y, x)
        refined = np.clip(self._refine(y[down], x[across]), 0, 1)
        found[:, down, across] = refined / refined.sum(axis=0)
        for i, at in self._find_seeds(y, x):
            found[(slice(None), *at)] = np.eye(len(found))[i][:, None]
        return found

    def _positions(self, rows: slice, columns: slice) -> tuple[Array, Array]:
        return np.arange(*rows.indices(self.image.height)), np.arange(*columns.indices(self.image.width))

    def _small_rows(self, y: Array) -> tuple[int, int]:
        """Return the range of rows of the downscaled image that contain these rows."""
        return (int(y[0]) // self.factor, int(y[-1]) // self.factor + 1) if len(y) else (0, 0)

    def _find_border(self, y: Array, x: Array) -> tuple[Array, Array]:
        """Return which of these rows and columns are at a border, from the rows of the downscaled image."""
        start, stop = self._small_rows(y)
        cells, across = np.nonzero(self.is_border[start:stop, x // self.factor])
        first = np.searchsorted(y // self.factor, np.arange(start, stop + 1))
        counts = np.diff(first)[cells]
        ends = np.cumsum(counts)
        offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
        return np.repeat(first[cells], counts) + offsets, np.repeat(across, counts)

    def _refine(self, y: Array, x: Array) -> Array:
        """Return the probabilities of the guided filter at pixels of the full image, (k, n)."""
        colors = self.image.pixels[y, x].astype(np.float32) / np.float32(self.image.white)
        luma = compute_luma(np.broadcast_to(colors, (len(colors), 3)))
        scores = interpolate_at(self.coefficients.slopes, y, x, self.factor) * luma
        scores += interpolate_at(self.coefficients.intercepts, y, x, self.factor)
        return np.concatenate([scores, 1 - scores.sum(axis=0, keepdims=True)])

    def _find_seeds(self, y: Array, x: Array) -> list[tuple[int, tuple[Array, Array]]]:
        """Return the index of each segment, and where its seeds are among these rows and columns."""
        found = []
        for i, pixels in enumerate(self.seeds.pixels):
            if not pixels or not len(y) or not len(x):
                continue
            columns, rows = np.asarray(pixels).T
            down, across = np.searchsorted(y, rows), np.searchsorted(x, columns)
            inside = (y[np.minimum(down, len(y) - 1)] == rows) & (x[np.minimum(across, len(x) - 1)] == columns)
            found.append((i, (down[inside], across[inside])))
        return found


class Correction(NamedTuple):
    """The state before further seeds were added."""

    before: Array  # (n, k): the probabilities of superpixels
    added: Seeds  # the further seeds, which are among all seeds as well


def make_graph_posterior(
    image: RasterImage,
    features: FeatureImage,
    seeds: Seeds,
    not_seeds: Seeds,
    pieces: PieceOptions,
    correction: Correction | None = None,
) -> GraphPosterior:
    """Interpolate the seeds over the superpixels of an image, and fit the borders of segments to its edges."""
    graph, factor, shape = features.graph, features.factor, features.pixels.shape
    owners = graph.superpixels.labels.ravel()
    seeded = find_windows(seeds, factor, 0, shape)
    excluded = find_windows(not_seeds, factor, 0, shape)
    known = collect_known(
        [np.unique(owners[some]) for some in seeded],
        [np.unique(owners[some]) for some in excluded],
        graph.similarity,
    )
    of_superpixels = interpolate_known(known, graph.similarity, graph.proximity)
    if correction is not None:
        added = [np.unique(owners[some]) for some in find_windows(correction.added, factor, 0, shape)]
        of_superpixels = correct_locally(correction.before, of_superpixels, added, known, graph.superpixels)
    raw = of_superpixels.T.astype(np.float32)[:, graph.superpixels.labels]
    _split_shared(raw, graph, features, seeded)
    clean_pieces(raw, seeded, pieces)
    luma = compute_luma(features.image.rows(slice(None)))
    coefficients = fit_guided_filter(raw, luma)
    small = _apply(coefficients, luma)
    windows = find_windows(seeds, factor, round(PINNED * float(np.sqrt(luma.size))), shape)
    pinned = _pin_seeds(small, raw, seeded, windows, excluded)
    top = argmax_segments(small)
    is_border = maximum_filter(top, 3, mode="nearest") != minimum_filter(top, 3, mode="nearest")
    is_border.ravel()[pinned] = False
    return GraphPosterior(small, top, is_border, coefficients, image, factor, seeds, Confidence(graph, of_superpixels))


def _apply(coefficients: FilterCoefficients, luma: Array) -> Array:
    small = coefficients.slopes * luma + coefficients.intercepts
    small = np.clip(np.concatenate([small, 1 - small.sum(axis=0, keepdims=True)]), 0, 1)
    return np.asarray(small / small.sum(axis=0))


def _split_shared(raw: Array, graph: SimilarityGraph, features: FeatureImage, seeded: list[Array]) -> None:
    """Assign the pixels of a superpixel with seeds of several segments to the nearest of these seeds."""
    owners = graph.superpixels.labels.ravel()
    segments = np.repeat(np.arange(len(seeded)), [len(some) for some in seeded])
    pixels = np.concatenate(seeded)
    shared = [s for s in np.unique(owners[pixels]) if len(np.unique(segments[owners[pixels] == s])) > 1]
    planes = raw.reshape(len(raw), -1)
    for superpixel in shared:
        inside, own = np.flatnonzero(owners == superpixel), owners[pixels] == superpixel
        distances = np.linalg.norm(features.pixels.at(inside)[:, None] - features.pixels.at(pixels[own])[None], axis=2)
        planes[:, inside] = np.eye(len(raw), dtype=raw.dtype)[:, segments[own][distances.argmin(axis=1)]]


def _pin_seeds(small: Array, raw: Array, seeded: list[Array], windows: list[Array], excluded: list[Array]) -> Array:
    """Set the pixels around seeds to their segments, within their superpixels, and return the pixels set.

    Pixels excluded from a segment go to the likeliest other one, unless they are seeds.
    """
    labels, planes = argmax_segments(raw).ravel(), small.reshape(len(small), -1)
    around = [pixels[labels[pixels] == i] for i, pixels in enumerate(windows)]
    for i, pixels in enumerate(around):
        planes[:, pixels] = np.eye(len(small))[i][:, None]
    for i, pixels in enumerate(excluded):
        allowed = np.maximum(planes[:, pixels], np.finfo(np.float32).tiny)
        allowed[i] = 0
        planes[:, pixels] = allowed / allowed.sum(axis=0)
    for i, pixels in enumerate(seeded):
        planes[:, pixels] = np.eye(len(small))[i][:, None]
    return np.concatenate([*around, *excluded, *seeded])

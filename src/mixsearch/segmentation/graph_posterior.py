"""Interpolate seeds over the graph of superpixels, and clean the pieces of segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_dilation, find_objects, label, maximum_filter, minimum_filter

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option
from mixsearch.segmentation.features import FeatureImage
from mixsearch.segmentation.gaussians import argmax_segments, softmax_in_place
from mixsearch.segmentation.graph import Confidence, SimilarityGraph, Superpixels
from mixsearch.segmentation.guided_filter import (
    ALL,
    FilterCoefficients,
    compute_luma,
    fit_guided_filter,
    interpolate,
    interpolate_at,
)
from mixsearch.segmentation.image import RasterImage
from mixsearch.segmentation.seeds import Seeds, find_windows

# Added to the diagonal of the similarities of seeds, so that two alike ones of different segments do not cancel others;
# and to that of their proximities.
RIDGE, RIDGE_NEAR = 0.1, 0.05
# The noise of a seed grows with this power of the number of its segment's seeds, relative to the mean of all segments.
BALANCE = 2
# Probabilities are the softmax of scores times this: fitted so that they hold on annotated photographs.
SHARPNESS = 9.0
# With a single segment, these many superpixels unlike its seeds stand for the rest.
N_REST = 2


class KnownSuperpixels(NamedTuple):
    """Superpixels with seeds, and their labels."""

    indices: Array  # (q,), distinct
    targets: Array  # (q, k): the probability of each segment; rows sum to 1


def collect_known(seeded: Sequence[Array], excluded: Sequence[Array], similarity: Array) -> KnownSuperpixels:
    """Combine the superpixels of the seeds of each segment, and of those known not to be of it.

    A superpixel with seeds of several segments has equal parts of them. One that is only excluded from some may be any
    other. A last segment about which nothing is known is the rest of the image.
    """
    indices = np.unique(np.concatenate([*seeded, *excluded]))
    votes, vetoes = (np.zeros((len(indices), len(seeded))) for _ in range(2))
    for i, (some, others) in enumerate(zip(seeded, excluded, strict=True)):
        votes[np.searchsorted(indices, some), i] = 1
        vetoes[np.searchsorted(indices, others), i] = 1
    for open_to in (1 - vetoes, np.ones_like(vetoes)):  # all excluded is as good as nothing known
        unnamed = votes.sum(axis=1) == 0
        votes[unnamed] = open_to[unnamed]
    known = KnownSuperpixels(indices, votes / votes.sum(axis=1, keepdims=True))
    return known if votes[:, -1].any() else _add_rest(known, similarity)


def _add_rest(known: KnownSuperpixels, similarity: Array) -> KnownSuperpixels:
    """Choose superpixels for the last segment: one after the other, the least similar to all known ones."""
    indices, targets = known
    for _ in range(min(N_REST, len(similarity) - len(indices))):
        farthest = int(similarity[:, indices].max(axis=1).argmin())
        indices = np.append(indices, farthest)
        targets = np.vstack([targets, np.eye(targets.shape[1])[-1]])
    return KnownSuperpixels(indices, targets)


def interpolate_known(known: KnownSuperpixels, similarity: Array, proximity: Array) -> Array:
    """Return the probability of each segment at every superpixel, (n, k).

    Notes
    -----
    Kriging: scores are K(x, s) (K(s, s) + R)⁻¹ (targets - 1/k), with the similarity as covariance. Seeds that are alike
    share their weight, so that a further seed corrects what those before it left open. The noise R grows with the
    number of a segment's seeds, since a segment does not become likelier by having more of them. Scores
    fade with the distance from all seeds; relative to the similarity of the closest one they say how sure the label is.
    What this leaves open at the seeds themselves is interpolated once more, with the proximity as covariance.
    """
    indices, targets = known
    centered, counts = targets - 1 / targets.shape[1], targets.sum(axis=0)
    noise = RIDGE * (targets @ (counts / counts.mean()) ** BALANCE)
    closest = np.maximum(similarity[:, indices].max(axis=1), np.finfo(float).tiny)
    scores = _krige(similarity, indices, noise, centered) / closest[:, None]
    scores += _krige(proximity, indices, np.full(len(indices), RIDGE_NEAR), centered - scores[indices])
    probabilities = softmax_in_place(SHARPNESS * scores.T).T
    allowed = np.maximum(probabilities[indices], np.finfo(float).tiny) * (targets > 0)
    probabilities[indices] = allowed / allowed.sum(axis=1, keepdims=True)
    return np.asarray(probabilities)


def _krige(covariance: Array, indices: Array, noise: Array, values: Array) -> Array:
    """Return the expected values of a Gaussian process, (n, k), of which some are known with noise."""
    among = covariance[np.ix_(indices, indices)] + np.diag(noise)
    return np.asarray(covariance[:, indices] @ np.linalg.solve(among, values))


def correct_locally(
    before: Array, after: Array, added: Sequence[Array], known: KnownSuperpixels, superpixels: Superpixels
) -> Array:
    """Return the probabilities after further seeds, changed only where the seeds are connected with the change.

    A superpixel goes to the segment of a further seed if that is at least as sure as its label was before.
    """
    changed = np.zeros(len(before), dtype=bool)
    changed[known.indices] = True
    labels_before, labels = before.argmax(axis=1), after.argmax(axis=1)
    is_surer = after.max(axis=1) >= before.max(axis=1)
    for i, some in enumerate(added):
        flips = is_surer & (labels == i) & (labels_before != i)
        flips[some] = True
        pieces = superpixels.connect(flips)
        changed |= flips & np.isin(pieces, pieces[some])
    return np.where(changed[:, None], after, before)


# By default, pieces without seeds smaller than this fraction of the image are removed.
MIN_AREA = 0.0005


class PieceOptions(NamedTuple):
    """Which pieces without seeds a segment may have.

    Attributes
    ----------
    connected : bool
        None at all.
    fill_holes : bool
        None within a single other segment.
    min_area : float
        None smaller than this fraction of the image.
    """

    connected: bool = False
    fill_holes: bool = False
    min_area: float = MIN_AREA


def make_piece_options(connected: bool, fill_holes: bool, min_area: float | None) -> PieceOptions:
    """Return checked options."""
    if min_area is None:
        return PieceOptions(connected, fill_holes)
    if not 0 <= min_area <= 1:
        raise ArgumentError(
            "{argument} must be between 0 and 1, got {value!r}.", argument=Option("min_area"), value=min_area
        )
    return PieceOptions(connected, fill_holes, min_area)


def clean_pieces(probabilities: Array, seeded: Sequence[Array], options: PieceOptions) -> None:
    """Assign unwanted pieces to the likeliest segment around them, in place."""
    min_pixels = options.min_area * probabilities[0].size
    labels = argmax_segments(probabilities)
    for i, seeds in enumerate(seeded):
        numbered, n_pieces = label(labels == i)
        sizes = np.bincount(numbered.ravel(), minlength=n_pieces + 1)
        keeps = (
            set(np.unique(numbered.ravel()[seeds])) if len(seeds) else {int(sizes[1:].argmax()) + 1 if n_pieces else 0}
        )
        for number, box in enumerate(find_objects(numbered), 1):
            if number in keeps:
                continue
            is_small, is_cut = sizes[number] < min_pixels, options.connected and len(seeds) > 0
            if is_small or is_cut or options.fill_holes:
                _give_away(probabilities, labels, i, _grow(box), numbered == number, must=bool(is_small or is_cut))


def _grow(box: tuple[slice, ...]) -> tuple[slice, ...]:
    return tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)


def _give_away(
    probabilities: Array, labels: Array, i: int, box: tuple[slice, ...], piece: Array, *, must: bool
) -> None:
    """Swap the probabilities of a piece's segment and the likeliest one around it; unless `must`, the only one."""
    inside = piece[box]
    around = np.unique(labels[box][binary_dilation(inside) & ~inside])
    others = around[around != i]
    if not len(others) or not (must or len(others) == 1):
        return
    planes = probabilities[(slice(None), *box)]
    chosen = int(others[planes[others][:, inside].mean(axis=1).argmax()])
    planes[i, inside], planes[chosen, inside] = planes[chosen, inside], planes[i, inside].copy()
    labels[box][inside] = chosen


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

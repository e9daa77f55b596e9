"""Segment an image from seeds: by PageRank on a graph of superpixels, or by the paper's search in a mixture."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option
from mixsearch.graph.pagerank import PageRank
from mixsearch.image.borders import EdgeFilter, PixelProbabilities
from mixsearch.image.pixel_search import assign_nearest, search_centers
from mixsearch.image.reading import RasterImage, read_image
from mixsearch.image.result import Segmentation
from mixsearch.image.seeds import Seeds, check_not_seeds, check_seeds
from mixsearch.image.superpixels import Superpixels, build_affinity, compute_looks, find_superpixels
from mixsearch.image.tuning import TUNING, Tuning

if TYPE_CHECKING:
    import PIL.Image

Method = Literal["graph", "paper"]
# Superpixels are found on at most this many pixels: larger images are downscaled for them.
MAX_GRAPH_PIXELS = 160_000
# The name of the second segment if there is only one seed, and superpixels that stand for it.
REST, N_REST = "rest", 2
TINY = float(np.finfo(np.float64).tiny)


def segment(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
    seeds: Sequence[ArrayLike] | Mapping[str, ArrayLike],
    *,
    not_seeds: Mapping[str, ArrayLike] | None = None,
    method: Method = "graph",
) -> Segmentation:
    """Segment an image from one pixel of each segment.

    Parameters
    ----------
    image : path, Pillow image or array
        Any size; gray or RGB, with or without alpha. Arrays have shape (h, w) or (h, w, c), of uint8, uint16, bool or
        floats.
    seeds : sequence or mapping
        For each segment a pixel (x, y), with x from the left and y from the top, or a list of pixels. The keys of a
        mapping name the segments. One seed gives two segments: its own and the rest.
    not_seeds : mapping, optional
        Pixels known not to belong to a segment, by the name of the segment.
    method : {"graph", "paper"}, default="graph"
        "graph": PageRank from the seeds on a graph of superpixels; every seed keeps its label. "paper": search a
        mixture of colors for the component of each seed, and assign pixels to the nearest center.

    Returns
    -------
    Segmentation
        Labels, and how far to trust them.

    See Also
    --------
    prepare_image : Compute what does not depend on the seeds once, for several segmentations of an image.

    Notes
    -----
    "graph" links about 800 superpixels to their neighbors, less where these differ, and to those that look alike.
    Personalised PageRank says how similar each superpixel is to those of the seeds, and kriging with it interpolates
    the seeds. All of that is done on at most 160,000 pixels; on the full image a guided filter moves the borders of
    segments to its edges. "paper" models the colors of pixels as a mixture of spherical Gaussians, and each seed is the
    hint of one search.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> found = segment(image, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names, found.shares.round(1)
    (('dark', 'light'), array([0.5, 0.5]))
    """
    return PreparedImage(read_image(image)).segment(seeds, not_seeds=not_seeds, method=method)


def prepare_image(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
) -> PreparedImage:
    """Compute what does not depend on seeds, so that further segmentations of an image are fast.

    Parameters
    ----------
    image : path, Pillow image or array
        As in `segment`.

    Returns
    -------
    PreparedImage

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> prepare_image(image).segment({"dark": (5, 5)}).names
    ('dark', 'rest')
    """
    prepared = PreparedImage(read_image(image))
    _ = prepared.graph
    return prepared


class ImageGraph(NamedTuple):
    """The superpixels of an image, and PageRank on the graph of their affinity."""

    factor: int  # by which the image was downscaled
    edge_filter: EdgeFilter
    superpixels: Superpixels
    degrees: Array  # (n,)
    pagerank: PageRank

    def covariance(self, indices: Array) -> Array:
        """Compute the covariance of all superpixels with some of them, (n, q).

        Notes
        -----
        With links W, degrees D and a restart r, PageRank relative to degrees is rD^(-1/2)(I - (1 - r)G)⁻¹, where
        G = D^(-1/2) W D^(-1/2). Once more relative to degrees, it is symmetric and positive definite.
        """
        return np.asarray(self.pagerank.from_nodes(indices) / np.sqrt(self.degrees[indices]))


def build_graph(image: RasterImage, tuning: Tuning) -> ImageGraph:
    """Build the graph of an image."""
    factor = int(np.ceil(np.sqrt(image.width * image.height / MAX_GRAPH_PIXELS)))
    small = image.downscale(factor)
    superpixels = find_superpixels(small, tuning)
    looks = compute_looks(superpixels, small.visible, tuning)
    affinity = build_affinity(superpixels, looks, tuning)
    degrees = np.maximum(np.asarray(affinity.sum(axis=1)).ravel(), TINY)
    edge_filter = EdgeFilter.of(small, factor, tuning)
    return ImageGraph(factor, edge_filter, superpixels, degrees, PageRank(affinity, tuning.restart))


@dataclass(frozen=True, eq=False)
class PreparedImage:
    """An image and what is computed of it once."""

    image: RasterImage
    tuning: Tuning = TUNING

    @cached_property
    def graph(self) -> ImageGraph:
        """The superpixels and their graph, computed on first use."""
        return build_graph(self.image, self.tuning)

    def segment(
        self,
        seeds: Sequence[ArrayLike] | Mapping[str, ArrayLike],
        *,
        not_seeds: Mapping[str, ArrayLike] | None = None,
        method: Method = "graph",
        step: int = 1,
    ) -> Segmentation:
        """Segment the image; with a step, only the middle pixel of each square of as many pixels a side."""
        if method not in get_args(Method):
            raise ArgumentError(
                "{argument} must be one of {choices}, got {value!r}.",
                argument=Option("method"),
                choices=", ".join(map(repr, get_args(Method))),
                value=method,
            )
        known = check_seeds(seeds, self.image)
        excluded = check_not_seeds(not_seeds or {}, known, self.image)
        if len(known.names) == 1:
            known, excluded = (Seeds((*each.names, REST), (*each.pixels, ())) for each in (known, excluded))
        if method == "graph":
            return segment_by_graph(self, known, excluded, step)
        if not_seeds:
            raise ArgumentError(
                "{argument} needs {method}='graph', got {value!r}.",
                code="needs_graph",
                argument=Option("not_seeds"),
                method=Option("method"),
                value=method,
            )
        return segment_as_paper(self.image, known, step)


def segment_by_graph(prepared: PreparedImage, seeds: Seeds, not_seeds: Seeds, step: int) -> Segmentation:
    """Interpolate the seeds over the graph of superpixels, and move the borders of segments to edges of the image."""
    image, tuning, graph = prepared.image, prepared.tuning, prepared.graph
    superpixels = graph.superpixels
    # 1) what is known of superpixels
    seeded, excluded = (_find_cells(each, graph.factor, superpixels.labels.shape[1]) for each in (seeds, not_seeds))
    indices, targets = collect_known(superpixels, seeded, excluded)
    # 2) the probability of each segment at every superpixel, by their similarity to those of the seeds
    indices, targets, covariance = _add_rest(indices, targets, graph)
    of_superpixels = interpolate(covariance, indices, targets, tuning)
    # 3) pixels, with borders along the edges of the full image; seeds keep their labels
    refined = graph.edge_filter.fit(of_superpixels.T.astype(np.float32)[:, superpixels.labels])
    _exclude(refined, excluded)

    def compute_probabilities() -> Array:
        found = refined.probabilities(image, step)
        _mark(found, seeds, step, np.eye(len(seeds.names)))
        return found

    labels = refined.labels(image, step)
    _mark(labels, seeds, step, np.arange(len(seeds.names)))
    expected_iou = expect_iou(of_superpixels, superpixels.sizes) * (1 if seeds.pixels[-1] else tuning.one_seed)
    return _answer(image, seeds, step, labels, expected_iou, compute_probabilities)


def segment_as_paper(image: RasterImage, seeds: Seeds, step: int) -> Segmentation:
    """Search the mixture of colors for the component of each seed, and assign each pixel to the nearest center."""
    centers = search_centers(image, seeds)
    labels = assign_nearest(image.subsample(step), centers)
    segments = np.arange(len(centers))
    unknown = np.full(len(centers), np.nan)
    return _answer(image, seeds, step, labels, unknown, lambda: labels[..., None] == segments)


def _answer(
    image: RasterImage,
    seeds: Seeds,
    step: int,
    labels: Array,
    expected_iou: Array,
    compute_probabilities: Callable[[], Array],
) -> Segmentation:
    """Return the answer for a subsampled image, whose transparent pixels have no segment."""
    sampled = image.subsample(step)
    visible = np.ones(labels.shape, dtype=bool) if sampled.visible is None else sampled.visible
    return Segmentation(
        labels=np.where(visible, labels, np.int16(-1)),
        names=seeds.names,
        seeds=tuple(tuple((x // step, y // step) for x, y in pixels) for pixels in seeds.pixels),
        expected_iou=expected_iou,
        _image=sampled,
        _compute_probabilities=lambda: (compute_probabilities() * visible[..., None]).astype(np.float32),
    )


def _find_cells(seeds: Seeds, factor: int, width: int) -> list[Array]:
    """Return the flat indices of the pixels of each segment in an image downscaled by a factor."""
    pixels = [np.asarray(each, dtype=np.intp).reshape(-1, 2) // factor for each in seeds.pixels]
    return [np.unique(each[:, 1] * width + each[:, 0]) for each in pixels]


def collect_known(superpixels: Superpixels, seeded: list[Array], excluded: list[Array]) -> tuple[Array, Array]:
    """Return the superpixels about which something is known, (q,), and the probability of each segment there, (q, k).

    A superpixel with seeds of several segments has equal parts of them. One that is only excluded from some may be any
    other.
    """
    owners, k = superpixels.labels.ravel(), len(seeded)
    votes, vetoes = (np.zeros((len(superpixels.sizes), k), dtype=bool) for _ in range(2))
    for i in range(k):
        votes[owners[seeded[i]], i] = vetoes[owners[excluded[i]], i] = True
    indices = np.flatnonzero(votes.any(axis=1) | vetoes.any(axis=1))
    votes, vetoes = votes[indices], vetoes[indices]
    targets = np.where(votes.any(axis=1, keepdims=True), votes, ~vetoes)
    targets[~targets.any(axis=1)] = True  # all excluded is as good as nothing known
    return indices, targets / targets.sum(axis=1, keepdims=True)


def _add_rest(indices: Array, targets: Array, graph: ImageGraph) -> tuple[Array, Array, Array]:
    """Compute the covariance of all superpixels with known ones, and choose some for a last segment without seeds.

    They are chosen one after the other, the least similar to all that are known.
    """
    covariance = graph.covariance(indices)
    n_rest = min(N_REST, len(covariance) - len(indices)) if not targets[:, -1].any() else 0
    for _ in range(n_rest):
        similarity = covariance / np.sqrt(covariance[indices, np.arange(len(indices))])
        farthest = similarity.max(axis=1).argmin(keepdims=True)
        indices = np.append(indices, farthest)
        targets = np.vstack([targets, np.eye(targets.shape[1])[-1]])
        covariance = np.hstack([covariance, graph.covariance(farthest)])
    return indices, targets, covariance


def interpolate(covariance: Array, indices: Array, targets: Array, tuning: Tuning) -> Array:
    """Return the probability of each segment at every superpixel, (n, k).

    Notes
    -----
    Kriging: with the correlation C and noise R, scores are C(x, s) (C(s, s) + R)⁻¹ (targets - 1/k). Seeds that are
    alike share their weight, so that a further seed corrects what those before it left open. The noise grows with the
    square of the number of a segment's seeds, since a segment does not become likelier by having more of them. Scores
    relative to the correlation with the closest seed say how sure the label is.
    """
    deviations, counts = np.sqrt(covariance[indices, np.arange(len(indices))]), targets.sum(axis=0)
    noise = tuning.noise * (targets @ (counts / counts.mean()) ** 2)
    correlation = covariance / deviations  # up to the deviation of x, which is in all scores of x
    among = correlation[indices] / deviations[:, None] + np.diag(noise)
    scores = correlation @ np.linalg.solve(among, targets - 1 / targets.shape[1])
    scores /= np.maximum(correlation.max(axis=1, keepdims=True), TINY)
    probabilities = softmax(tuning.sharpness * scores, axis=1)
    allowed = np.maximum(probabilities[indices], TINY) * (targets > 0)
    probabilities[indices] = allowed / allowed.sum(axis=1, keepdims=True)
    return np.asarray(probabilities)


def _exclude(refined: PixelProbabilities, excluded: list[Array]) -> None:
    """Take the segment that they are not of from the probabilities of excluded pixels."""
    planes = refined.small.reshape(len(refined.small), -1)
    for i, pixels in enumerate(excluded):
        allowed = np.maximum(planes[:, pixels], np.finfo(np.float32).tiny)
        allowed[i] = 0
        planes[:, pixels] = allowed / allowed.sum(axis=0)
        refined.top.ravel()[pixels], refined.is_border.ravel()[pixels] = allowed.argmax(axis=0), False


def _mark(plane: Array, seeds: Seeds, step: int, values: Array) -> None:
    """Set the values of seeds among the pixels of a subsampled image, (h, w, ...)."""
    for pixels, value in zip(seeds.pixels, values, strict=True):
        for x, y in pixels:
            plane[min(y // step, plane.shape[0] - 1), min(x // step, plane.shape[1] - 1)] = value


def expect_iou(probabilities: Array, sizes: Array) -> Array:
    """Return the expected overlap of each segment with the one meant, (k,), from probabilities at superpixels, (n, k).

    Notes
    -----
    Expected intersection over expected union, if every superpixel belongs to a segment by its probability.
    """
    masses = probabilities * sizes[:, None]
    own = probabilities.argmax(axis=1)[:, None] == np.arange(probabilities.shape[1])
    unions = own.T @ sizes + np.sum(masses * ~own, axis=0)
    return np.asarray(np.sum(masses * own, axis=0) / np.maximum(unions, TINY))

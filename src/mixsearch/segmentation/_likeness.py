"""Segment an image like another one: find the same segments by their appearance instead of their position."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning, warn_user
from mixsearch.segmentation._confidence import Confidence
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._seeds import Pixel, Seed, Seeds, add_seeds
from mixsearch.segmentation._segment import PreparedImage, prepare_image
from mixsearch.segmentation._segment_model import (
    Likeness,
    SegmentModel,
    describe_appearance,
    find_visible,
    read_segment_model,
)
from mixsearch.segmentation._segmentation import Segmentation

if TYPE_CHECKING:
    import PIL.Image

# A superpixel can be a seed if it is like the model, and one segment has at least this probability.
MIN_PROBABILITY = 0.8
# At most this many seeds for each segment, spread over the image.
MAX_SEEDS = 20
# Warn if more of an image than this looks like no segment.
MAX_UNFAMILIAR = 0.3


class MissingSegmentWarning(SearchWarning):
    """Nothing in an image looks like some of the segments."""

    code = "segment_missing"


class UnfamiliarImageWarning(SearchWarning):
    """Much of an image looks like none of the segments."""

    code = "image_unfamiliar"


def segment_like(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
    like: str | os.PathLike[str] | SegmentModel | Segmentation,
    *,
    connected: bool = False,
    fill_holes: bool = False,
    min_area: float | None = None,
    frame: int | None = None,
) -> Segmentation:
    """Find the segments of another image in this one, by color and texture.

    Parameters
    ----------
    image : path, Pillow image or array
        As in `segment`.
    like : path, SegmentModel or Segmentation
        The segmentation of the other image, its model, or the file of the model.
    connected : bool, default=False
        As in `segment`.
    fill_holes : bool, default=False
        As in `segment`.
    min_area : float, optional
        As in `segment`.
    frame : int, optional
        As in `segment`.

    Returns
    -------
    Segmentation
        With the names of the model in their order. A segment that the image does not have has no pixels, and a
        `MissingSegmentWarning` names it.

    Notes
    -----
    Superpixels that look like one segment of the model and like no other become seeds, at most 20 of each segment. From
    there on it is `segment`, so that the result follows the edges of this image and can be corrected.

    Examples
    --------
    >>> from mixsearch import segment
    >>> from mixsearch.datasets import make_landscape
    >>> first, second = make_landscape(random_state=2), make_landscape(random_state=5)
    >>> found = segment_like(second.image, segment(first.image, first.seeds))
    >>> bool(np.mean(found.labels == second.segments) > 0.9)
    True
    """
    prepared = prepare_image(image, frame=frame)
    model = like.to_model() if isinstance(like, Segmentation) else like
    if not isinstance(model, SegmentModel):
        model = read_segment_model(model)
    likeness = model.compare(describe_appearance(prepared.features))
    is_visible = find_visible(prepared.features)
    chosen = _choose_superpixels(prepared, likeness.probabilities, likeness.is_familiar & is_visible)
    present = [i for i, some in enumerate(chosen) if len(some)]
    _report_doubts(prepared, model, present, is_visible & ~likeness.is_familiar)
    pixels = tuple(tuple(_find_pixel(prepared, superpixel) for superpixel in some) for some in chosen)
    pieces: dict[str, Any] = {"connected": connected, "fill_holes": fill_holes, "min_area": min_area}
    return _segment(prepared, Seeds(model.names, pixels), likeness, pieces)


def _segment(prepared: PreparedImage, seeds: Seeds, likeness: Likeness, pieces: Mapping[str, Any]) -> Segmentation:
    """Segment an image from seeds of some of the segments."""
    known = {name: list(pixels) for name, pixels in zip(*seeds, strict=True) if pixels}
    if len(known) > 1:
        return _name_all(prepared.segment(known, **pieces), seeds.names, likeness)

    def correct(more: Mapping[str, Seed]) -> Segmentation:
        return _segment(prepared, add_seeds(seeds, more, prepared.image)[0], likeness, pieces)

    # Without a second segment there is nothing to search for: `segment` would make up a rest.
    return _fill_image(prepared, seeds, likeness, correct)


def _choose_superpixels(prepared: PreparedImage, probabilities: Array, allowed: Array) -> list[Array]:
    """Choose superpixels as seeds of each segment: likely ones, far from each other."""
    superpixels = prepared.features.graph.superpixels
    y, x = np.indices(superpixels.labels.shape)
    middles = superpixels.average(np.dstack([x, y]).astype(float))
    labels, chosen = probabilities.argmax(axis=1), []
    for i in range(probabilities.shape[1]):
        candidates = np.flatnonzero(allowed & (labels == i) & (probabilities[:, i] >= MIN_PROBABILITY))
        chosen.append(_spread(candidates, middles, probabilities[:, i] * superpixels.sizes))
    return chosen


def _spread(candidates: Array, middles: Array, weights: Array) -> Array:
    """Return the candidate with the largest weight, and then always the one farthest from all before."""
    if not len(candidates):
        return candidates
    order = [int(candidates[weights[candidates].argmax()])]
    distances = np.full(len(candidates), np.inf)
    while len(order) < min(MAX_SEEDS, len(candidates)):
        distances = np.minimum(distances, np.linalg.norm(middles[candidates] - middles[order[-1]], axis=1))
        order.append(int(candidates[distances.argmax()]))
    return np.array(order)


def _find_pixel(prepared: PreparedImage, superpixel: int) -> Pixel:
    """Return the visible pixel (x, y) of the full image closest to the middle of a superpixel."""
    features, image = prepared.features, prepared.image
    y, x = np.nonzero(features.graph.superpixels.labels == superpixel)
    order = np.argsort((y - y.mean()) ** 2 + (x - x.mean()) ** 2)
    columns, rows = (
        np.minimum(places[order] * features.factor + features.factor // 2, size - 1)
        for places, size in ((x, image.width), (y, image.height))
    )
    nearest = 0 if image.visible is None else int(image.visible[rows, columns].argmax())
    return int(columns[nearest]), int(rows[nearest])


def _report_doubts(prepared: PreparedImage, model: SegmentModel, present: list[int], unfamiliar: Array) -> None:
    if not present:
        raise SearchError(
            "Nothing in the image looks like {segments}.",
            code="nothing_alike",
            segments=", ".join(map(repr, model.names)),
            names=model.names,
        )
    missing = [name for i, name in enumerate(model.names) if i not in present]
    if missing:
        warn_user(
            MissingSegmentWarning(
                "Nothing in the image looks like {segments}: no pixel is given to it. Add a seed if it is there.",
                segments=", ".join(map(repr, missing)),
                names=missing,
            )
        )
    sizes = prepared.features.graph.superpixels.sizes
    share = float(sizes[unfamiliar].sum() / sizes.sum())
    if share > MAX_UNFAMILIAR:
        warn_user(
            UnfamiliarImageWarning(
                "{share:.0%} of the image looks like none of the segments, and is given to the most similar ones.",
                share=share,
            )
        )


def _combine(of_graph: Array, likeness: Likeness) -> Array:
    """Average the probabilities of the graph and of the model; a superpixel unlike the model may be any segment."""
    mean = (of_graph + likeness.probabilities) / 2
    return np.where(likeness.is_familiar[:, None], mean, 1 / mean.shape[1])


def _fill_image(
    prepared: PreparedImage, seeds: Seeds, likeness: Likeness, correct: Callable[[Mapping[str, Seed]], Segmentation]
) -> Segmentation:
    """Return a segmentation with all pixels in the only segment with seeds."""
    image, of_segment = prepared.image, np.array([len(pixels) > 0 for pixels in seeds.pixels], dtype=np.float32)
    visible = np.ones((image.height, image.width), dtype=bool) if image.visible is None else image.visible
    of_superpixels = np.tile(of_segment, (len(likeness.is_familiar), 1))
    return Segmentation(
        labels=np.where(visible, of_segment.argmax(), -1).astype(np.int16),
        names=seeds.names,
        seeds=seeds.pixels,
        _image=image,
        _features=prepared.features,
        _compute_probabilities=lambda: visible[..., None] * of_segment,
        _find_components=tuple,
        _confidence=Confidence(prepared.features.graph, _combine(of_superpixels, likeness)),
        _scale=prepared.features.factor,
        _correct=correct,
    )


def _name_all(found: Segmentation, names: tuple[str, ...], likeness: Likeness) -> Segmentation:
    """Return a segmentation with all segments of the model, those that the image does not have without pixels."""
    places = [names.index(name) for name in found.names]
    by_name = dict(zip(found.names, found.seeds, strict=True))
    confidence = found._confidence
    assert confidence is not None  # rich features have a graph

    def widen(values: Array) -> Array:
        wide = np.zeros((*values.shape[:-1], len(names)), dtype=values.dtype)
        wide[..., places] = values
        return wide

    return replace(
        found,
        labels=np.append(places, -1)[found.labels].astype(np.int16),
        names=names,
        seeds=tuple(by_name.get(name, ()) for name in names),
        _compute_probabilities=lambda: widen(found.probabilities),
        _confidence=Confidence(confidence.graph, _combine(widen(confidence.probabilities), likeness)),
        _correct=lambda more: _name_all(found.correct(more), names, likeness),
    )

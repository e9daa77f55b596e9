"""Images in memory, under names that cannot be guessed, with their last segmentations."""

from __future__ import annotations

import secrets
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from mixsearch import datasets, segmentation
from mixsearch.errors import HintError, SearchError, SearchWarning, collect_warnings
from mixsearch.web.cache import LRUCache
from mixsearch.web.schemas import MAX_NAME_LENGTH, MAX_SEEDS, Features, SegmentationRequest
from mixsearch.web.settings import Limits

if TYPE_CHECKING:
    from mixsearch.segmentation import FeatureImage, RasterImage, Seeds, Segmentation

EXAMPLE = "example"
# Numbers of images with features in memory, and of segmentations.
_N_FEATURES, N_SEGMENTATIONS = 4, 8
# Every image counts at least this many pixels: many small ones need memory too.
_MIN_PIXELS = 10_000
_MAX_SHOWN = 20


class GoneError(SearchError):
    """An image that is not in memory any more, or never was."""

    code = "gone"


class StoredSegmentation(NamedTuple):
    """A segmentation and its warnings."""

    found: Segmentation
    warnings: tuple[SearchWarning, ...]


class ImageStore:
    """The uploaded images, and an example that is always there.

    Parameters
    ----------
    limits : Limits
        `max_stored_pixels` for all images, `max_pixels` for all segmentations.
    """

    def __init__(self, limits: Limits) -> None:
        self._images: LRUCache[str, RasterImage] = LRUCache(limits.max_stored_pixels, _measure_image)
        self._features: LRUCache[tuple[str, str], FeatureImage] = LRUCache(_N_FEATURES)
        smallest = limits.max_pixels // N_SEGMENTATIONS
        self._segmentations: LRUCache[tuple[str, SegmentationRequest], StoredSegmentation] = LRUCache(
            limits.max_pixels, lambda stored: max(stored.found.labels.size, smallest)
        )

    def add(self, image: RasterImage) -> str:
        """Store an image, and return its name."""
        name = secrets.token_urlsafe(16)
        self._images.put(name, image)
        return name

    def get(self, name: str) -> RasterImage:
        """Return an image by its name."""
        found = make_example() if name == EXAMPLE else self._images.get(name)
        if found is None:
            raise GoneError("This image is not in memory any more. Upload it again.")
        return found

    def remove(self, name: str) -> None:
        """Remove an image and everything computed from it."""
        if name == EXAMPLE:
            raise HintError("The example cannot be removed, only uploaded images.", code="example_stays")
        if not self._images.remove(lambda key: key == name):
            raise GoneError("This image is not in memory any more.")
        self._features.remove(lambda key: key[0] == name)
        self._segmentations.remove(lambda key: key[0] == name)

    def prepare(self, name: str) -> None:
        """Compute the default features and graph of an image, so that the first segmentation need not wait for them."""
        _ = self._compute_features(name, self.get(name), SegmentationRequest.features).graph

    def segment(self, name: str, request: SegmentationRequest) -> StoredSegmentation:
        """Return the segmentation of an image, computed once for all that is shown of it."""
        image = self.get(name)
        return self._segmentations.get_or_compute((name, request), lambda: self._segment(name, image, request))

    def _segment(self, name: str, image: RasterImage, request: SegmentationRequest) -> StoredSegmentation:
        seeds, features = _read_seeds(request, image), request.features
        computed = self._compute_features(name, image, features)
        with collect_warnings() as warnings:
            assign = segmentation.choose_assign(features) if request.assign == "auto" else request.assign
            found = segmentation.search_segments(
                image,
                computed,
                seeds,
                segmentation.choose_options(features),
                assign,
                n_jobs=1,
                not_seeds=segmentation.check_not_seeds(segmentation.parse_seeds(request.not_seeds), seeds, image),
                pieces=segmentation.make_piece_options(request.connected, request.fill_holes, request.min_area),
            )
            thinned = found.assign_pixels(request.every)
        return StoredSegmentation(thinned, tuple({str(each): each for each in warnings}.values()))

    def _compute_features(self, name: str, image: RasterImage, features: Features) -> FeatureImage:
        return self._features.get_or_compute((name, features), lambda: segmentation.compute_features(image, features))


def _measure_image(image: RasterImage) -> int:
    return max(image.width * image.height, _MIN_PIXELS)


def _read_seeds(request: SegmentationRequest, image: RasterImage) -> Seeds:
    given = segmentation.parse_seeds(request.seeds)
    n_seeds = sum(map(len, given.values()))
    if n_seeds > MAX_SEEDS:
        raise HintError(
            "A segmentation has at most {max_seeds} seeds, got {n_seeds}. Leave some out.",
            code="too_many_seeds",
            n_seeds=n_seeds,
            max_seeds=MAX_SEEDS,
        )
    for name in given:
        if len(name) > MAX_NAME_LENGTH:
            raise HintError(
                "The name {start!r}... has {length} characters, at most {max_length} are allowed.",
                code="name_too_long",
                start=name[:_MAX_SHOWN],
                length=len(name),
                max_length=MAX_NAME_LENGTH,
            )
    return segmentation.check_seeds(given, image)


@cache
def make_example() -> RasterImage:
    """Return a landscape to try the page with."""
    return segmentation.read_image(datasets.make_landscape(480, 720, random_state=3).image)

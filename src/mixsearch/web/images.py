"""Answers about uploaded images; what segments is imported when used, so that a server starts fast."""

from __future__ import annotations

import io
import zipfile
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mixsearch.errors import SearchWarning, collect_warnings
from mixsearch.image.seeds import parse_seeds
from mixsearch.web.schemas import CutOutRequest, SegmentsRequest
from mixsearch.web.uploads import UploadStore

if TYPE_CHECKING:
    from mixsearch.image.result import Segmentation
    from mixsearch.image.segment import PreparedImage

EXAMPLE = "example"
_MAX_SIDE = 2000  # pixels of a shown image


class ImageStore:
    """The uploaded images with their last segmentations, and an example that is always there."""

    def __init__(self, uploads: UploadStore) -> None:
        self._uploads = uploads
        self.get = lru_cache(4)(self._prepare_image)
        self._segment = lru_cache(8)(self._segment_image)

    def segment(self, key: str, request: SegmentsRequest) -> tuple[Segmentation, list[SearchWarning]]:
        """Return the segmentation of an image, computed once for all that is shown of it, and its warnings."""
        return self._segment(key, request.seed, request.not_seed, request.every)

    def _prepare_image(self, key: str) -> PreparedImage:
        """Return an image by its name; its graph is built at its first use."""
        from mixsearch.datasets import make_landscape
        from mixsearch.image.reading import read_image
        from mixsearch.image.segment import PreparedImage

        if key == EXAMPLE:
            return PreparedImage(read_image(make_landscape(480, 720, random_state=3).image))
        file = self._uploads.get(key)
        return PreparedImage(read_image(file.folder / file.name))

    def _segment_image(
        self, key: str, seed: tuple[str, ...], not_seed: tuple[str, ...], every: int
    ) -> tuple[Segmentation, list[SearchWarning]]:
        with collect_warnings() as warnings:
            found = self.get(key).segment(parse_seeds(seed), not_seeds=parse_seeds(not_seed), step=every)
        return found, warnings


def describe_segments(store: ImageStore, key: str, request: SegmentsRequest) -> dict[str, Any]:
    """Return the segments of an image."""
    from mixsearch.image.result import summarize_segmentation

    found, warnings = store.segment(key, request)
    summary = summarize_segmentation(found)
    if request.outlines:
        for each, outline in zip(summary["segments"], found.outlines(), strict=True):
            each["outline"] = "".join(f"M{' '.join(f'{x:g},{y:g}' for x, y in ring)}Z" for ring in outline)
    return summary | {"warnings": [warning.as_dict() for warning in warnings]}


def draw_image(store: ImageStore, key: str) -> bytes:
    """Return an image as PNG, with an alpha channel if some pixels are transparent."""
    from mixsearch.image.files import make_pillow_image

    stored = store.get(key).image
    image = make_pillow_image(stored.to_uint8())
    if stored.visible is not None:
        image.putalpha(make_pillow_image(stored.visible.astype("uint8") * 255))
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return _encode_png(image)


def draw_cut_out(store: ImageStore, key: str, request: CutOutRequest) -> bytes:
    """Return one segment on a transparent background as PNG."""
    from mixsearch.image.files import make_pillow_image

    return _encode_png(make_pillow_image(store.segment(key, request)[0].cut_out(request.segment)))


def draw_masks(store: ImageStore, key: str, request: SegmentsRequest) -> bytes:
    """Return a ZIP file with a black and white PNG for each segment."""
    from mixsearch.image.files import iterate_masks

    found, file = store.segment(key, request)[0], io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # not compressed: PNG files are
        for name, image in iterate_masks(found.names, found.labels):
            archive.writestr(name, _encode_png(image))
    return file.getvalue()


def _encode_png(image: Any) -> bytes:
    from mixsearch.image.files import PNG_LEVEL

    file = io.BytesIO()
    image.save(file, "PNG", compress_level=PNG_LEVEL)
    return file.getvalue()

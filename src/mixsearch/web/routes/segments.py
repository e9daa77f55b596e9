"""Routes of segments: of an image whose seeds are in the address or in the body, and their files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from mixsearch.errors import ArgumentError
from mixsearch.image.files import PNG_LEVEL, iterate_masks, make_label_image, make_pillow_image
from mixsearch.web.image_schemas import (
    MAX_EVERY,
    MAX_NAME_LENGTH,
    MAX_SEEDS,
    Method,
    Name,
    NamedSegmentation,
    SegmentationBody,
    SegmentationRequest,
    SegmentedImage,
)
from mixsearch.web.image_store import ImageStore, StoredSegmentation
from mixsearch.web.workers import WorkerPool

_NO_SEGMENT = 255
# A name never means another image, and the same seeds segment it in the same way.
_CACHE_HEADERS = {"Cache-Control": "private, max-age=600"}


async def _read_request(
    seed: Annotated[
        list[str],
        Query(
            max_length=MAX_SEEDS,
            description="The pixels of a segment, `120,80` or `120,80+130,90`, after its name if any: `sky:120,80`.",
            examples=[["sky:216,96", "meadow:108,336"]],
        ),
    ] = [],  # noqa: B006
    segmentation: Annotated[
        str | None,
        Query(max_length=100, description="The name of an earlier segmentation, instead of seeds and options."),
    ] = None,
    method: Annotated[
        Method, Query(description="By a graph of superpixels, or by the paper's search in a mixture of colors.")
    ] = "graph",
    every: Annotated[
        int, Query(ge=1, le=MAX_EVERY, description="Return every n-th pixel of every n-th row: a larger n is faster.")
    ] = 1,
    not_seed: Annotated[
        list[str],
        Query(
            max_length=MAX_SEEDS, description="Pixels that do not belong to a segment, after its name: `sky:120,80`."
        ),
    ] = [],  # noqa: B006
) -> SegmentationRequest | NamedSegmentation:
    if segmentation is not None:
        return NamedSegmentation(segmentation, every)
    if not seed:
        raise ArgumentError("Give a seed of each segment, or the name of a segmentation.")
    return SegmentationRequest(tuple(seed), method, every, tuple(not_seed))


SegmentationParameters = Annotated[SegmentationRequest | NamedSegmentation, Depends(_read_request)]


def add_segments(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    """Add the routes of segments to those of images."""
    _add_answers(router, store, pool)
    _add_drawings(router, store, pool)
    _add_files(router, store, pool)


def _add_answers(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}/segments")
    async def segment_image(picture: Name, request: SegmentationParameters, response: Response) -> SegmentedImage:
        """Segment an image from one pixel of each segment; from one seed, into its segment and the rest."""
        response.headers.update(_CACHE_HEADERS)
        return await pool.run(lambda: _describe(store.segment(picture, request)))

    @router.post("/{picture}/segments")
    async def segment_image_by_body(picture: Name, body: SegmentationBody) -> SegmentedImage:
        """Segment an image from seeds in the body, where there is room for strokes."""
        request = body.to_request()
        return await pool.run(lambda: _describe(store.segment(picture, request), outlines=body.outlines))


def _add_drawings(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}/segments/labels.png", response_class=Response, responses=describe_file("image/png"))
    async def draw_labels(picture: Name, request: SegmentationParameters) -> Response:
        """Return an indexed PNG: 0 for the first segment, and so on; 255 where the image is transparent."""
        return make_png_response(await pool.run(lambda: _encode_labels(store.segment(picture, request))))

    @router.get("/{picture}/segments/overlay.png", response_class=Response, responses=describe_file("image/png"))
    async def draw_overlay(
        picture: Name,
        request: SegmentationParameters,
        opacity: Annotated[float, Query(ge=0, le=1, description="The opacity of the tint.")] = 0.5,
    ) -> Response:
        """Return the image with tinted segments, lines between them and a cross on each seed."""

        def draw() -> bytes:
            return encode_png(make_pillow_image(store.segment(picture, request).found.overlay(opacity)))

        return make_png_response(await pool.run(draw))

    @router.get("/{picture}/segments/cut-out.png", response_class=Response, responses=describe_file("image/png"))
    async def draw_cut_out(
        picture: Name,
        request: SegmentationParameters,
        segment: Annotated[str, Query(max_length=MAX_NAME_LENGTH, description="The name of the segment.")],
    ) -> Response:
        """Return one segment on a transparent background, with a soft edge."""

        def draw() -> bytes:
            found = store.segment(picture, request).found
            return encode_png(make_pillow_image(found.cut_out(segment)))

        return make_png_response(await pool.run(draw))


def _add_files(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}/segments/masks.zip", response_class=Response, responses=describe_file("application/zip"))
    async def download_masks(picture: Name, request: SegmentationParameters) -> Response:
        """Return a ZIP file with a black and white PNG for each segment."""
        body = await pool.run(lambda: _encode_masks(store.segment(picture, request)))
        return _make_download(body)

    @router.get("/{picture}/segments/cut-outs.zip", response_class=Response, responses=describe_file("application/zip"))
    async def download_cut_outs(picture: Name, request: SegmentationParameters) -> Response:
        """Return a ZIP file with a transparent PNG with a soft edge for each segment."""
        body = await pool.run(lambda: _encode_cut_outs(store.segment(picture, request)))
        return _make_download(body)


def _describe(stored: StoredSegmentation, *, outlines: bool = False) -> SegmentedImage:
    found, request = stored.found, stored.request
    # SciPy's filters would delay the start of the server.
    from mixsearch.image.result import summarize_segmentation

    summary = summarize_segmentation(found)
    if outlines:
        for each, outline in zip(summary["segments"], found.outlines(), strict=True):
            each["outline"] = "".join(f"M{' '.join(f'{x:g},{y:g}' for x, y in ring)}Z" for ring in outline)
    facts = {
        "segmentation": request.name,
        "method": request.method,
        "every": request.every,
        "warnings": [warning.as_dict() for warning in stored.warnings],
    }
    return SegmentedImage.model_validate(summary | facts)


def _encode_labels(stored: StoredSegmentation) -> bytes:
    labels = stored.found.labels
    transparency = {"transparency": _NO_SEGMENT} if labels.min() < 0 else {}
    return encode_png(make_label_image(labels, len(stored.found.names)), **transparency)


def _encode_masks(stored: StoredSegmentation) -> bytes:
    return _encode_zip(iterate_masks(stored.found.names, stored.found.labels))


def _encode_cut_outs(stored: StoredSegmentation) -> bytes:
    from mixsearch.image.result import iterate_cut_outs

    return _encode_zip(iterate_cut_outs(stored.found))


def describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of an answer that is a file."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


def make_png_response(body: bytes) -> Response:
    """Return a response that browsers may keep for a while."""
    return Response(body, headers=_CACHE_HEADERS, media_type="image/png")


def _make_download(body: bytes) -> Response:
    """Return a ZIP file to save. Its name is that of the link to it, or else the end of its address."""
    return Response(body, headers=_CACHE_HEADERS | {"Content-Disposition": "attachment"}, media_type="application/zip")


def encode_png(image: Any, **options: int) -> bytes:
    """Return a Pillow image as PNG."""
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=PNG_LEVEL, **options)
    return file.getvalue()


def _encode_zip(images: Iterable[tuple[str, Any]]) -> bytes:
    """Return Pillow images by their names as a ZIP file of PNG files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # not compressed: PNG files are
        for name, image in images:
            archive.writestr(name, encode_png(image))
    return file.getvalue()

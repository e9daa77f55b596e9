"""Routes of images: upload, view, segment and download."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request, Response

from mixsearch import segmentation
from mixsearch.errors import SearchError
from mixsearch.web import image_decoder
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.image_store import ImageStore, StoredSegmentation
from mixsearch.web.openapi import RAW_BODY
from mixsearch.web.processes import start_fork_server
from mixsearch.web.schemas import (
    MAX_EVERY,
    MAX_SEEDS,
    Assign,
    Features,
    SegmentationRequest,
    SegmentedImage,
    UploadedImage,
)
from mixsearch.web.settings import UPLOADS, Limits
from mixsearch.web.workers import WorkerPool

_MAX_SIDE = 2000  # pixels of a shown image
# Images that are decoded at a time, and that wait for it: each takes a process and the memory of its pixels.
N_DECODERS, MAX_UPLOADS_WAITING = 2, 8
# A name never means another image, and the same seeds segment it in the same way.
_CACHE_HEADERS = {"Cache-Control": "private, max-age=600"}
_NO_SEGMENT = 255

Name = Annotated[str, Path(description="The name that the upload returned, or `example`.", max_length=100)]


async def _read_request(
    seed: Annotated[
        list[str],
        Query(
            min_length=1,
            max_length=MAX_SEEDS,
            description="The pixels of a segment, `120,80` or `120,80+130,90`, after its name if any: `sky:120,80`.",
            examples=[["sky:216,96", "meadow:108,336"]],
        ),
    ],
    features: Annotated[Features, Query(description="Color, texture and position, or only colors.")] = "rich",
    assign: Annotated[
        Assign,
        Query(
            description="By a graph of superpixels, to the nearest center or to the most likely component; `auto`: the "
            "graph with rich features."
        ),
    ] = "auto",
    every: Annotated[
        int, Query(ge=1, le=MAX_EVERY, description="Return every n-th pixel of every n-th row: a larger n is faster.")
    ] = 1,
    not_seed: Annotated[
        list[str],
        Query(
            max_length=MAX_SEEDS, description="Pixels that do not belong to a segment, after its name: `sky:120,80`."
        ),
    ] = [],  # noqa: B006
    connected: Annotated[bool, Query(description="Keep only pieces of segments that contain a seed.")] = False,
    fill_holes: Annotated[bool, Query(description="Fill holes in segments that contain no seed.")] = False,
    min_area: Annotated[
        float | None,
        Query(ge=0, le=1, description="Remove pieces without seeds smaller than this fraction of the image."),
    ] = None,
) -> SegmentationRequest:
    return SegmentationRequest(tuple(seed), features, assign, every, tuple(not_seed), connected, fill_holes, min_area)


SimplifyParameter = Annotated[
    float, Query(ge=0, le=1000, description="How far outlines may be from the exact ones, in pixels; 0 for exact.")
]
SegmentationParameters = Annotated[SegmentationRequest, Depends(_read_request)]


def make_router(store: ImageStore, limits: Limits, pool: WorkerPool) -> APIRouter:
    """Return the routes of images.

    Parameters
    ----------
    store : ImageStore
        The images in memory.
    limits : Limits
        The limits of an upload.
    pool : WorkerPool
        Threads that segment and draw.
    """
    decoders = WorkerPool(N_DECODERS, MAX_UPLOADS_WAITING)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        start_fork_server()
        yield
        decoders.close()

    router = APIRouter(prefix=UPLOADS, tags=["images"], responses=RESPONSES, lifespan=lifespan)
    _add_upload(router, store, limits, pool, decoders)
    _add_images(router, store, pool)
    _add_segments(router, store, pool)
    return router


def _add_upload(router: APIRouter, store: ImageStore, limits: Limits, pool: WorkerPool, decoders: WorkerPool) -> None:
    uploads = asyncio.Semaphore(N_DECODERS + MAX_UPLOADS_WAITING)

    @router.post("", status_code=201, openapi_extra=RAW_BODY)
    async def upload_image(request: Request, background: BackgroundTasks) -> UploadedImage:
        """Upload an image: the body is the contents of a PNG, JPEG, WebP, GIF, BMP or TIFF file."""
        if uploads.locked():  # before the body is read into memory
            raise APIError("busy", "The server handles as many uploads as it can. Try again in a moment.")
        async with uploads:
            body = await request.body()
            image = await decoders.run(lambda: image_decoder.decode_upload(body, limits))
        name = store.add(image)
        background.add_task(prepare, name)
        return UploadedImage(picture=name, width=image.width, height=image.height)

    async def prepare(name: str) -> None:
        with suppress(APIError, SearchError):  # a request for segments will report it
            await pool.run(lambda: store.prepare(name))


def _add_images(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}.png", response_class=Response, responses=_describe_file("image/png"))
    async def view_image(picture: Name) -> Response:
        """Return the image as an upright PNG with at most 2,000 pixels a side."""
        image = store.get(picture)
        return _make_png_response(await pool.run(lambda: _encode_png(_shrink(image))))

    @router.get("/{picture}")
    async def get_image(picture: Name) -> UploadedImage:
        """Return the size of an image."""
        image = store.get(picture)
        return UploadedImage(picture=picture, width=image.width, height=image.height)

    @router.delete("/{picture}", status_code=204)
    async def remove_image(picture: Name) -> None:
        """Remove an image from memory."""
        store.remove(picture)


def _add_segments(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}/segments")
    async def segment_image(picture: Name, request: SegmentationParameters, response: Response) -> SegmentedImage:
        """Segment an image from one pixel of each segment; from one seed, into its segment and the rest."""
        response.headers.update(_CACHE_HEADERS)
        return await pool.run(lambda: _describe(store.segment(picture, request), request))

    @router.get("/{picture}/segments/labels.png", response_class=Response, responses=_describe_file("image/png"))
    async def draw_labels(picture: Name, request: SegmentationParameters) -> Response:
        """Return an indexed PNG: 0 for the first segment, and so on; 255 where the image is transparent."""
        return _make_png_response(await pool.run(lambda: _encode_labels(store.segment(picture, request))))

    @router.get("/{picture}/segments/overlay.png", response_class=Response, responses=_describe_file("image/png"))
    async def draw_overlay(
        picture: Name,
        request: SegmentationParameters,
        opacity: Annotated[float, Query(ge=0, le=1, description="The opacity of the tint.")] = 0.5,
    ) -> Response:
        """Return the image with tinted segments, lines between them and a cross on each seed."""

        def draw() -> bytes:
            return _encode_png(segmentation.make_pillow_image(store.segment(picture, request).found.overlay(opacity)))

        return _make_png_response(await pool.run(draw))

    @router.get("/{picture}/segments/masks.zip", response_class=Response, responses=_describe_file("application/zip"))
    async def download_masks(picture: Name, request: SegmentationParameters) -> Response:
        """Return a ZIP file with a black and white PNG for each segment."""
        body = await pool.run(lambda: _encode_masks(store.segment(picture, request)))
        return _make_download("masks.zip", body, "application/zip")

    @router.get(
        "/{picture}/segments/cut-outs.zip", response_class=Response, responses=_describe_file("application/zip")
    )
    async def download_cut_outs(picture: Name, request: SegmentationParameters) -> Response:
        """Return a ZIP file with a transparent PNG with a soft edge for each segment."""
        body = await pool.run(lambda: _encode_cut_outs(store.segment(picture, request)))
        return _make_download("cut-outs.zip", body, "application/zip")

    @router.get("/{picture}/segments/outlines.svg", response_class=Response, responses=_describe_file("image/svg+xml"))
    async def draw_outlines(
        picture: Name, request: SegmentationParameters, simplify: SimplifyParameter = 0.0
    ) -> Response:
        """Return the outlines as an SVG drawing of the size of the image."""
        svg = await pool.run(lambda: store.segment(picture, request).found.to_svg(simplify))
        return _make_download("outlines.svg", svg, "image/svg+xml")

    @router.get(
        "/{picture}/segments/outlines.geojson",
        response_class=Response,
        responses=_describe_file("application/geo+json"),
    )
    async def list_outlines(
        picture: Name, request: SegmentationParameters, simplify: SimplifyParameter = 0.0
    ) -> Response:
        """Return the outlines as GeoJSON; coordinates are pixels, x to the right and y down."""
        collection = await pool.run(lambda: store.segment(picture, request).found.to_geojson(simplify))
        return _make_download("outlines.geojson", json.dumps(collection), "application/geo+json")

    @router.get("/{picture}/segments/coco.json", response_class=Response, responses=_describe_file("application/json"))
    async def list_annotations(picture: Name, request: SegmentationParameters) -> Response:
        """Return a data set in the format of COCO, with run lengths."""

        def make() -> str:
            found = store.segment(picture, request).found
            return json.dumps(segmentation.make_coco_dataset([(picture, found.to_coco())], found.names))

        return _make_download("coco.json", await pool.run(make), "application/json")


def _describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a binary answer."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


def _make_png_response(body: bytes) -> Response:
    return Response(body, headers=_CACHE_HEADERS, media_type="image/png")


def _make_download(name: str, body: bytes | str, media_type: str) -> Response:
    headers = _CACHE_HEADERS | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, headers=headers, media_type=media_type)


def _describe(stored: StoredSegmentation, request: SegmentationRequest) -> SegmentedImage:
    summary = segmentation.summarize_segmentation(stored.found)
    options = {"features": request.features, "assign": request.assign, "every": request.every}
    warnings = [warning.as_dict() for warning in stored.warnings]
    return SegmentedImage.model_validate(summary | options | {"warnings": warnings})


def _encode_labels(stored: StoredSegmentation) -> bytes:
    labels = stored.found.labels
    transparency = {"transparency": _NO_SEGMENT} if labels.min() < 0 else {}
    return _encode_png(segmentation.make_label_image(labels, len(stored.found.names)), **transparency)


def _encode_masks(stored: StoredSegmentation) -> bytes:
    return _encode_zip(segmentation.iterate_masks(stored.found.names, stored.found.labels))


def _encode_cut_outs(stored: StoredSegmentation) -> bytes:
    return _encode_zip(segmentation.iterate_cut_outs(stored.found))


def _encode_zip(images: Iterable[tuple[str, Any]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # not compressed: PNG files are
        for name, image in images:
            archive.writestr(name, _encode_png(image))
    return file.getvalue()


def _encode_png(image: Any, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=segmentation.PNG_LEVEL, **options)
    return file.getvalue()


def _shrink(stored: segmentation.RasterImage) -> Any:
    """Return a Pillow image for the screen, with an alpha channel if some pixels are transparent."""
    image = segmentation.make_pillow_image(stored.to_uint8())
    if stored.visible is not None:
        image.putalpha(segmentation.make_pillow_image(stored.visible.astype("uint8") * 255))
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return image

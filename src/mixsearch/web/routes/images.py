"""Routes of images: upload, view and remove."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import APIRouter, BackgroundTasks, Request, Response

from mixsearch.errors import SearchError
from mixsearch.image.files import make_pillow_image
from mixsearch.image.reading import RasterImage
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.image_schemas import Name, UploadedImage
from mixsearch.web.image_store import ImageStore, decode_upload
from mixsearch.web.processes import start_fork_server
from mixsearch.web.routes.segments import add_segments, describe_file, encode_png, make_png_response
from mixsearch.web.schemas import RAW_BODY
from mixsearch.web.settings import UPLOADS, Limits
from mixsearch.web.workers import WorkerPool

_MAX_SIDE = 2000  # pixels of a shown image
# Images that are decoded at a time, and that wait for it: each takes a process and the memory of its pixels.
N_DECODERS, MAX_UPLOADS_WAITING = 2, 8


def make_router(store: ImageStore, limits: Limits, pool: WorkerPool) -> APIRouter:
    """Return the routes of images."""
    decoders = WorkerPool(N_DECODERS, MAX_UPLOADS_WAITING)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        start_fork_server()
        yield
        decoders.close()

    router = APIRouter(prefix=UPLOADS, tags=["images"], responses=RESPONSES, lifespan=lifespan)
    _add_upload(router, store, limits, pool, decoders)
    _add_images(router, store, pool)
    add_segments(router, store, pool)
    return router


def _add_upload(router: APIRouter, store: ImageStore, limits: Limits, pool: WorkerPool, decoders: WorkerPool) -> None:
    uploads = asyncio.Semaphore(N_DECODERS + MAX_UPLOADS_WAITING)

    @router.post("", status_code=201, openapi_extra=RAW_BODY)
    async def upload_image(
        request: Request,
        background: BackgroundTasks,
    ) -> UploadedImage:
        """Upload an image: the body is the contents of a PNG, JPEG, WebP, GIF, BMP or TIFF file."""
        if uploads.locked():  # before the body is read into memory
            raise APIError("busy", "The server handles as many uploads as it can. Try again in a moment.")
        async with uploads:
            body = await request.body()
            image = await decoders.run(lambda: decode_upload(body, limits))
        name = store.add(image)
        background.add_task(prepare, name)
        return _describe(name, image)

    async def prepare(name: str) -> None:
        with suppress(APIError, SearchError):  # a request for segments will report it
            await pool.run(lambda: store.prepare(name))


def _add_images(router: APIRouter, store: ImageStore, pool: WorkerPool) -> None:
    @router.get("/{picture}.png", response_class=Response, responses=describe_file("image/png"))
    async def view_image(picture: Name) -> Response:
        """Return the image as an upright PNG with at most 2,000 pixels a side."""
        image = store.get(picture)
        return make_png_response(await pool.run(lambda: encode_png(_shrink(image))))

    @router.get("/{picture}")
    async def get_image(picture: Name) -> UploadedImage:
        """Return the size of an image."""
        image = store.get(picture)
        return _describe(picture, image)

    @router.delete("/{picture}", status_code=204)
    async def remove_image(picture: Name) -> None:
        """Remove an image from memory."""
        store.remove(picture)


def _describe(name: str, image: RasterImage) -> UploadedImage:
    return UploadedImage(picture=name, width=image.width, height=image.height)


def _shrink(stored: RasterImage) -> Any:
    """Return a Pillow image for the screen, with an alpha channel if some pixels are transparent."""
    image = make_pillow_image(stored.to_uint8())
    if stored.visible is not None:
        image.putalpha(make_pillow_image(stored.visible.astype("uint8") * 255))
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return image

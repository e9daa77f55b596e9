"""The routes of pictures: bring one, see it, cut it into segments, take them home."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field

from mixsearch.errors import SearchError
from mixsearch.segmentation import (
    PNG_LEVEL,
    RasterImage,
    iterate_masks,
    make_label_image,
    make_pillow_image,
    summarize_segmentation,
)
from mixsearch.web import decoding
from mixsearch.web.answering import Lane, Room
from mixsearch.web.failures import RESPONSES, Refused
from mixsearch.web.gallery import MOST_SEEDS, Cut, Gallery, Question
from mixsearch.web.processes import get_ready
from mixsearch.web.settings import Limits

MOST_SHOWN = 2000  # pixels a side
MOST_THINNED = 64
# Pictures that are unpacked at a time, and that wait for it: each takes a process and the memory of its pixels.
N_DECODERS, MOST_UPLOADS_WAITING = 2, 8
# A name never comes to mean another picture, and the same seeds cut it in the same way.
KEPT = {"Cache-Control": "private, max-age=600"}
NO_SEGMENT = 255


class Brought(BaseModel):
    """A picture that is in memory now."""

    picture: str = Field(description="The name by which to ask for it.")
    width: int
    height: int


class Segment(BaseModel):
    """A part of a picture."""

    name: str
    seeds: list[tuple[int, int]] = Field(
        description="Pixels, x to the right and y down; none for the rest of a picture."
    )
    pixels: int
    share: float = Field(description="The part of the visible picture that it covers.")
    separation: float | None = Field(
        description="By what factor the component of its seeds leads the next one; null where there is no other."
    )
    verdict: str = Field(description="What that means in words.")
    color: str = Field(description="In which it is drawn, #rrggbb.")


class Segments(BaseModel):
    """A picture cut into segments; where it was thinned, all sizes and seeds are those of the thinned one."""

    width: int
    height: int
    features: str
    assign: str
    every: int
    segments: list[Segment]
    warnings: list[str]


Name = Annotated[str, Path(description="As the upload was answered, or `example`.", max_length=100)]


async def _question(
    seed: Annotated[
        list[str],
        Query(
            min_length=1,
            max_length=MOST_SEEDS,
            description="A segment by its pixels, `120,80` or `120,80+130,90`, and a name if it has one, `sky:120,80`.",
            examples=[["sky:216,96", "meadow:108,336"]],
        ),
    ],
    features: Annotated[
        Literal["rich", "rgb"], Query(description="Colour, texture and position, or plain colours.")
    ] = "rich",
    assign: Annotated[
        Literal["nearest", "posterior"], Query(description="To the nearest center, or the likeliest component.")
    ] = "nearest",
    every: Annotated[
        int, Query(ge=1, le=MOST_THINNED, description="Tell every so many pixels of so many rows: more is quicker.")
    ] = 1,
) -> Question:
    return Question(tuple(seed), features, assign, every)


Asked = Annotated[Question, Depends(_question)]


def make_router(gallery: Gallery, limits: Limits, lane: Lane) -> APIRouter:
    """The routes of pictures.

    Parameters
    ----------
    gallery : Gallery
        Where they are kept.
    limits : Limits
        Of an upload.
    lane : Lane
        Threads that cut and draw.
    """
    decoders = Lane(N_DECODERS, MOST_UPLOADS_WAITING)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        get_ready()
        yield
        decoders.close()

    router = APIRouter(prefix="/api/pictures", tags=["pictures"], responses=RESPONSES, lifespan=lifespan)
    _add_pictures(router, gallery, limits, lane, decoders)
    _add_segments(router, gallery, lane)
    return router


def _add_pictures(router: APIRouter, gallery: Gallery, limits: Limits, lane: Lane, decoders: Lane) -> None:
    uploads = Room(N_DECODERS + MOST_UPLOADS_WAITING)

    @router.post("", status_code=201, openapi_extra=_RAW_BODY)
    async def bring_picture(request: Request, later: BackgroundTasks) -> Brought:
        """Bring a picture: the bytes of a PNG, JPEG, WebP, GIF, BMP or TIFF are the body."""
        with uploads.place():
            body = await request.body()
            picture = await decoders.run(lambda: decoding.decode(body, limits))
        name = gallery.add(picture)
        later.add_task(prepare, name)
        return Brought(picture=name, width=picture.width, height=picture.height)

    async def prepare(name: str) -> None:
        with suppress(Refused, SearchError):  # those who ask for segments hear of it
            await lane.run(lambda: gallery.get_ready(name))

    @router.get("/{picture}.png", response_class=Response, responses=_sent("image/png"))
    async def show_picture(picture: Name) -> Response:
        """The picture as a PNG, turned upright, of at most 2,000 pixels a side."""
        shown = gallery.picture(picture)
        return _png(await lane.run(lambda: _as_png(_small(shown))))

    @router.get("/{picture}")
    async def describe_picture(picture: Name) -> Brought:
        """The size of a picture."""
        found = gallery.picture(picture)
        return Brought(picture=picture, width=found.width, height=found.height)

    @router.delete("/{picture}", status_code=204)
    async def remove_picture(picture: Name) -> None:
        """Forget a picture."""
        gallery.remove(picture)


def _add_segments(router: APIRouter, gallery: Gallery, lane: Lane) -> None:
    @router.get("/{picture}/segments")
    async def cut_picture(picture: Name, asked: Asked, response: Response) -> Segments:
        """Cut a picture into segments, from one pixel of each; with one seed, into its segment and the rest."""
        response.headers.update(KEPT)
        return await lane.run(lambda: _told(gallery.cut(picture, asked), asked))

    @router.get("/{picture}/segments/labels.png", response_class=Response, responses=_sent("image/png"))
    async def draw_labels(picture: Name, asked: Asked) -> Response:
        """An indexed PNG: 0 for the first segment, and so on; 255 where the picture is transparent."""
        return _png(await lane.run(lambda: _labels(gallery.cut(picture, asked))))

    @router.get("/{picture}/segments/overlay.png", response_class=Response, responses=_sent("image/png"))
    async def draw_overlay(
        picture: Name, asked: Asked, opacity: Annotated[float, Query(ge=0, le=1, description="Of the tint.")] = 0.5
    ) -> Response:
        """The picture with its segments tinted, a line where they meet and a cross on each seed."""
        return _png(await lane.run(lambda: _draw(gallery.cut(picture, asked), opacity)))

    @router.get("/{picture}/segments/masks.zip", response_class=Response, responses=_sent("application/zip"))
    async def zip_masks(picture: Name, asked: Asked) -> Response:
        """A black and white PNG for each segment, in one ZIP file."""
        body = await lane.run(lambda: _zipped(gallery.cut(picture, asked)))
        return Response(body, headers=KEPT | _attached("masks.zip"), media_type="application/zip")


_RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _sent(media_type: str) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of an answer that is a file."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _png(body: bytes) -> Response:
    return Response(body, headers=KEPT, media_type="image/png")


def _told(cut: Cut, asked: Question) -> Segments:
    asked_for = {"features": asked.features, "assign": asked.assign, "every": asked.every}
    return Segments.model_validate(summarize_segmentation(cut.found) | asked_for | {"warnings": cut.warnings})


def _labels(cut: Cut) -> bytes:
    labels = cut.found.labels
    transparency = {"transparency": NO_SEGMENT} if labels.min() < 0 else {}
    return _as_png(make_label_image(labels, len(cut.found.names)), **transparency)


def _draw(cut: Cut, opacity: float) -> bytes:
    return _as_png(make_pillow_image(cut.found.overlay(opacity)))


def _zipped(cut: Cut) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:  # the images are packed already
        for name, image in iterate_masks(cut.found.names, cut.found.labels):
            archive.writestr(name, _as_png(image))
    return file.getvalue()


def _as_png(image: Any, **options: int) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=PNG_LEVEL, **options)
    return file.getvalue()


def _small(picture: RasterImage) -> Any:
    """A picture as a Pillow image for the screen, with alpha where it has transparent pixels."""
    image = make_pillow_image(picture.to_uint8())
    if picture.visible is not None:
        image.putalpha(make_pillow_image(picture.visible.astype("uint8") * 255))
    image.thumbnail((MOST_SHOWN, MOST_SHOWN))
    return image

"""Routes of the server and of uploaded files: their upload, indexes, tables and images."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request, Response
from starlette.responses import StreamingResponse

from mixsearch import __version__
from mixsearch.web.answers import describe_audit, describe_file, encode_json, make_response, name_file
from mixsearch.web.builds import build_served
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.images import ImageStore, describe_segments, draw_cut_out, draw_image, draw_masks
from mixsearch.web.indexes import ServedIndex, get_newest
from mixsearch.web.schemas import (
    MAX_COLUMN_LENGTH,
    MAX_NAME_LENGTH,
    CutOutRequest,
    IndexRequest,
    Judgements,
    MembersRequest,
    RowsRequest,
    SegmentsRequest,
)
from mixsearch.web.settings import Access, Limits
from mixsearch.web.tables import (
    TableStore,
    describe_members,
    describe_points,
    describe_table,
    encode_members,
    list_rows,
)
from mixsearch.web.uploads import IMAGE_SUFFIXES, TABLE_SUFFIXES, UploadStore, check_name, strip_suffixes

# The body of a request that uploads a file.
_RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

File = Annotated[str, Path(description="The name that the upload returned, or `example`.", max_length=100)]
Column = Annotated[str, Query(max_length=MAX_COLUMN_LENGTH, description="A column of numbers or dates.")]
Members = Annotated[MembersRequest, Query()]
Segments = Annotated[SegmentsRequest, Query()]


async def _send(lock: asyncio.Lock, make: Callable[[], Any], media_type: str = "application/json") -> Response:
    """Send what a function returns, which runs in a thread, one at a time."""
    async with lock:
        made = await asyncio.to_thread(make)
    return make_response(made if isinstance(made, bytes) else encode_json(made), media_type)


def make_server_router(indexes: MutableMapping[str, ServedIndex], access: Access, limits: Limits) -> APIRouter:
    """Return the routes about the server itself."""
    router = APIRouter(prefix="/api", tags=["server"], responses=RESPONSES)

    @router.get("/health")
    async def get_health() -> dict[str, Any]:
        """Return the state of the server and of its indexes: `ok`, or `degraded` if an index has a problem."""
        problems = {name: problem for name in indexes if (problem := get_newest(indexes, name).trouble)}
        status = "degraded" if problems else "ok"
        return {"status": status, "version": __version__, "indexes": list(indexes), "problems": problems}

    @router.get("/settings")
    async def get_settings() -> dict[str, Any]:
        """Return the limits that a client should know before it sends a file."""
        return {
            "accepts_files": access.files,
            "max_file": limits.max_file,
            "max_pixels": limits.max_pixels,
            "max_name_length": MAX_NAME_LENGTH,
            "table_suffixes": TABLE_SUFFIXES,
            "image_suffixes": IMAGE_SUFFIXES,
        }

    return router


def make_files_router(
    indexes: MutableMapping[str, ServedIndex], uploads: UploadStore, images: ImageStore, access: Access
) -> APIRouter:
    """Return the routes of uploaded files, and of the indexes that are built from them."""

    async def check_access() -> None:
        if not access.files:
            raise APIError(
                "forbidden",
                "This server accepts no files: it can be reached from other computers without a token. Start it with "
                "--token.",
            )

    router = APIRouter(prefix="/api", tags=["files"], responses=RESPONSES, dependencies=[Depends(check_access)])
    building = asyncio.Lock()

    @router.post("/files", status_code=201, openapi_extra=_RAW_BODY)
    async def upload_file(
        request: Request,
        background: BackgroundTasks,
        name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file, with its suffix.")],
    ) -> dict[str, Any]:
        """Upload a file with texts, a table or an image: the body is its contents.

        The answer names it as `file`, with its `columns`, or with the `width` and `height` of an image.
        """
        check_name(name)  # before the body is read
        upload = await uploads.receive(name, request.stream())
        if "width" in upload.facts:  # so that the first click need not wait for it
            background.add_task(lambda: images.get(upload.key).graph)
        return upload.to_dict()

    @router.get("/files/{file}")
    async def get_file(file: File) -> dict[str, Any]:
        """Return what is known of an uploaded file."""
        return uploads.get(file).to_dict()

    @router.post("/indexes", response_class=StreamingResponse, responses=describe_file("text/event-stream"))
    async def build_index(request: IndexRequest) -> StreamingResponse:
        """Build the index of an uploaded file, one at a time. Who leaves before the end cancels it.

        The answer is a stream of events: each `step` of the work with how much of it is done, and at the end the name
        of the `index`, or an `error`.
        """
        file = uploads.get(request.file)
        if building.locked():
            raise APIError("busy", "Another index is being built. Try again when it is done.")

        async def build() -> AsyncIterator[bytes]:
            async with building:
                async for event in build_served(request, file, uploads.folder, indexes):
                    yield event

        return StreamingResponse(build(), media_type="text/event-stream")

    return router


def make_tables_router(store: TableStore) -> APIRouter:
    """Return the routes of tables."""
    router = APIRouter(prefix="/api/tables/{file}", tags=["tables"], responses=RESPONSES)
    lock = asyncio.Lock()

    @router.get("")
    async def get_table(file: File) -> Response:
        """Return what a table contains: its `name`, `n_rows`, `columns` and the `warnings` of its reader."""
        return await _send(lock, lambda: describe_table(store, file))

    @router.get("/points")
    async def get_points(file: File, x: Column, y: Column) -> Response:
        """Return `rows` in the plane of two columns, `x` and `y`; of a large table, a fixed sample of them."""
        return await _send(lock, lambda: describe_points(store, file, x, y))

    @router.get("/rows")
    async def get_rows(file: File, request: Annotated[RowsRequest, Query()]) -> Response:
        """Return `rows` with their values and membership: filtered, sorted, a page at a time."""
        return await _send(lock, lambda: list_rows(store, file, request))

    @router.get("/members")
    async def find_members(file: File, request: Members) -> Response:
        """Find the rows that are like some of them: the `answer` as `mixsearch find --json` prints it."""
        return await _send(lock, lambda: describe_members(store, file, request))

    @router.post("/audit")
    async def judge_rows(file: File, judged: Judgements, request: Members) -> Response:
        """Estimate precision, recall and the number of members from judged rows, and draw the next to judge."""
        return await _send(lock, lambda: describe_audit(replace(store.find(file, request)[0]), judged))

    @router.get("/members.csv", response_class=Response, responses=describe_file("text/csv"))
    async def download_members(file: File, request: Members) -> Response:
        """Return the table with `score`, `membership` and `is_member`."""
        answer = await _send(lock, lambda: encode_members(store, file, request), "text/csv")
        answer.headers.update(name_file(f"{strip_suffixes(store.open(file)[0])}-members", "csv"))
        return answer

    return router


def make_images_router(store: ImageStore) -> APIRouter:
    """Return the routes of images."""
    router = APIRouter(prefix="/api/pictures/{file}", tags=["images"], responses=RESPONSES)
    lock = asyncio.Lock()

    @router.get("")
    async def get_image(file: File) -> Response:
        """Return the size of an image."""
        return await _send(lock, lambda: {name: getattr(store.get(file).image, name) for name in ("width", "height")})

    @router.get("/image.png", response_class=Response, responses=describe_file("image/png"))
    async def view_image(file: File) -> Response:
        """Return the image as an upright PNG with at most 2,000 pixels a side."""
        return await _send(lock, lambda: draw_image(store, file), "image/png")

    @router.get("/segments")
    async def segment_image(file: File, request: Segments) -> Response:
        """Segment an image from some pixels of each segment; from one seed, into its segment and the rest."""
        return await _send(lock, lambda: describe_segments(store, file, request))

    @router.get("/cut-out.png", response_class=Response, responses=describe_file("image/png"))
    async def download_cut_out(file: File, request: Annotated[CutOutRequest, Query()]) -> Response:
        """Return one segment on a transparent background, with a soft edge."""
        return await _send(lock, lambda: draw_cut_out(store, file, request), "image/png")

    @router.get("/masks.zip", response_class=Response, responses=describe_file("application/zip"))
    async def download_masks(file: File, request: Segments) -> Response:
        """Return a ZIP file with a black and white PNG for each segment."""
        return await _send(lock, lambda: draw_masks(store, file, request), "application/zip")

    return router

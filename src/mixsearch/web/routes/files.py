"""Routes of the server and of uploaded files: their upload, indexes, tables and images."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request, Response

from mixsearch import __version__
from mixsearch.web.answers import describe_audit, describe_file, encode_json, make_response, name_file
from mixsearch.web.builds import Builder
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.images import ImageStore, describe_segments, draw_cut_out, draw_image, draw_masks
from mixsearch.web.schemas import (
    MAX_COLUMN_LENGTH,
    MAX_NAME_LENGTH,
    CutOutRequest,
    IndexBuild,
    IndexRequest,
    Judgements,
    MembersRequest,
    RowsRequest,
    SegmentsRequest,
)
from mixsearch.web.settings import FILES, Access, Limits
from mixsearch.web.tables import (
    TableStore,
    describe_members,
    describe_points,
    describe_table,
    encode_members,
    list_rows,
)
from mixsearch.web.uploads import IMAGE_SUFFIXES, TABLE_SUFFIXES, UploadStore, check_name, strip_suffixes
from mixsearch.web.workers import run_alone

# Files that are received at a time: each takes a process.
MAX_UPLOADS = 2
# The body of a request that uploads a file.
_RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

File = Annotated[str, Path(description="The name that the upload returned, or `example`.", max_length=100)]
BuildKey = Annotated[str, Path(description="The name that the start of the build returned.", max_length=100)]
Column = Annotated[str, Query(max_length=MAX_COLUMN_LENGTH, description="A column of numbers or dates.")]
Members = Annotated[MembersRequest, Query()]
Segments = Annotated[SegmentsRequest, Query()]


def make_server_router(access: Access, limits: Limits) -> APIRouter:
    """Return the routes about the server itself."""
    router, start = APIRouter(prefix="/api", tags=["server"], responses=RESPONSES), monotonic()

    @router.get("/health")
    async def get_health(request: Request) -> dict[str, Any]:
        """Return the state of the server and of its indexes: `ok`, or `degraded` if an index has a problem."""
        states = {
            name: {
                "generation": served.generation,
                "created": served.index.created,
                "n_documents": served.index.n_documents,
                "problem": served.trouble,
            }
            for name, served in request.app.state.indexes.items()
        }
        status = "degraded" if any(state["problem"] for state in states.values()) else "ok"
        uptime = monotonic() - start
        return {"status": status, "version": __version__, "indexes": list(states), "states": states, "uptime": uptime}

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


def make_files_router(uploads: UploadStore, images: ImageStore, builder: Builder, access: Access) -> APIRouter:
    """Return the routes of uploaded files, and of the indexes that are built from them."""

    async def check_access() -> None:
        if not access.files:
            raise APIError(
                "forbidden",
                "This server accepts no files: it can be reached from other computers without a token. Start it with "
                "--token.",
            )

    router = APIRouter(prefix="/api", tags=["files"], responses=RESPONSES, dependencies=[Depends(check_access)])
    slots = asyncio.Semaphore(MAX_UPLOADS)

    @router.post(FILES.removeprefix("/api"), status_code=201, openapi_extra=_RAW_BODY)
    async def upload_file(
        request: Request,
        background: BackgroundTasks,
        name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file, with its suffix.")],
    ) -> dict[str, Any]:
        """Upload a file with texts, a table or an image: the body is its contents.

        The answer names it as `file`, with its `columns`, or with the `width` and `height` of an image.
        """
        check_name(name)  # before the body is read
        if slots.locked():
            raise APIError("busy", "The server receives as many files as it can. Try again in a moment.")
        async with slots:
            path = await uploads.receive(name, request.stream())
            upload = await asyncio.to_thread(uploads.add, path)
        if path.suffix in IMAGE_SUFFIXES:  # so that the first click need not wait for it
            background.add_task(lambda: images.get(upload.key).graph)
        return upload.to_dict()

    @router.get("/files/{file}")
    async def get_file(file: File) -> dict[str, Any]:
        """Return what is known of an uploaded file."""
        return uploads.get(file).to_dict()

    @router.post("/indexes", status_code=202)
    async def build_uploaded(request: IndexRequest) -> IndexBuild:
        """Start to build the index of an uploaded file. One is built at a time."""
        return builder.start(request)

    @router.get("/builds/{build}")
    async def get_build(build: BuildKey) -> IndexBuild:
        """Return the progress of a build."""
        return builder.get(build)

    @router.delete("/builds/{build}")
    async def cancel_build(build: BuildKey) -> IndexBuild:
        """Stop a build."""
        return builder.cancel(build)

    return router


def make_tables_router(store: TableStore) -> APIRouter:
    """Return the routes of tables."""
    router = APIRouter(prefix="/api/tables/{file}", tags=["tables"], responses=RESPONSES)
    lock = asyncio.Lock()

    async def send(make: Callable[[], Any]) -> Response:
        return make_response(await run_alone(lock, lambda: encode_json(make())))

    @router.get("")
    async def get_table(file: File) -> Response:
        """Return what a table contains: its `name`, `n_rows`, `columns` and the `warnings` of its reader."""
        return await send(lambda: describe_table(store, file))

    @router.get("/points")
    async def get_points(file: File, x: Column, y: Column) -> Response:
        """Return `rows` in the plane of two columns, `x` and `y`; of a large table, a fixed sample of them."""
        return await send(lambda: describe_points(store, file, x, y))

    @router.get("/rows")
    async def get_rows(file: File, request: Annotated[RowsRequest, Query()]) -> Response:
        """Return `rows` with their values and membership: filtered, sorted, a page at a time."""
        return await send(lambda: list_rows(store, file, request))

    @router.get("/members")
    async def find_members(file: File, request: Members) -> Response:
        """Find the rows that are like some of them: the `answer` as `mixsearch find --json` prints it."""
        return await send(lambda: describe_members(store, file, request))

    def judge(file: str, judged: Judgements, request: MembersRequest) -> dict[str, Any]:
        members = replace(store.find(file, request)[0])  # without the judgements of others
        return describe_audit(members, judged.judgements, judged.n)

    @router.post("/audit")
    async def judge_rows(file: File, judged: Judgements, request: Members) -> Response:
        """Estimate precision, recall and the number of members from judged rows, and draw the next to judge."""
        return await send(lambda: judge(file, judged, request))

    @router.get("/members.csv", response_class=Response, responses=describe_file("text/csv"))
    async def download_members(file: File, request: Members) -> Response:
        """Return the table with `score`, `membership` and `is_member`."""
        body = await run_alone(lock, lambda: encode_members(store, file, request))
        return make_response(body, "text/csv", **name_file(f"{strip_suffixes(store.open(file)[0])}-members", "csv"))

    return router


def make_images_router(store: ImageStore) -> APIRouter:
    """Return the routes of images."""
    router = APIRouter(prefix="/api/pictures/{file}", tags=["images"], responses=RESPONSES)
    lock = asyncio.Lock()

    @router.get("")
    async def get_image(file: File) -> dict[str, int]:
        """Return the size of an image."""
        image = (await run_alone(lock, lambda: store.get(file))).image
        return {"width": image.width, "height": image.height}

    @router.get("/image.png", response_class=Response, responses=describe_file("image/png"))
    async def view_image(file: File) -> Response:
        """Return the image as an upright PNG with at most 2,000 pixels a side."""
        return make_response(await run_alone(lock, lambda: draw_image(store, file)), "image/png")

    @router.get("/segments")
    async def segment_image(file: File, request: Segments) -> Response:
        """Segment an image from some pixels of each segment; from one seed, into its segment and the rest."""
        return make_response(await run_alone(lock, lambda: encode_json(describe_segments(store, file, request))))

    @router.get("/cut-out.png", response_class=Response, responses=describe_file("image/png"))
    async def download_cut_out(file: File, request: Annotated[CutOutRequest, Query()]) -> Response:
        """Return one segment on a transparent background, with a soft edge."""
        return make_response(await run_alone(lock, lambda: draw_cut_out(store, file, request)), "image/png")

    @router.get("/masks.zip", response_class=Response, responses=describe_file("application/zip"))
    async def download_masks(file: File, request: Segments) -> Response:
        """Return a ZIP file with a black and white PNG for each segment."""
        return make_response(await run_alone(lock, lambda: draw_masks(store, file, request)), "application/zip")

    return router

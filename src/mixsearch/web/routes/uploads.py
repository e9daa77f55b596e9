"""Routes of uploaded files: upload, remove, and build an index of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from mixsearch.web.builds import Builder
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.files import FileStore, StoredFile, check_name
from mixsearch.web.schemas import RAW_BODY, IndexBuild, IndexRequest, UploadedFile
from mixsearch.web.settings import FILES
from mixsearch.web.workers import WorkerPool

# Files that are received at a time: each takes a process.
MAX_UPLOADS = 2

FileKey = Annotated[str, Path(description="The name that the upload returned.", max_length=100)]
BuildKey = Annotated[str, Path(description="The name that the start of the build returned.", max_length=100)]
IndexName = Annotated[str, Path(description="The name of the index.", max_length=200)]


async def check_access(request: Request) -> None:
    """Reject requests to a server that accepts no files."""
    if not request.app.state.access.files:
        raise APIError(
            "forbidden",
            "This server accepts no files: it can be reached from other computers without a token. Start it with "
            "--token.",
        )


def make_router(files: FileStore, builder: Builder) -> APIRouter:
    """Return the routes of uploaded files."""
    readers = WorkerPool(MAX_UPLOADS, MAX_UPLOADS)
    router = APIRouter(tags=["files"], responses=RESPONSES, dependencies=[Depends(check_access)])
    n_uploads = 0

    @router.post(FILES, status_code=201, openapi_extra=RAW_BODY)
    async def upload_file(
        request: Request,
        name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file, with its suffix.")],
    ) -> UploadedFile:
        """Upload a file with texts or a table: the body is its contents."""
        nonlocal n_uploads
        check_name(name)  # before the body is read
        if n_uploads >= MAX_UPLOADS:
            raise APIError("busy", "The server receives as many files as it can. Try again in a moment.")
        n_uploads += 1
        try:
            received = await files.receive(name, request.stream())
            return describe_file(await readers.run(lambda: files.add(received)))
        finally:
            n_uploads -= 1

    @router.get(f"{FILES}/{{file}}")
    async def get_file(file: FileKey) -> UploadedFile:
        """Return what is known of an uploaded file."""
        return describe_file(files.get(file))

    @router.delete(f"{FILES}/{{file}}", status_code=204, response_class=Response)
    async def remove_file(file: FileKey) -> None:
        """Remove an uploaded file."""
        files.remove(file)

    @router.post("/api/indexes", status_code=202)
    async def build_uploaded(request: IndexRequest) -> IndexBuild:
        """Start to build the index of an uploaded file. One is built at a time."""
        return builder.start(files.get(request.file), request.text, request.name)

    @router.delete("/api/indexes/{index}", status_code=204, response_class=Response)
    async def remove_index(index: IndexName) -> None:
        """Remove an index that was built from an uploaded file."""
        builder.remove(index)

    @router.get("/api/builds/{build}")
    async def get_build(build: BuildKey) -> IndexBuild:
        """Return the progress of a build."""
        return builder.get(build)

    @router.delete("/api/builds/{build}")
    async def cancel_build(build: BuildKey) -> IndexBuild:
        """Stop a build."""
        return builder.cancel(build)

    return router


def describe_file(file: StoredFile) -> UploadedFile:
    """Return an uploaded file as the API shows it."""
    return UploadedFile(file=file.key, name=file.name, n_bytes=file.n_bytes, columns=list(file.columns))

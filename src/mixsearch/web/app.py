"""The ASGI app: routes, pages, middleware, workers and open indexes."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from mixsearch import __version__
from mixsearch.topics.index import TopicIndex
from mixsearch.web.errors import handle_errors
from mixsearch.web.images import ImageStore
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.processes import start_fork_server
from mixsearch.web.routes import files, topics
from mixsearch.web.security import Guard, get_path
from mixsearch.web.settings import FILE_PAGES, HOME, STATIC, STATIC_FILES, Access, Limits
from mixsearch.web.tables import TableStore
from mixsearch.web.uploads import UploadStore
from mixsearch.web.workers import Workers

# Smaller answers are sent as they are; a higher level takes longer than it saves.
_MIN_COMPRESSED, _COMPRESSION_LEVEL = 1000, 4

# Whatever a machine has registered for this suffix: browsers run no module of another type.
mimetypes.add_type("text/javascript", ".js")


def make_app(
    indexes: Mapping[str, TopicIndex], *, limits: Limits | None = None, access: Access | None = None
) -> FastAPI:
    """Return the page and its API as an ASGI app, for `mixsearch serve` or your own server.

    Parameters
    ----------
    indexes : mapping of str to TopicIndex
        Open indexes, under their names in addresses.
    limits : Limits, optional
        Sizes, times and numbers of workers.
    access : Access, optional
        The token and the host names. By default no token is needed.

    Returns
    -------
    FastAPI

    Examples
    --------
    >>> from mixsearch.web import make_app
    >>> app = make_app({})  # uvicorn.run(app) serves it
    >>> app.title
    'mixsearch'
    """
    limits, access = limits or Limits(), access or Access()
    uploads = UploadStore(limits)
    opened = {name: ServedIndex(name, index) for name, index in indexes.items()}
    workers = Workers(limits, [served.state for served in opened.values()])

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        start_fork_server()
        workers.warm_up()
        # Reading a vocabulary would take longer than the first search.
        tasks = [asyncio.create_task(asyncio.to_thread(served.warm_up)) for served in opened.values()]
        yield
        for task in tasks:
            task.cancel()
        workers.close()
        uploads.close()

    app = FastAPI(
        title="mixsearch",
        version=__version__,
        summary="Find one topic from a word, one segment from a pixel.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    app.state.indexes, app.state.workers = opened, workers
    images = ImageStore(uploads)
    # The first one that matches is taken, so the usual requests come first.
    for router in (
        topics.router,
        files.make_server_router(opened, access, limits),
        files.make_files_router(opened, uploads, images, access),
        files.make_tables_router(TableStore(uploads, limits)),
        files.make_images_router(images),
    ):
        app.include_router(router)
    for path in (HOME, *FILE_PAGES):
        app.add_api_route(path, _send_page, include_in_schema=False)
    app.mount(STATIC, StaticFiles(directory=STATIC_FILES))
    handle_errors(app)
    app.add_middleware(GZipMiddleware, minimum_size=_MIN_COMPRESSED, compresslevel=_COMPRESSION_LEVEL)
    app.add_middleware(Guard, access=access)
    return app


async def _send_page(request: Request) -> Response:
    return FileResponse(STATIC_FILES / ("index.html" if get_path(request.scope) == HOME else "files.html"))

"""The ASGI app: routes, middleware, workers and open indexes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic

from fastapi import FastAPI

from mixsearch import __version__
from mixsearch.index import TopicIndex
from mixsearch.web.builds import Builder
from mixsearch.web.errors import handle_errors
from mixsearch.web.file_store import FileStore
from mixsearch.web.image_store import ImageStore
from mixsearch.web.indexes import ServedIndex, load_stop_words
from mixsearch.web.middleware import AccessMiddleware, CompressionMiddleware, TimeoutMiddleware
from mixsearch.web.openapi import describe_properties, name_operation
from mixsearch.web.routes import compare, groups, images, pages, server, tables, topics, uploads
from mixsearch.web.settings import STATIC, Access, Limits
from mixsearch.web.static_files import StaticFiles
from mixsearch.web.table_store import TableStore
from mixsearch.web.watch import watch_indexes
from mixsearch.web.workers import Workers


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
    files = FileStore(limits)
    workers = Workers(limits, {name: str(index.path) for name, index in indexes.items()})

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        workers.warm_up()
        warming = asyncio.create_task(asyncio.to_thread(load_stop_words, list(app.state.indexes.values())))
        watch = asyncio.create_task(watch_indexes(app.state.indexes))
        yield
        warming.cancel()
        watch.cancel()
        builder.close()
        workers.close()
        files.close()

    app = FastAPI(
        title="mixsearch",
        version=__version__,
        summary="Find one topic from a word, one segment from a pixel.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load scripts from other hosts
        redoc_url=None,
        generate_unique_id_function=name_operation,
        lifespan=lifespan,
    )
    app.state.indexes = {name: ServedIndex(name, index) for name, index in indexes.items()}
    app.state.workers, app.state.limits, app.state.access = workers, limits, access
    app.state.start_time = monotonic()
    builder = Builder(files, app.state.indexes, limits)
    # The first one that matches is taken, so the usual requests come first.
    for router in (topics.router, pages.router, server.router, compare.router, groups.router):
        app.include_router(router)
    app.include_router(uploads.make_router(files, builder))
    app.include_router(tables.make_router(TableStore(files, limits), workers.tables))
    app.include_router(images.make_router(ImageStore(limits), limits, workers.images))
    app.mount(STATIC, StaticFiles())
    handle_errors(app)
    describe_properties(app)
    app.add_middleware(CompressionMiddleware)
    app.add_middleware(TimeoutMiddleware, limits=limits)
    app.add_middleware(AccessMiddleware, access=access)
    return app

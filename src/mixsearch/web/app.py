"""The ASGI app: routes, middleware, workers and open indexes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from mixsearch import __version__
from mixsearch.topics.index import TopicIndex
from mixsearch.web.builds import Builder
from mixsearch.web.errors import handle_errors
from mixsearch.web.files import FileStore
from mixsearch.web.image_store import ImageStore
from mixsearch.web.indexes import ServedIndex, watch_indexes
from mixsearch.web.limits import LimitsMiddleware
from mixsearch.web.page import add_pages
from mixsearch.web.routes import images, server, tables, topics, uploads
from mixsearch.web.security import AccessMiddleware
from mixsearch.web.settings import Access, Limits
from mixsearch.web.table_store import TableStore
from mixsearch.web.workers import Workers

# The sections of a docstring that describe fields.
_FIELDS = re.compile(r"\n\n(?:Parameters|Attributes)\n-+\n")
# One or several names, their type, and the indented lines below.
_ENTRY = re.compile(r"^(\w[\w, ]*) : (.*)\n((?:    .*\n?)+)", re.MULTILINE)
# Attributes that a class computes itself are in its answers, but not in its signature.
_COMPUTED = {"bool": {"type": "boolean"}}

# Smaller answers are sent as they are; a higher level takes longer than it saves.
_MIN_COMPRESSED, _COMPRESSION_LEVEL = 1000, 4


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
        served = list(app.state.indexes.values())
        warming = asyncio.create_task(asyncio.to_thread(lambda: [index.warm_up() for index in served]))
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
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan,
    )
    app.state.indexes = {name: ServedIndex(name, index) for name, index in indexes.items()}
    app.state.workers, app.state.limits, app.state.access = workers, limits, access
    app.state.start_time = monotonic()
    builder = Builder(files, app.state.indexes, limits)
    # The first one that matches is taken, so the usual requests come first.
    for router in (topics.router, server.router):
        app.include_router(router)
    app.include_router(uploads.make_router(files, builder))
    app.include_router(tables.make_router(TableStore(files, limits), workers.tables))
    app.include_router(images.make_router(ImageStore(limits), limits, workers.images))
    add_pages(app)
    handle_errors(app)
    _describe_properties(app)
    app.add_middleware(GZipMiddleware, minimum_size=_MIN_COMPRESSED, compresslevel=_COMPRESSION_LEVEL)
    app.add_middleware(AccessMiddleware, access=access)
    app.add_middleware(LimitsMiddleware, limits=limits)
    return app


def _describe_properties(app: FastAPI) -> None:
    """Move the descriptions of fields in docstrings to their properties in OpenAPI."""
    make_schema = app.openapi

    def make_described() -> dict[str, Any]:
        schema = make_schema()
        for component in schema["components"]["schemas"].values():
            _move_descriptions(component)
        return schema

    app.openapi = make_described  # type: ignore[method-assign]


def _move_descriptions(component: dict[str, Any]) -> None:
    summary, *sections = _FIELDS.split(component.get("description", ""))
    if not sections:
        return
    component["description"] = summary
    properties = component["properties"]
    for names, kind, text in _ENTRY.findall("\n".join(sections)):
        for name in names.split(", "):
            properties[name] = properties.get(name, _COMPUTED.get(kind, {})) | {"description": " ".join(text.split())}

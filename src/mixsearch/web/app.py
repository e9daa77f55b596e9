"""The app: routes, limits and the gate, around indexes that are open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from fastapi import APIRouter, FastAPI
from starlette.staticfiles import StaticFiles

from mixsearch import __version__
from mixsearch.index import TopicIndex
from mixsearch.web import pictures, several, topics
from mixsearch.web.answering import Answering
from mixsearch.web.failures import RESPONSES, answer_failures
from mixsearch.web.gallery import Gallery
from mixsearch.web.gate import Gate
from mixsearch.web.pages import STATIC, STATIC_FILES, page_router
from mixsearch.web.patience import Patience
from mixsearch.web.served import Served
from mixsearch.web.settings import Access, Limits


@dataclass(frozen=True)
class Health:
    """Whether the server answers, and what it serves."""

    status: str
    version: str
    indexes: list[str]
    uptime: float  # in seconds


def make_app(
    indexes: Mapping[str, TopicIndex], *, limits: Limits | None = None, access: Access | None = None
) -> FastAPI:
    """The page and its API as an ASGI app, for `mixsearch serve` or a server of your own.

    Parameters
    ----------
    indexes : mapping of str to TopicIndex
        Under the names that addresses have them by.
    limits : Limits, optional
        Sizes and times.
    access : Access, optional
        Who may ask; by default everyone who reaches the server by its address.
    """
    limits, access = limits or Limits(), access or Access()
    answering = Answering(limits, {name: str(index.path) for name, index in indexes.items()})

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        answering.get_ready()
        yield
        answering.close()

    app = FastAPI(
        title="mixsearch",
        version=__version__,
        summary="Find one topic from a word, one segment from a pixel.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page is loaded from other hosts
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.served = {name: Served(name, index) for name, index in indexes.items()}
    app.state.answering = answering
    app.include_router(page_router())
    app.include_router(health_router(list(indexes)))
    app.include_router(several.router)
    app.include_router(topics.router)
    app.include_router(pictures.make_router(Gallery(limits), limits, answering.pictures))
    app.mount(STATIC, StaticFiles(directory=STATIC_FILES))
    answer_failures(app)
    app.add_middleware(Patience, limits=limits)
    app.add_middleware(Gate, access=access)
    return app


def health_router(names: list[str]) -> APIRouter:
    """The route by which others see whether the server is alive."""
    router = APIRouter(prefix="/api", tags=["server"], responses=RESPONSES)
    start = monotonic()

    @router.get("/health", response_model=Health)
    async def tell_health() -> Health:
        """Whether the server answers."""
        return Health("ok", __version__, names, monotonic() - start)

    return router

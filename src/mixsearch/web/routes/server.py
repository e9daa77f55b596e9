"""Routes about the server itself: health and settings."""

from __future__ import annotations

from time import monotonic

from fastapi import APIRouter, Request

from mixsearch import __version__
from mixsearch.web.errors import RESPONSES
from mixsearch.web.files import SUFFIXES
from mixsearch.web.image_schemas import MAX_NAME_LENGTH
from mixsearch.web.image_store import EXAMPLE, FORMATS
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.schemas import MAX_QUERY_LENGTH, Health, IndexState, Settings
from mixsearch.web.settings import Limits

router = APIRouter(prefix="/api", tags=["server"], responses=RESPONSES)


@router.get("/health")
async def get_health(request: Request) -> Health:
    """Return the state of the server."""
    state = request.app.state
    return Health(
        status="degraded" if any(served.trouble for served in state.indexes.values()) else "ok",
        version=__version__,
        indexes=list(state.indexes),
        states={name: _describe(served) for name, served in state.indexes.items()},
        uptime=monotonic() - state.start_time,
    )


def _describe(served: ServedIndex) -> IndexState:
    return IndexState(
        generation=served.generation,
        created=served.index.created,
        n_documents=served.index.n_documents,
        problem=served.trouble,
    )


@router.get("/settings")
async def get_settings(request: Request) -> Settings:
    """Return the limits that a client should know."""
    limits: Limits = request.app.state.limits
    return Settings(
        max_query_length=MAX_QUERY_LENGTH,
        max_name_length=MAX_NAME_LENGTH,
        max_upload=limits.max_upload,
        accepts_files=request.app.state.access.files,
        max_file=limits.max_file,
        file_suffixes=list(SUFFIXES),
        max_pixels=limits.max_pixels,
        image_formats=list(FORMATS),
        example_image=EXAMPLE,
    )

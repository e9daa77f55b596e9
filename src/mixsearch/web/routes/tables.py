"""Routes of tables: rows in a plane, and the rows that are like some of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from mixsearch.web.errors import RESPONSES
from mixsearch.web.files import strip_suffixes
from mixsearch.web.routes.topics import encode_json, make_csv_response, make_json_response
from mixsearch.web.schemas import MAX_COLUMN_LENGTH
from mixsearch.web.table_schemas import (
    MembersAnswer,
    MembersRequest,
    RowsRequest,
    TableInfo,
    TablePoints,
    TableRows,
)
from mixsearch.web.table_store import TableStore
from mixsearch.web.workers import WorkerPool

Key = Annotated[str, Path(description="The name that the upload returned, or `example`.", max_length=100)]
Column = Annotated[str, Query(max_length=MAX_COLUMN_LENGTH, description="A column of numbers or dates.")]
Members = Annotated[MembersRequest, Query()]
_CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}}}}


def make_router(store: TableStore, pool: WorkerPool) -> APIRouter:
    """Return the routes of tables."""
    router = APIRouter(prefix="/api/tables/{table}", tags=["tables"], responses=RESPONSES)
    _add_rows(router, store, pool)
    _add_answers(router, store, pool)
    _add_files(router, store, pool)
    return router


def _load_answers() -> Any:
    """Import what searches in tables, which a server without tables does without."""
    from mixsearch.web import table_answers

    return table_answers


async def _send(pool: WorkerPool, make: Callable[[Any], Any]) -> Response:
    def encode() -> bytes:
        answers = _load_answers()
        return encode_json(answers.to_plain(make(answers)))

    return make_json_response(await pool.run(encode))


def _add_rows(router: APIRouter, store: TableStore, pool: WorkerPool) -> None:
    @router.get("", response_model=TableInfo)
    async def get_table(table: Key) -> TableInfo:
        """Return what a table contains."""
        return await pool.run(lambda: store.open(table).info)

    @router.get("/points", response_model=TablePoints)
    async def get_points(table: Key, x: Column, y: Column) -> Response:
        """Return rows in the plane of two columns."""
        return await _send(pool, lambda answers: answers.describe_points(store, table, x, y))

    @router.get("/rows", response_model=TableRows)
    async def list_rows(table: Key, request: Annotated[RowsRequest, Query()]) -> Response:
        """Return rows with their values: filtered, sorted, a page at a time."""
        return await _send(pool, lambda answers: answers.list_page(store, table, request))


def _add_answers(router: APIRouter, store: TableStore, pool: WorkerPool) -> None:
    @router.get("/members", response_model=MembersAnswer)
    async def find_members(table: Key, request: Members) -> Response:
        """Find the rows that are like some of them."""
        return await _send(pool, lambda answers: answers.describe_found_members(store, table, request))


def _add_files(router: APIRouter, store: TableStore, pool: WorkerPool) -> None:
    async def send_csv(table: str, make: Callable[[Any], Any]) -> Response:
        body = await pool.run(lambda: _encode_csv(make(_load_answers())))
        return make_csv_response(body, f"{strip_suffixes(store.open(table).name)}-labelled")

    @router.get("/members.csv", response_class=Response, responses=_CSV)
    async def download_members(table: Key, request: Members) -> Response:
        """Return the table with `score`, `membership` and `is_member`."""
        return await send_csv(table, lambda answers: answers.find_members(store, table, request)[0].to_frame())


def _encode_csv(table: Any) -> bytes:
    from mixsearch.io.tables import write_table

    with tempfile.TemporaryDirectory(prefix="mixsearch-") as folder:
        file = FilePath(folder, "labelled.csv")
        write_table(table, file)
        return file.read_bytes()

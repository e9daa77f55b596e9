"""Routes of several topics: comparison and map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from fastapi import Query as QueryParameter

from mixsearch.errors import SearchError
from mixsearch.index import Outcome, Query, TopicMap, assign_topics, compare_topics, map_topics, to_csv
from mixsearch.report import make_page, make_report
from mixsearch.web.errors import RESPONSES, describe_error
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.routes.topics import (
    Index,
    Pools,
    complete_request,
    encode_json,
    make_csv_response,
    make_file_response,
    make_headers,
    make_json_response,
    make_options,
    make_query,
    name_file,
)
from mixsearch.web.schemas import (
    MAX_COMPARED,
    Comparison,
    MapRequest,
    TopicRequest,
    parse_topic_request,
)

_LARGEST = 65535

router = APIRouter(prefix="/api/indexes/{index}", tags=["comparison"], responses=RESPONSES)

TopicList = Annotated[
    list[str],
    QueryParameter(
        alias="topic",
        min_length=1,
        max_length=MAX_COMPARED,
        description="Each is a query string of /topic: q=sushi&narrower=1",
    ),
]


@router.get("/compare", response_model=Comparison)
async def compare(index: Index, topics: TopicList, workers: Pools) -> Response:
    """Find several topics, and how much each pair has in common."""
    requests = _parse(index, topics)
    return make_json_response(await workers.call_cached(index, encode_comparison, requests, slow=True), index)


@router.get("/compare.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_comparison(index: Index, topics: TopicList, workers: Pools) -> Response:
    """Find several topics, and return them as a table with one fact per row."""
    requests = _parse(index, topics)
    body = await workers.call(index, encode_comparison_as_csv, requests, slow=True)
    return make_csv_response(body, name_file(index, "topics", requests), index)


@router.get("/report.html", response_class=Response, responses={200: {"content": {"text/html": {}}}})
async def download_report(index: Index, topics: TopicList, workers: Pools) -> Response:
    """Find several topics, and return a report on them: one HTML file that opens offline."""
    requests = _parse(index, topics)
    body = await workers.call_cached(index, encode_report, requests, slow=True)
    return make_file_response(body, "text/html", name_file(index, "report", requests), "html", index)


@router.get("/overview", response_model=TopicMap)
async def map_corpus(index: Index, request: Annotated[MapRequest, QueryParameter()], workers: Pools) -> Response:
    """Map the topics that a set of words finds."""
    return make_json_response(await workers.call_cached(index, encode_map, request, slow=True), index)


@router.get(
    "/overview/documents",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def map_documents(index: Index, request: Annotated[MapRequest, QueryParameter()], workers: Pools) -> Response:
    """Map the documents. The answer is little-endian binary numbers.

    First the number n of documents as uint32; then n rows as uint32, n times x and n times y as uint16, and n topics as
    uint8: indices in the topics of the overview, 255 for none.
    """
    body = await workers.call_cached(index, encode_document_map, request, slow=True)
    return Response(body, media_type="application/octet-stream", headers=make_headers(index))


def _parse(index: ServedIndex, topics: Sequence[str]) -> tuple[TopicRequest, ...]:
    return tuple(complete_request(index, parse_topic_request(topic)) for topic in topics)


def _answer_all(index: ServedIndex, requests: Sequence[TopicRequest]) -> list[Outcome]:
    queries = [make_query(request) for request in requests]  # all are checked before the first search
    return [_answer(index, query, request) for query, request in zip(queries, requests, strict=True)]


def _answer(index: ServedIndex, query: Query, request: TopicRequest) -> Outcome:
    try:
        return Outcome.from_found(index.find(query), make_options(request))
    except SearchError as error:
        return Outcome(query, error=error)


def encode_comparison(index: ServedIndex, requests: Sequence[TopicRequest]) -> bytes:
    """Return several topics as JSON."""
    outcomes = _answer_all(index, requests)
    comparison = {
        "topics": list(map(_describe, outcomes)),
        "overlaps": compare_topics(outcomes),
    }
    return encode_json(comparison)


def encode_comparison_as_csv(index: ServedIndex, requests: Sequence[TopicRequest]) -> bytes:
    """Return several topics as CSV."""
    errors = any(request.errors for request in requests)
    return to_csv(_answer_all(index, requests), errors=errors, for_spreadsheets=True).encode(errors="replace")


def encode_report(index: ServedIndex, requests: Sequence[TopicRequest]) -> bytes:
    """Return a report on several topics as HTML. Their documents are those that match the filter of the first one."""
    queries = [make_query(request) for request in requests]
    made = make_report(index.index, queries, title=index.name, where=requests[0].where)
    return make_page(made).encode("utf-8", "replace")


def encode_map(index: ServedIndex, request: MapRequest) -> bytes:
    """Return a map of topics as JSON."""
    words = list(request.words) or None
    return encode_json(map_topics(index.index, words, n=request.n, by=request.by).as_dict())


def encode_document_map(index: ServedIndex, request: MapRequest) -> bytes:
    """Return a map of documents as little-endian numbers.

    First their number n as uint32; then the n rows of the documents as uint32, n times x and n times y as uint16, from
    0 to 65535, and n topics as uint8: indices in the topics of the overview, 255 for none.
    """
    rows, points, step = index.document_points
    topics = assign_topics(index.index, list(request.words) or None, n=request.n, by=request.by, step=step)
    x, y = np.round(_LARGEST * points).astype("<u2").T
    return b"".join(each.tobytes() for each in (np.array(len(rows), "<u4"), rows.astype("<u4"), x, y, topics))


def _describe(outcome: Outcome) -> dict[str, Any]:
    if outcome.error is None:
        return outcome.as_dict()
    return {"hint": outcome.query.name, "error": describe_error(outcome.error).model_dump()}

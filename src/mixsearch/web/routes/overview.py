"""Routes of several topics: overview, maps of documents, shares over time and by group, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Response
from fastapi import Query as QueryParameter

from mixsearch.index.document_map import assign_topics
from mixsearch.index.groups import TopicGroups, group_topics, make_unique
from mixsearch.index.map import TopicMap, map_topics
from mixsearch.report.contents import make_report
from mixsearch.report.page import make_page
from mixsearch.topics.component import Topic
from mixsearch.web.errors import RESPONSES
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
    make_query,
    name_file,
)
from mixsearch.web.schemas import MAX_TOPICS, GroupsRequest, MapRequest, TopicRequest, parse_topic_request

_LARGEST = 65535

router = APIRouter(prefix="/api/indexes/{index}", tags=["overview"], responses=RESPONSES)

TopicList = Annotated[
    list[str],
    QueryParameter(
        alias="topic",
        min_length=1,
        max_length=MAX_TOPICS,
        description="Each is a query string of /topic: q=sushi&narrower=1",
    ),
]
GroupParameters = Annotated[GroupsRequest, QueryParameter()]
Topics = tuple[TopicRequest, ...]


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


@router.get("/topic/groups", response_model=TopicGroups)
async def group_documents(index: Index, request: GroupParameters, workers: Pools) -> Response:
    """Find several topics, and their shares over time or by group."""
    topics = _parse(index, request.topic)
    return make_json_response(await workers.call_cached(index, encode_groups, request, topics, slow=True), index)


@router.get("/topic/groups.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_groups(index: Index, request: GroupParameters, workers: Pools) -> Response:
    """Find several topics, and return their shares as a table with one row for each topic and group."""
    topics = _parse(index, request.topic)
    body = await workers.call(index, encode_groups_as_csv, request, topics, slow=True)
    return make_csv_response(body, index.name, index)


@router.get("/report.html", response_class=Response, responses={200: {"content": {"text/html": {}}}})
async def download_report(index: Index, topics: TopicList, workers: Pools) -> Response:
    """Find several topics, and return a report on them: one HTML file that opens offline."""
    requests = _parse(index, topics)
    body = await workers.call_cached(index, encode_report, requests, slow=True)
    return make_file_response(body, "text/html", name_file(index, "report", requests), "html", index)


def _parse(index: ServedIndex, topics: Sequence[str]) -> Topics:
    return tuple(complete_request(index, parse_topic_request(topic)) for topic in topics)


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


def _group(index: ServedIndex, request: GroupsRequest, topics: Topics) -> TopicGroups:
    found: dict[str, Topic] = {}
    for topic in topics:
        query = make_query(topic)
        found[make_unique(query.name, found)] = index.find(query).choose(topic.alternative)
    return group_topics(index.index, found, over=request.over, by=request.by, every=request.every, where=request.where)


def encode_groups(index: ServedIndex, request: GroupsRequest, topics: Topics) -> bytes:
    """Return topics in groups as JSON."""
    return encode_json(_group(index, request, topics).as_dict())


def encode_groups_as_csv(index: ServedIndex, request: GroupsRequest, topics: Topics) -> bytes:
    """Return topics in groups as CSV."""
    return _group(index, request, topics).to_csv(for_spreadsheets=True).encode(errors="replace")


def encode_report(index: ServedIndex, requests: Topics) -> bytes:
    """Return a report on several topics as HTML. Their documents are those that match the filter of the first one."""
    queries = [make_query(request) for request in requests]
    made = make_report(index.index, queries, title=index.name, where=requests[0].where)
    return make_page(made).encode("utf-8", "replace")

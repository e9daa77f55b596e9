"""Routes of groups of documents: topics over time and by group."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from fastapi import Query as QueryParameter

from mixsearch.index import TopicGroups, group_topics, make_unique
from mixsearch.topics import Topic
from mixsearch.web.errors import RESPONSES
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.routes.topics import (
    Index,
    Pools,
    complete_request,
    encode_json,
    make_csv_response,
    make_json_response,
    make_query,
)
from mixsearch.web.schemas import GroupsRequest, TopicRequest, parse_topic_request

router = APIRouter(prefix="/api/indexes/{index}", tags=["groups"], responses=RESPONSES)

GroupParameters = Annotated[GroupsRequest, QueryParameter()]
Topics = tuple[TopicRequest, ...]


@router.get("/topic/groups", response_model=TopicGroups)
async def group_documents(index: Index, request: GroupParameters, workers: Pools) -> Response:
    """Find several topics, and their shares over time or by group."""
    topics = _parse(index, request)
    return make_json_response(await workers.call_cached(index, encode_groups, request, topics, slow=True), index)


@router.get("/topic/groups.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_groups(index: Index, request: GroupParameters, workers: Pools) -> Response:
    """Find several topics, and return their shares as a table with one row for each topic and group."""
    topics = _parse(index, request)
    body = await workers.call(index, encode_groups_as_csv, request, topics, slow=True)
    return make_csv_response(body, index.name, index)


def _parse(index: ServedIndex, request: GroupsRequest) -> Topics:
    return tuple(complete_request(index, parse_topic_request(topic)) for topic in request.topic)


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

"""Routes of topics: search, documents, groups, completion, the map, judgements and saved searches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi import Query as QueryParameter

from mixsearch.errors import SearchError, StorageError
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.options import GroupOptions, Question, SearchOptions, list_options
from mixsearch.report import describe_index, encode_membership, keep_map, list_largest, make_report
from mixsearch.topics.answers import describe_columns, describe_topic, frame_documents
from mixsearch.topics.groups import make_unique
from mixsearch.topics.topic import Topic
from mixsearch.web.answers import describe_audit, describe_file, encode_csv, encode_json, make_response, name_file
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.indexes import ServedIndex, choose_index, get_newest
from mixsearch.web.schemas import (
    MAX_INTEGER,
    MAX_STATE,
    MAX_TOPICS,
    GroupsRequest,
    SavedList,
    TopicJudgements,
    TopicRequest,
    TopicsRequest,
    parse_topic_request,
)
from mixsearch.web.workers import Workers

# People read a document from its start; the rest of a book is left out.
MAX_TEXT = 200_000
_MAX_TITLE = 40

router = APIRouter(prefix="/api/indexes", tags=["topics"], responses=RESPONSES)


async def _choose_index(
    request: Request,
    index: Annotated[str, Path(description="The name of the index.", max_length=200)],
    if_match: Annotated[
        str | None, Header(description="The ETag of an answer: fail if the index has changed since.")
    ] = None,
) -> ServedIndex:
    return choose_index(request.app.state.indexes, index, if_match)


async def _get_workers(request: Request) -> Any:
    return request.app.state.workers


Index = Annotated[ServedIndex, Depends(_choose_index)]
Pool = Annotated[Workers, Depends(_get_workers)]
TopicParameters = Annotated[TopicRequest, QueryParameter()]
Topics = tuple[TopicRequest, ...]
Row = Annotated[int, Path(ge=0, le=MAX_INTEGER, description="The row of a document in the indexed files, from 0.")]


async def _send(
    workers: Workers, index: ServedIndex, make: Callable[..., Any], *arguments: Hashable, slow: bool = False
) -> Response:
    return make_response(await workers.call(index, make, *arguments, slow=slow), ETag=index.tag)


@router.get("")
async def list_indexes(request: Request) -> dict[str, list[dict[str, Any]]]:
    """List the indexes of the server: their sizes and columns."""
    indexes = request.app.state.indexes
    return {"indexes": [describe_index(get_newest(indexes, name).index, name) for name in indexes]}


@router.get("/{index}/words")
async def complete_word(
    index: Index,
    prefix: Annotated[str, QueryParameter(min_length=1, max_length=200, description="The first letters.")],
    n: Annotated[int, QueryParameter(ge=1, le=100, description="Maximum number of words.")] = 8,
) -> Response:
    """Return `words` that start with a prefix, the most frequent first."""
    # In the event loop: a lookup takes less time than handing it to a thread.
    words = [vars(word) for word in index.index.complete_word(prefix, n)]
    return make_response(encode_json({"words": words}), ETag=index.tag)


@router.get("/{index}/topic")
async def find_topic(index: Index, request: TopicParameters, workers: Pool) -> Response:
    """Find the topic that words, texts or documents mean: its words, documents and check."""
    return await _send(workers, index, describe_asked, complete_request(index, request))


@router.get("/{index}/topic.csv", response_class=Response, responses=describe_file("text/csv"))
async def download_topic(index: Index, request: TopicParameters, workers: Pool) -> Response:
    """Find a topic, and return all documents with their membership, best first."""
    body = await workers.call(index, encode_members, request, slow=True)
    file_name = name_file(f"{index.name}-{name_question(request)}", "csv")
    return make_response(body, "text/csv", ETag=index.tag, **file_name)


@router.get("/{index}/groups")
async def group_documents(index: Index, request: Annotated[GroupsRequest, QueryParameter()], workers: Pool) -> Response:
    """Find several topics, and their shares over time or by group."""
    topics = tuple(complete_request(index, parse_topic_request(topic)) for topic in request.topic)
    return await _send(workers, index, describe_groups, request, topics)


@router.get("/{index}/documents/{row}")
async def get_document(index: Index, row: Row, workers: Pool) -> Response:
    """Return one document with its `text` and `columns`."""
    return await _send(workers, index, describe_document, row)


@router.post("/{index}/audit")
async def judge_documents(index: Index, judged: TopicJudgements, request: TopicParameters, workers: Pool) -> Response:
    """Estimate precision, recall and the number of members from judged documents, and draw the next to judge.

    With a column, from ten judged documents on, its `groups` have intervals.
    """
    return await _send(workers, index, judge, request, judged.model_dump_json())


@router.get("/{index}/overview")
async def get_overview(
    index: Index, workers: Pool, n: Annotated[int, QueryParameter(ge=1, le=100, description="How many.")] = 5
) -> Response:
    """List the largest `topics`."""
    return await _send(workers, index, describe_overview, n, slow=True)


@router.get("/{index}/map", response_class=Response, responses=describe_file("application/octet-stream"))
async def map_documents(index: Index, workers: Pool) -> Response:
    """Place the documents in the plane: little-endian numbers, and words at the places of the largest topics.

    First the number n of documents as uint32; then n steps between rows as uint32, n times x (0 to 639) and n times y
    (0 to 319) as uint16; the words as JSON.
    """
    body = await workers.call(index, encode_places, slow=True)
    return make_response(body, "application/octet-stream", ETag=index.tag)


@router.get("/{index}/map/topics", response_class=Response, responses=describe_file("application/octet-stream"))
async def map_topics(index: Index, request: Annotated[TopicsRequest, QueryParameter()], workers: Pool) -> Response:
    """Return which documents of the map are members, for one topic after the other: a bit each, the lowest first."""
    topics = [parse_topic_request(topic) for topic in request.topic]
    bodies = await asyncio.gather(*(workers.call(index, encode_levels, topic) for topic in topics))
    return make_response(b"".join(bodies), "application/octet-stream", ETag=index.tag)


@router.get("/{index}/share.html", response_class=Response, responses=describe_file("text/html"))
async def share_page(
    index: Index,
    workers: Pool,
    state: Annotated[str, QueryParameter(max_length=MAX_STATE, description="The query string of the page.")],
) -> Response:
    """Return the page in a state, with its data inside: one file that opens offline."""
    query = parse_qs(state.removeprefix("?"))
    topics = tuple(parse_topic_request(topic) for topic in query.get("t", [])[:MAX_TOPICS])
    by, where = (query.get(name, [None])[0] for name in ("by", "where"))
    body = await workers.call(index, encode_report, topics, by, where, slow=True)
    return make_response(body, "text/html", ETag=index.tag, **name_file(index.name, "html"))


@router.get("/{index}/saved")
async def get_saved(index: Index) -> SavedList:
    """Return the searches that were saved beside the index; none from a file that cannot be read."""
    try:
        return SavedList.model_validate_json(index.saved_path.read_bytes())
    except (OSError, ValueError):
        return SavedList(saved=[])


@router.put("/{index}/saved", status_code=204, response_model=None)
async def put_saved(index: Index, saved: SavedList) -> None:
    """Replace the searches that are saved beside the index."""
    path = index.saved_path
    with explain_os_errors("write to", path), write_atomically(path) as temporary:
        temporary.write_text(saved.model_dump_json(indent=1), encoding="utf-8")


def complete_request(index: ServedIndex, request: TopicRequest) -> TopicRequest:
    """Return the request with its last word completed, if it asks for that."""
    if not request.complete or request.q is None:
        return request
    completed: TopicRequest = request.model_copy(update={"q": index.index.complete_query(request.q), "complete": False})
    return completed


def name_question(request: TopicRequest) -> str:
    """Return what a request is called."""
    if request.q:
        return request.q.strip()
    if request.text:
        return " ".join(request.text[0].split())[:_MAX_TITLE]
    return f"document {', '.join(map(str, request.documents))}"


def make_question(request: TopicRequest) -> Question:
    """Return the question of a request."""
    return Question(
        name_question(request),
        words=request.q or None,
        text=request.text or None,
        **{each.name: getattr(request, each.name) for each, _ in list_options(SearchOptions)},
    )


def find(index: ServedIndex, request: TopicRequest) -> Topic:
    """Find the topic of a request, or return it from the cache."""
    return index.find(make_question(request))


# ---- In a worker ----


def describe_asked(index: ServedIndex, request: TopicRequest) -> dict[str, Any]:
    """Return the answer to a request."""
    sizes = {name: getattr(request, name) for name in ("n_words", "n_documents", "skip")}
    return describe_topic(index.index, find(index, request), name=name_question(request), **sizes)


def encode_members(index: ServedIndex, request: TopicRequest) -> bytes:
    """Return all documents with their membership as CSV."""
    return encode_csv(frame_documents(index.index, {"membership": find(index, request)}, is_sorted=True))


def describe_groups(index: ServedIndex, request: GroupsRequest, topics: Topics) -> dict[str, Any]:
    """Return topics in groups."""
    named: dict[str, Topic] = {}
    for topic in topics:
        named[make_unique(name_question(topic), named)] = find(index, topic)
    return group(index, request, named)


def group(index: ServedIndex, request: GroupsRequest | TopicJudgements, topics: dict[str, Topic]) -> dict[str, Any]:
    """Count topics in the groups that a request names."""
    options = {each.name: getattr(request, each.name) for each, _ in list_options(GroupOptions)}
    return index.index.group(topics, where=request.where or None, **options).to_dict()


def judge(index: ServedIndex, request: TopicRequest, body: str) -> dict[str, Any]:
    """Return what judged documents say, and the next to judge."""
    judged, topic = TopicJudgements.model_validate_json(body), replace(find(index, request))
    answer = describe_audit(topic, judged)
    return answer | ({"groups": group(index, judged, {"": topic})} if judged.over or judged.by else {})


def describe_overview(index: ServedIndex, n: int) -> dict[str, Any]:
    """Return the largest topics."""
    return {"topics": list_largest(index.index, n)}


def encode_places(index: ServedIndex) -> bytes:
    """Return the map of the documents as numbers."""
    return keep_map(index.index)


def encode_levels(index: ServedIndex, request: TopicRequest) -> bytes:
    """Return which documents of the map are members, as bits."""
    return encode_membership(find(index, request))


def encode_report(index: ServedIndex, topics: Topics, by: str | None, where: str | None) -> bytes:
    """Return the page with topics inside, as one file."""
    questions = [make_question(topic) for topic in topics]
    return make_report(index.index, questions, title=index.name, by=by, where=where).html.encode("utf-8", "replace")


def describe_document(index: ServedIndex, row: int) -> dict[str, Any]:
    """Return one document with its text and columns."""
    try:
        (document,) = index.index.documents([row])
    except StorageError:
        raise
    except SearchError as error:
        raise APIError("not_found", "{reason}", reason=str(error), row=row) from error
    text, is_cut = document.text[:MAX_TEXT], len(document.text) > MAX_TEXT
    facts = {"row": row, "name": document.name, "text": text, "is_cut": is_cut}
    return facts | describe_columns(index.index, document.columns)

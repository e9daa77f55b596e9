"""Routes of topics: search, documents, groups, completion, the map, judgements and saved searches."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Body, Depends, Header, Path, Request, Response
from fastapi import Query as QueryParameter

from mixsearch.errors import SearchError, StorageError
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.options import Question, SearchOptions, list_options
from mixsearch.report import encode_membership, encode_places, list_labels, make_report
from mixsearch.topics.answers import describe_columns, describe_topic, frame_documents
from mixsearch.topics.groups import TopicGroups, make_unique
from mixsearch.topics.overview import list_topics
from mixsearch.topics.topic import Topic
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.indexes import ServedIndex, check_tag, choose_index
from mixsearch.web.schemas import (
    MAX_INTEGER,
    MAX_SAVED,
    MAX_STATE,
    MAX_TOPICS,
    FullDocument,
    GroupsRequest,
    IndexInfo,
    IndexList,
    Judgements,
    MapRequest,
    SavedList,
    TextHint,
    TopicRequest,
    WordList,
    parse_topic_request,
)
from mixsearch.web.workers import Workers

# People read a document from its start; the rest of a book is left out.
MAX_TEXT = 200_000
_MAX_TITLE, _MAX_FILE_NAME = 40, 100
CACHE_HEADERS = {"Cache-Control": "private, max-age=60"}
_BINARY: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}

router = APIRouter(prefix="/api/indexes", tags=["topics"], responses=RESPONSES)


async def _choose_index(
    request: Request,
    index: Annotated[str, Path(description="The name of the index.", max_length=200)],
    if_match: Annotated[
        str | None,
        Header(description="The ETag of an answer: fail if the index has changed since."),
    ] = None,
) -> ServedIndex:
    chosen = choose_index(request.app.state.indexes, index)
    if if_match is not None:
        check_tag(chosen, if_match)
    return chosen


async def _get_workers(request: Request) -> Workers:
    workers: Workers = request.app.state.workers
    return workers


Index = Annotated[ServedIndex, Depends(_choose_index)]
Pools = Annotated[Workers, Depends(_get_workers)]
TopicParameters = Annotated[TopicRequest, QueryParameter()]
GroupParameters = Annotated[GroupsRequest, QueryParameter()]
Topics = tuple[TopicRequest, ...]
Row = Annotated[int, Path(ge=0, le=MAX_INTEGER, description="The row of a document in the indexed files, from 0.")]


@router.get("")
async def list_indexes(request: Request) -> IndexList:
    """List the indexes of the server."""
    return IndexList(indexes=[served.info for served in request.app.state.indexes.values()])


@router.get("/{index}")
async def get_index(index: Index) -> IndexInfo:
    """Return what an index contains."""
    return index.info


@router.get("/{index}/words", response_model=WordList)
async def complete_word(
    index: Index,
    prefix: Annotated[str, QueryParameter(min_length=1, max_length=200, description="The first letters.")],
    n: Annotated[int, QueryParameter(ge=1, le=100, description="Maximum number of words.")] = 8,
) -> Response:
    """Return words that start with a prefix, the most frequent first."""
    # In the event loop: a lookup takes less time than handing it to a thread.
    words = [vars(word) for word in index.complete_word(prefix, n)]
    return make_json_response(encode_json({"words": words}), index)


@router.get("/{index}/topic")
async def find_topic(index: Index, request: TopicParameters, workers: Pools) -> Response:
    """Find the topic that words or documents mean."""
    return make_json_response(await _answer(workers, index, encode_topic, request), index)


@router.get("/{index}/topic.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_topic(index: Index, request: TopicParameters, workers: Pools) -> Response:
    """Find a topic, and return all documents with their membership, best first."""
    body = await workers.call(index, encode_members, request, slow=True)
    return make_file_response(body, "text/csv", name_file(index, request), "csv", index)


@router.post("/{index}/topic")
async def find_topic_of_texts(index: Index, hint: TextHint, request: TopicParameters, workers: Pools) -> Response:
    """Find the topic of texts."""
    texts = tuple(hint.text)
    body = await workers.call(index, encode_topic, request, texts, affinity=texts)
    return make_json_response(body, index)


@router.get("/{index}/groups")
async def group_documents(index: Index, request: GroupParameters, workers: Pools) -> Response:
    """Find several topics, and their shares over time or by group."""
    topics = tuple(complete_request(index, parse_topic_request(topic)) for topic in request.topic)
    return make_json_response(await workers.call_cached(index, encode_groups, request, topics), index)


@router.get("/{index}/documents/{row}", response_model=FullDocument)
async def get_document(index: Index, row: Row, workers: Pools) -> Response:
    """Return one document."""
    # By a worker: a fault of the disk costs one answer there, and the server here.
    return make_json_response(await workers.call(index, encode_document, row), index)


@router.post("/{index}/audit")
async def judge_documents(
    index: Index, judgements: Annotated[Judgements, Body()], request: TopicParameters, workers: Pools
) -> Response:
    """Estimate precision, recall and the number of members from judged documents, and draw the next to judge."""
    body = await workers.call(index, encode_audit, request, judgements)
    return make_json_response(body, index)


@router.get("/{index}/overview")
async def get_overview(
    index: Index, workers: Pools, n: Annotated[int, QueryParameter(ge=1, le=100, description="How many.")] = 5
) -> Response:
    """List the largest topics."""
    return make_json_response(await workers.call_cached(index, encode_overview, n, slow=True), index)


@router.get("/{index}/map", response_class=Response, responses=_BINARY)
async def map_documents(index: Index, workers: Pools) -> Response:
    """Place the documents in the plane: little-endian numbers.

    First the number n of documents as uint32; then n rows as uint32, n times x and n times y as uint16.
    """
    body = await workers.call_cached(index, encode_map, slow=True)
    return Response(body, media_type="application/octet-stream", headers=make_headers(index))


@router.get("/{index}/map/topic", response_class=Response, responses=_BINARY)
async def map_topic(index: Index, request: Annotated[MapRequest, QueryParameter()], workers: Pools) -> Response:
    """Return the membership of the documents of the map in one topic after the other, as uint8 from 0 to 255."""
    topics = [parse_topic_request(topic) for topic in request.topic] or [request]
    bodies = await asyncio.gather(*(_answer(workers, index, encode_mapped_topic, topic) for topic in topics))
    return Response(b"".join(bodies), media_type="application/octet-stream", headers=make_headers(index))


@router.get("/{index}/map/labels")
async def label_map(index: Index, workers: Pools) -> Response:
    """Return words at the places of the largest topics on the map."""
    return make_json_response(await workers.call_cached(index, encode_labels, slow=True), index)


@router.get("/{index}/share.html", response_class=Response, responses={200: {"content": {"text/html": {}}}})
async def share_page(
    index: Index,
    workers: Pools,
    state: Annotated[str, QueryParameter(max_length=MAX_STATE, description="The query string of the page.")],
) -> Response:
    """Return the page in a state, with its data inside: one file that opens offline."""
    query = parse_qs(state.removeprefix("?"))
    topics = tuple(parse_topic_request(topic) for topic in query.get("t", [])[:MAX_TOPICS])
    by, where = (query.get(name, [None])[0] for name in ("by", "where"))
    body = await workers.call(index, encode_report, topics, by, where, slow=True)
    return make_file_response(body, "text/html", index.name, "html", index)


@router.get("/{index}/saved")
async def get_saved(index: Index) -> SavedList:
    """Return the searches that were saved beside the index."""
    return read_saved(index)


@router.put("/{index}/saved", status_code=204, response_class=Response)
async def put_saved(index: Index, saved: SavedList) -> None:
    """Replace the searches that are saved beside the index."""
    write_saved(index, saved)


async def _answer(
    workers: Workers, index: ServedIndex, encode: Callable[[ServedIndex, Any], bytes], request: TopicRequest
) -> bytes:
    completed = complete_request(index, request)
    # What determines the topic found: the worker that has found it has it in its cache.
    affinity = completed.model_copy(update={"n_words": 0, "n_documents": 0, "skip": 0})
    return await workers.call_cached(index, encode, completed, affinity=affinity)


def complete_request(index: ServedIndex, request: TopicRequest) -> TopicRequest:
    """Return the request with its last word completed, if it asks for that."""
    if not request.complete or request.q is None:
        return request
    completed: TopicRequest = request.model_copy(update={"q": index.index.complete_query(request.q), "complete": False})
    return completed


def make_question(request: TopicRequest, texts: Sequence[str] = ()) -> Question:
    """Return the question of a request."""
    return Question(
        _name_question(request, texts),
        words=request.q or None,
        text=tuple(texts) or None,
        **{each.name: getattr(request, each.name) for each, _ in list_options(SearchOptions)},
    )


def _name_question(request: TopicRequest, texts: Sequence[str]) -> str:
    if request.q:
        return request.q.strip()
    if texts:
        return " ".join(texts[0].split())[:_MAX_TITLE]
    return f"document {', '.join(map(str, request.documents))}"


def find(index: ServedIndex, request: TopicRequest, texts: Sequence[str] = ()) -> Topic:
    """Find the topic of a request, or return it from the cache."""
    return index.find(make_question(request, texts))


def encode_topic(index: ServedIndex, request: TopicRequest, texts: tuple[str, ...] = ()) -> bytes:
    """Return the answer to a request as JSON."""
    topic, sizes = find(index, request, texts), {"n_words": request.n_words, "n_documents": request.n_documents}
    name = _name_question(request, texts)
    return encode_json(describe_topic(index.index, topic, name=name, skip=request.skip, **sizes))


def encode_members(index: ServedIndex, request: TopicRequest) -> bytes:
    """Return all documents with their membership as CSV."""
    from io import BytesIO

    from mixsearch.io.tables import quote_formulas

    frame = frame_documents(index.index, {"membership": find(index, request)}, is_sorted=True)
    buffer = BytesIO()
    quote_formulas(frame).write_csv(buffer)
    return buffer.getvalue()


def encode_groups(index: ServedIndex, request: GroupsRequest, topics: Topics) -> bytes:
    """Return topics in groups as JSON."""
    named: dict[str, Topic] = {}
    for topic in topics:
        named[make_unique(_name_question(topic, ()), named)] = find(index, topic)
    groups: TopicGroups = index.index.group(
        named, over=request.over, by=request.by, every=request.every, where=request.where or None
    )
    return encode_json(groups.to_dict())


def encode_audit(index: ServedIndex, request: TopicRequest, judgements: Judgements) -> bytes:
    """Return what judged documents say, and the next to judge, as JSON."""
    topic = replace(find(index, request))  # without the judgements of others
    result = topic.judge(judgements.judgements) if judgements.judgements else None
    following = topic.audit(judgements.n).tolist() if judgements.n else []
    numbers = {
        name: None if result is None else list(getattr(result, name)) for name in ("n_members", "precision", "recall")
    }
    n_judged, sentence = (0, "") if result is None else (result.n_judged, str(result))
    return encode_json({"n_judged": n_judged, **numbers, "next": following, "sentence": sentence})


def encode_overview(index: ServedIndex, n: int) -> bytes:
    """Return the largest topics as JSON, those first that are strong."""
    largest = list_topics(index.index, 4 * n)
    topics = sorted(largest, key=lambda topic: topic.match != "strong")[:n]
    total = index.index.n_documents
    listed = [
        {"hint": topic.hints[0], "words": topic.words, "n_members": topic.n_members, "share": topic.n_members / total}
        for topic in topics
    ]
    return encode_json({"topics": listed})


def encode_map(index: ServedIndex) -> bytes:
    """Return the places of documents as little-endian numbers."""
    return encode_places(index.index, index.document_points)


def encode_mapped_topic(index: ServedIndex, request: TopicRequest) -> bytes:
    """Return the membership of the documents of the map as bytes."""
    return encode_membership(find(index, request), index.document_points)


def encode_labels(index: ServedIndex) -> bytes:
    """Return words at the places of the largest topics as JSON."""
    return encode_json({"labels": list_labels(index.index, index.document_points)})


def encode_report(index: ServedIndex, topics: Topics, by: str | None, where: str | None) -> bytes:
    """Return the page with topics inside, as one file."""
    questions = [make_question(topic) for topic in topics]
    return make_report(index.index, questions, title=index.name, by=by, where=where).html.encode("utf-8", "replace")


def encode_document(index: ServedIndex, row: int) -> bytes:
    """Return one document as JSON."""
    try:
        (document,) = index.index.documents([row])
    except StorageError:
        raise
    except SearchError as error:
        raise APIError("not_found", "{reason}", reason=str(error), row=row) from error
    text = document.text
    is_cut = len(text) > MAX_TEXT
    facts = {"row": row, "name": document.name, "text": text[:MAX_TEXT], "is_cut": is_cut}
    return encode_json(facts | describe_columns(index.index, document.columns))


def read_saved(index: ServedIndex) -> SavedList:
    """Return the searches that were saved beside an index; none from a file that cannot be read."""
    try:
        return SavedList.model_validate_json(index.saved_path.read_bytes())
    except (OSError, ValueError):
        return SavedList(saved=[])


def write_saved(index: ServedIndex, saved: SavedList) -> None:
    """Save searches beside an index."""
    if len(saved.saved) > MAX_SAVED:
        raise APIError("bad_request", "At most {maximum} searches are saved.", maximum=MAX_SAVED)
    path = index.saved_path
    with explain_os_errors("write to", path), write_atomically(path) as temporary:
        temporary.write_text(saved.model_dump_json(indent=1), encoding="utf-8")


def encode_json(value: Any) -> bytes:
    """Return a value as JSON; a lone surrogate, as broken files contain, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def make_json_response(body: bytes, index: ServedIndex | None = None) -> Response:
    """Return a response with a JSON body, and the state of the index that it is about."""
    return Response(body, media_type="application/json", headers=make_headers(index))


def make_csv_response(body: bytes, name: str) -> Response:
    """Return a response with a CSV body that browsers save as a file."""
    return make_file_response(body, "text/csv", name, "csv")


def make_file_response(
    body: bytes, media_type: str, name: str, suffix: str, index: ServedIndex | None = None
) -> Response:
    """Return a response that browsers save as a file, under a name that any system takes."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_MAX_FILE_NAME] or "mixsearch"
    ascii_name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-.") or "mixsearch"
    disposition = (
        f"attachment; filename=\"{ascii_name}.{suffix}\"; filename*=UTF-8''{quote(plain, errors='replace')}.{suffix}"
    )
    return Response(body, media_type=media_type, headers=make_headers(index) | {"Content-Disposition": disposition})


def make_headers(index: ServedIndex | None) -> dict[str, str]:
    """Return how long an answer may be kept, and the state of the index that it is about."""
    return CACHE_HEADERS if index is None else CACHE_HEADERS | {"ETag": index.tag}


def name_file(index: ServedIndex, request: TopicRequest) -> str:
    """Return a descriptive file name: the index, and the words of the topic."""
    return f"{index.name}-{_name_question(request, ())}"

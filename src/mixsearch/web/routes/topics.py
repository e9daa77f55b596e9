"""Routes of one topic: search, documents and completion."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi import Query as QueryParameter

from mixsearch.errors import HintError, SearchError, StorageError
from mixsearch.index.answer import Answer, AnswerOptions
from mixsearch.index.compare import Outcome
from mixsearch.index.description import describe, describe_columns
from mixsearch.index.query import Query
from mixsearch.index.tables import to_csv
from mixsearch.topics.hint import parse_words
from mixsearch.web.errors import RESPONSES, APIError
from mixsearch.web.indexes import ServedIndex, check_tag, choose_index
from mixsearch.web.schemas import (
    MAX_SKIPPED,
    MAX_WORDS,
    ROW,
    DocumentPage,
    DocumentsRequest,
    FullDocument,
    IndexInfo,
    IndexList,
    TextHint,
    TopicRequest,
    WordList,
)
from mixsearch.web.workers import Workers

# People read a document from its start; the rest of a book is left out.
MAX_TEXT = 200_000
_MAX_TITLE, _MAX_FILE_NAME = 40, 100
CACHE_HEADERS = {"Cache-Control": "private, max-age=60"}

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


@router.get("")
async def list_indexes(request: Request) -> IndexList:
    """List the indexes of the server."""
    return IndexList(indexes=[each.info for each in request.app.state.indexes.values()])


@router.get("/{index}")
async def get_index(index: Index) -> IndexInfo:
    """Return what an index contains."""
    return index.info


@router.get("/{index}/words", response_model=WordList)
async def complete_word(
    index: Index,
    prefix: Annotated[str, QueryParameter(max_length=200, description="The first letters.")] = "",
    n: Annotated[int, QueryParameter(ge=1, le=100, description="Maximum number of words.")] = 8,
) -> Response:
    """Return words that start with a prefix, the most frequent first; without a prefix, words to start with."""
    # In the event loop: a lookup takes less time than handing it to a thread.
    words = [vars(word) for word in index.complete_word(prefix, n)]
    return make_json_response(encode_json({"words": words}), index)


@router.get("/{index}/topic", response_model=Answer)
async def find_topic(index: Index, request: TopicParameters, workers: Pools) -> Response:
    """Find the topic that words or documents mean."""
    return make_json_response(await _answer(workers, index, encode_topic, request), index)


@router.get("/{index}/topic.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_topic(index: Index, request: TopicParameters, workers: Pools) -> Response:
    """Find a topic, and return it as a table with one fact per row."""
    body = await _answer(workers, index, encode_topic_as_csv, request)
    return make_csv_response(body, name_file(index, "topic", [request]), index)


@router.post("/{index}/topic", response_model=Answer)
async def find_topic_of_texts(index: Index, hint: TextHint, request: TopicParameters, workers: Pools) -> Response:
    """Find the topic of texts."""
    texts = tuple(hint.text)
    body = await workers.call(index, encode_topic, request, texts, slow=request.confidence, affinity=texts)
    return make_json_response(body, index)


@router.get("/{index}/topic/documents", response_model=DocumentPage)
async def list_documents(
    index: Index, request: Annotated[DocumentsRequest, QueryParameter()], workers: Pools
) -> Response:
    """List the typical documents of a topic."""
    return make_json_response(await _answer(workers, index, encode_documents, request), index)


@router.get("/{index}/documents/{row}", response_model=FullDocument)
async def get_document(
    index: Index,
    row: Annotated[int, Path(**ROW)],
    workers: Pools,
) -> Response:
    """Return one document."""
    # By a worker: a fault of the disk costs one answer there, and the server here.
    return make_json_response(await workers.call(index, encode_document, row), index)


async def _answer(
    workers: Workers, index: ServedIndex, encode: Callable[[ServedIndex, Any], bytes], request: TopicRequest
) -> bytes:
    completed = complete_request(index, request)
    # What determines the topic found: the worker that has found it has it in its cache.
    how = (completed.narrower, completed.n_components, completed.merge_copies, completed.where, completed.within)
    affinity = (completed.q, completed.documents, completed.not_documents, *how)
    return await workers.call_cached(index, encode, completed, slow=request.confidence, affinity=affinity)


def complete_request(index: ServedIndex, request: TopicRequest) -> TopicRequest:
    """Return the request with its last word completed, if it asks for that."""
    if not request.complete or request.q is None:
        return request
    return request.model_copy(update={"q": index.index.complete_query(request.q), "complete": False})


def make_query(request: TopicRequest, texts: Sequence[str] = ()) -> Query:
    """Return the hint of a request, and how to search with it."""
    options: dict[str, Any] = {
        "n_components": request.n_components or "enough",
        "narrower": request.narrower,
        "merge_copies": request.merge_copies,
        "where": request.where,
        "within": request.within,
    }
    return Query(
        _name_query(request, texts),
        words=None if request.q is None else _read_words(request.q),
        text=tuple(texts) or None,
        documents=request.documents or None,
        not_documents=request.not_documents or None,
        **options,
    )


def _name_query(request: TopicRequest, texts: Sequence[str]) -> str:
    if request.q is not None:
        return request.q.strip()
    if texts:
        return " ".join(texts[0].split())[:_MAX_TITLE]
    return f"document {', '.join(map(str, request.documents))}"


def _read_words(q: str) -> dict[str, float]:
    words = parse_words(q)
    if len(words) > MAX_WORDS:
        raise HintError(
            "A hint has at most {max_words} words, got {n_words}.",
            code="too_many_words",
            n_words=len(words),
            max_words=MAX_WORDS,
        )
    return words


def make_options(request: TopicRequest) -> AnswerOptions:
    """Return how much of the topic to describe."""
    return AnswerOptions(
        n_words=request.n_words,
        n_documents=request.n_documents,
        sort_by=request.sort_by,
        descending=request.descending,
        words_by=request.words_by,
        alternative=request.alternative,
        errors=request.errors,
        confidence=request.confidence,
    )


def encode_topic(index: ServedIndex, request: TopicRequest, texts: tuple[str, ...] = ()) -> bytes:
    """Return the answer to a request as JSON."""
    found = index.find(make_query(request, texts))
    return encode_json(describe(found, make_options(request)).as_dict())


def encode_topic_as_csv(index: ServedIndex, request: TopicRequest) -> bytes:
    """Return the answer to a request as CSV."""
    outcome = Outcome.from_found(index.find(make_query(request)), make_options(request))
    return to_csv([outcome], errors=request.errors, for_spreadsheets=True).encode(errors="replace")


def encode_documents(index: ServedIndex, request: DocumentsRequest) -> bytes:
    """Return a page of documents as JSON."""
    # One more than the page has, to know whether there are others.
    options = replace(make_options(request), n_documents=request.n_documents + 1, skip_documents=request.skip_documents)
    documents = describe(index.find(make_query(request)), options).as_dict()["documents"]
    n, skipped = request.n_documents, request.skip_documents
    has_more = len(documents) > n and skipped + n <= MAX_SKIPPED
    return encode_json({"documents": documents[:n], "skip_documents": skipped, "more": has_more})


def encode_document(index: ServedIndex, row: int) -> bytes:
    """Return one document as JSON."""
    try:
        (found,) = index.index.documents([row])
    except StorageError:
        raise
    except SearchError as error:
        raise APIError("not_found", "{reason}", reason=str(error), row=row) from error
    text = found.text
    is_cut = text is not None and len(text) > MAX_TEXT
    known = {"row": row, "name": found.name, "text": text and text[:MAX_TEXT], "is_cut": is_cut}
    return encode_json(known | describe_columns(index.index.columns, found.columns))


def encode_json(value: Any) -> bytes:
    """Return a value as JSON; a lone surrogate, as broken files contain, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def make_json_response(body: bytes, index: ServedIndex | None = None) -> Response:
    """Return a response with a JSON body, and the state of the index that it is about."""
    return Response(body, media_type="application/json", headers=make_headers(index))


def make_csv_response(body: bytes, name: str, index: ServedIndex | None = None) -> Response:
    """Return a response with a CSV body that browsers save as a file."""
    return make_file_response(body, "text/csv", name, "csv", index)


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


def name_file(index: ServedIndex, what: str, requests: Sequence[TopicRequest]) -> str:
    """Return a descriptive file name: the index, and the words of the topics."""
    hints = [request.q or f"document-{'-'.join(map(str, request.documents))}" for request in requests]
    return "-".join([index.name, what, *hints])

"""The HTTP API of topics: every answer of the page as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi import Query as QueryParameter

from mixsearch.errors import SearchError
from mixsearch.index import Answer, CorpusWord, Outcome, Query, TypicalDocument, to_csv
from mixsearch.web.answering import Answering
from mixsearch.web.failures import RESPONSES, Refused
from mixsearch.web.questions import MOST_SKIPPED, DocumentsQuestion, Row, TextHint, TopicQuestion
from mixsearch.web.served import IndexFacts, Served, choose

# A document is read by people: a book is shown by its beginning.
MOST_TEXT = 200_000
_KEEP = {"Cache-Control": "private, max-age=60"}


@dataclass(frozen=True)
class Indexes:
    """All that is served."""

    indexes: list[IndexFacts]


@dataclass(frozen=True)
class Words:
    """Words that complete what was typed."""

    words: list[CorpusWord]


@dataclass(frozen=True)
class Documents:
    """A page of documents, and whether others follow."""

    documents: list[TypicalDocument]
    start: int
    more: bool


@dataclass(frozen=True)
class WholeDocument:
    """A document with its text, cut where it is very long."""

    row: int
    name: str | None
    text: str | None
    is_cut: bool


router = APIRouter(prefix="/api/indexes", tags=["topics"], responses=RESPONSES)


async def _chosen(request: Request, index: Annotated[str, Path(description="Its name.", max_length=200)]) -> Served:
    return choose(request.app.state.served, index)


async def _answering(request: Request) -> Answering:
    answering: Answering = request.app.state.answering
    return answering


Chosen = Annotated[Served, Depends(_chosen)]
Answerer = Annotated[Answering, Depends(_answering)]
Question = Annotated[TopicQuestion, QueryParameter()]
Paging = Annotated[DocumentsQuestion, QueryParameter()]


@router.get("", response_model=Indexes)
async def list_indexes(request: Request) -> Indexes:
    """What is served."""
    return Indexes([each.facts for each in request.app.state.served.values()])


@router.get("/{index}", response_model=IndexFacts)
async def describe_index(index: Chosen) -> IndexFacts:
    """What an index holds."""
    return index.facts


@router.get("/{index}/words", response_model=Words)
async def complete_word(
    index: Chosen,
    prefix: Annotated[str, QueryParameter(max_length=200)] = "",
    n: Annotated[int, QueryParameter(ge=1, le=100)] = 8,
) -> Response:
    """Words that begin so, the most frequent first; without a beginning, words that tell topics apart."""
    # At once: looking them up takes less than waiting for a thread.
    return json_response(as_json({"words": [vars(word) for word in index.words(prefix, n)]}))


@router.get("/{index}/topic", response_model=Answer)
async def find_topic(index: Chosen, question: Question, answering: Answerer) -> Response:
    """The topic that words, or documents, mean."""
    return json_response(await _told(answering, index, question, topic_as_json))


@router.get("/{index}/topic.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_topic(index: Chosen, question: Question, answering: Answerer) -> Response:
    """The same as a table, one fact in each row."""
    return csv_response(await _told(answering, index, question, topic_as_csv), index.name)


@router.post("/{index}/topic", response_model=Answer)
async def find_topic_of_texts(index: Chosen, hint: TextHint, question: Question, answering: Answerer) -> Response:
    """The topic that texts are about."""
    if question.q is not None or question.like:
        raise Refused("bad_value", "A topic needs texts, or q, or like; found more than one of them.")
    query = Query(" ".join(hint.texts[0].split())[:40], text=tuple(hint.texts), **question.search())
    work = answering.work(index, topic_as_json, query, question)
    return json_response(await answering.lane(question.confidence).run(work, query.key))


@router.get("/{index}/topic/documents", response_model=Documents)
async def list_documents(index: Chosen, question: Paging, answering: Answerer) -> Response:
    """The typical documents of a topic, from any place on."""
    return json_response(await _told(answering, index, question, documents_as_json))


@router.get("/{index}/documents/{row}", response_model=WholeDocument)
async def read_document(index: Chosen, row: Row, answering: Answerer) -> Response:
    """One document."""
    # Here, in a thread: what takes a millisecond should not wait behind searches.
    return json_response(await answering.reading.run(partial(document_as_json, index, row)))


async def _told(
    answering: Answering, index: Served, question: TopicQuestion, tell: Callable[[Served, Query, Any], bytes]
) -> bytes:
    asked = finished(index, question)
    query = asked.query()
    work, lane = answering.work(index, tell, query, asked), answering.lane(question.confidence)
    return await answering.once((index.name, tell, asked), work, lane, query.key)


def finished(index: Served, question: TopicQuestion) -> TopicQuestion:
    """The question with its last word finished, where that is asked for."""
    if not question.complete or question.q is None:
        return question
    return question.model_copy(update={"q": index.index.complete_query(question.q), "complete": False})


def reply(index: Served, query: Query, question: TopicQuestion, **options: Any) -> Outcome:
    """What an index says to a query; its errors are raised."""
    found = index.reply(query, question.options(**options))
    if found.error is not None:
        raise found.error
    return found


def topic_as_json(index: Served, query: Query, question: TopicQuestion) -> bytes:
    """The answer to a question."""
    return as_json(reply(index, query, question).as_dict())


def topic_as_csv(index: Served, query: Query, question: TopicQuestion) -> bytes:
    """The same as a table."""
    return to_csv([reply(index, query, question)], errors=question.errors, for_spreadsheets=True).encode(
        errors="replace"
    )


def documents_as_json(index: Served, query: Query, question: DocumentsQuestion) -> bytes:
    """A page of documents; one more than told is looked for, to know whether others follow."""
    answer = reply(index, query, question, n_documents=question.n + 1, skip_documents=question.start).as_dict()
    documents = answer["documents"]
    has_more = len(documents) > question.n and question.start + question.n <= MOST_SKIPPED
    return as_json({"documents": documents[: question.n], "start": question.start, "more": has_more})


def document_as_json(index: Served, row: int) -> bytes:
    """A document by its row."""
    try:
        (found,) = index.index.documents([row])
    except SearchError as error:
        raise Refused("not_found", str(error)) from error
    text = found.text
    is_cut = text is not None and len(text) > MOST_TEXT
    return as_json(vars(WholeDocument(row, found.name, text[:MOST_TEXT] if text is not None else None, is_cut)))


def as_json(value: Any) -> bytes:
    """A value for a client; half a character, as broken files contain, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def json_response(body: bytes) -> Response:
    """JSON that is ready."""
    return Response(body, media_type="application/json", headers=_KEEP)


def csv_response(body: bytes, name: str) -> Response:
    """A table that browsers save as a file."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    disposition = f'attachment; filename="{plain}.csv"'
    return Response(body, media_type="text/csv", headers={**_KEEP, "Content-Disposition": disposition})

"""The HTTP API of several topics at once: side by side, and as a map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from fastapi import Query as QueryParameter
from pydantic import BaseModel, ConfigDict, Field

from mixsearch.index import MAX_WORDS, Answer, Outcome, TopicMap, compare_topics, map_topics, to_csv
from mixsearch.web.failures import RESPONSES, Told, told_of
from mixsearch.web.questions import TopicQuestion, read_question
from mixsearch.web.served import Served
from mixsearch.web.topics import Answerer, Chosen, as_json, csv_response, finished, json_response

MOST_COMPARED = 8

router = APIRouter(prefix="/api/indexes/{index}", tags=["several topics"], responses=RESPONSES)


@dataclass(frozen=True)
class NoTopic:
    """A hint that found nothing, and why."""

    hint: str
    error: Told


@dataclass(frozen=True)
class Comparison:
    """Topics in the order asked for, and the part of their words that each pair has in common."""

    topics: list[Answer | NoTopic]
    overlaps: list[list[float | None]]  # None beside a hint that found nothing


class MapQuestion(BaseModel):
    """Which words a map is of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: tuple[str, ...] = Field((), max_length=MAX_WORDS, description="The words; else they are chosen.")
    n: int = Field(30, ge=1, le=MAX_WORDS, description="How many to choose.")
    by: Literal["distinctive", "frequent"] = Field(
        "distinctive", description="Choose those that tell topics apart, or those in most documents."
    )


Questions = Annotated[
    list[str],
    QueryParameter(
        alias="topic",
        min_length=1,
        max_length=MOST_COMPARED,
        description="Each is a query as /topic takes it: q=sushi&narrower=1",
    ),
]


@router.get("/compare", response_model=Comparison)
async def compare(index: Chosen, topics: Questions, answering: Answerer) -> Response:
    """Several topics side by side."""
    asked = _read(index, topics)
    work = answering.work(index, _comparison_as_json, asked)
    return json_response(await answering.once((index.name, "compare", asked), work, answering.slow))


@router.get("/compare.csv", response_class=Response, responses={200: {"content": {"text/csv": {}}}})
async def download_comparison(index: Chosen, topics: Questions, answering: Answerer) -> Response:
    """The same as a table, one fact in each row."""
    asked = _read(index, topics)
    return csv_response(await answering.slow.run(answering.work(index, _comparison_as_csv, asked)), index.name)


@router.get("/overview", response_model=TopicMap)
async def map_corpus(
    index: Chosen, question: Annotated[MapQuestion, QueryParameter()], answering: Answerer
) -> Response:
    """A map of the topics that a set of words finds."""
    work = answering.work(index, _map_as_json, question)
    return json_response(await answering.once((index.name, "overview", question), work, answering.slow))


def _read(index: Served, topics: Sequence[str]) -> tuple[TopicQuestion, ...]:
    return tuple(finished(index, read_question(topic)) for topic in topics)


def _replies(index: Served, asked: Sequence[TopicQuestion]) -> list[Outcome]:
    queries = [question.query() for question in asked]
    return [index.reply(query, question.options()) for query, question in zip(queries, asked, strict=True)]


def _comparison_as_json(index: Served, asked: Sequence[TopicQuestion]) -> bytes:
    replies = _replies(index, asked)
    return as_json({"topics": [_told(reply) for reply in replies], "overlaps": compare_topics(replies)})


def _comparison_as_csv(index: Served, asked: Sequence[TopicQuestion]) -> bytes:
    errors = any(question.errors for question in asked)
    return to_csv(_replies(index, asked), errors=errors, for_spreadsheets=True).encode(errors="replace")


def _told(reply: Outcome) -> dict[str, Any]:
    if reply.error is None:
        return reply.as_dict()
    return {"hint": reply.query.name, "error": told_of(reply.error).model_dump()}


def _map_as_json(index: Served, question: MapQuestion) -> bytes:
    words = list(question.words) or None
    return as_json(map_topics(index.index, words, n=question.n, by=question.by).as_dict())

"""Requests of the HTTP API, as OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from urllib.parse import parse_qs

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from mixsearch.options import GroupOptions, SearchOptions, TableOptions, list_options

MAX_FILTER_LENGTH, MAX_COLUMN_LENGTH, MAX_STATE = 2000, 500, 5000
MAX_TOPICS, MAX_SAVED, MAX_NAME_LENGTH = 8, 200, 60
# Documents of a hint, and rows of a table that are examples.
MAX_DOCUMENTS, MAX_EXAMPLES = 100, 1000
# The largest integer that every JSON reader keeps exact.
MAX_INTEGER = 2**53
Row = Annotated[int, Field(ge=0, le=MAX_INTEGER, description="The row in the file or the table, from 0.")]
ColumnName = Annotated[str, Field(max_length=MAX_COLUMN_LENGTH)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def make_request(options: type[Any], *, max_items: int, leave_out: Container[str] = ()) -> Any:
    """Return a request with a field for each option: its default, range and help."""
    kinds = get_type_hints(options)
    made: dict[str, Any] = {}
    for each, facts in list_options(options):
        kind: Any = kinds[each.name]
        limits: dict[str, Any] = {"ge": facts.ge, "le": facts.le}
        if get_origin(kind) is tuple:
            item: Any = get_args(kind)[0]
            limits = {"max_length": MAX_COLUMN_LENGTH} if item is str else {"ge": facts.ge, "le": MAX_INTEGER}
            kind, limits = tuple[Annotated[item, Field(**limits)], ...], {"max_length": max_items}
        elif kind == str | None:
            limits = {"max_length": MAX_FILTER_LENGTH}
        elif kind == float | str | None:
            limits = {"union_mode": "left_to_right"}
        if each.name not in leave_out:
            made[each.name] = (kind, Field(each.default, description=facts.help, **limits))
    return create_model(f"{options.__name__}Request", __config__=ConfigDict(extra="forbid", frozen=True), **made)


class TopicRequest(make_request(SearchOptions, max_items=MAX_DOCUMENTS)):  # type: ignore[misc]
    """A hint, given as words, texts or documents, and how much of the topic to list."""

    q: str | None = Field(
        None, max_length=1000, description='Words as in a search box: sushi -burger "new york" sushi^2 encrypt*'
    )
    text: tuple[str, ...] = Field((), max_length=100, description="Texts about the topic.")
    complete: bool = Field(False, description="Complete the last word of q if it is not a word yet.")
    n_words: int = Field(7, ge=0, le=200, description="Number of words.")
    n_documents: int = Field(10, ge=0, le=100, description="Number of documents.")
    skip: int = Field(0, ge=0, le=1000, description="Number of the best documents to leave out.")


class TopicsRequest(_Request):
    """Several topics."""

    topic: tuple[str, ...] = Field(
        min_length=1, max_length=MAX_TOPICS, description="Each is a query string of /topic: q=sushi&narrower=1"
    )


class GroupsRequest(TopicsRequest, make_request(GroupOptions, max_items=1)):  # type: ignore[misc]
    """Topics, and the column whose values make the groups of documents."""

    where: str | None = Field(None, max_length=MAX_FILTER_LENGTH, description="A filter of the documents.")


class Judgements(_Request):
    """Judged documents or rows, and how many more to draw."""

    judgements: dict[int, bool] = Field({}, max_length=1000, description="Whether each row belongs.")
    n: int = Field(10, ge=0, le=100, description="Number of rows to draw.")


class TopicJudgements(Judgements, make_request(GroupOptions, max_items=1)):  # type: ignore[misc]
    """Judged documents, how many more to draw, and the column whose groups get intervals."""

    where: str | None = Field(None, max_length=MAX_FILTER_LENGTH, description="A filter of the documents in groups.")


class SavedSearch(_Request):
    """A search that was saved under a name: the state of the page."""

    name: str = Field(min_length=1, max_length=200)
    state: str = Field(max_length=MAX_STATE, description="The query string of the page.")


class SavedList(_Request):
    """The searches that are saved beside an index."""

    saved: list[SavedSearch] = Field(max_length=MAX_SAVED)


class IndexRequest(_Request):
    """An uploaded file to index."""

    file: str = Field(max_length=100, description="As the upload returned it.")
    text: list[ColumnName] = Field(
        [], max_length=20, description="Columns with the text; several are joined. Default: detected."
    )
    name: str | None = Field(
        None,
        min_length=1,
        max_length=60,
        pattern=r"^[\w.-]+$",
        description="The name of the index. Default: that of the file.",
    )


class MembersRequest(make_request(TableOptions, max_items=MAX_EXAMPLES)):  # type: ignore[misc]
    """Rows of a table that are members, and rows that are not."""

    examples: tuple[Row, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows that are members.")
    not_examples: tuple[Row, ...] = Field((), max_length=MAX_EXAMPLES, description="Rows that are not members.")


class RowsRequest(MembersRequest):
    """A page of the rows of a table: filtered, and sorted by a column or by likeness to the examples."""

    examples: tuple[Row, ...] = Field((), max_length=MAX_EXAMPLES, description="Rows that are members.")
    where: str | None = Field(None, max_length=MAX_FILTER_LENGTH, description="A filter: age >= 30")
    rows: tuple[Row, ...] = Field((), max_length=MAX_EXAMPLES, description="Only these rows, in this order.")
    sort_by: ColumnName | None = Field(None, description="A column. Default: likeness to the examples, if any.")
    descending: bool = Field(False, description="Largest values first.")
    skip: int = Field(0, ge=0, le=MAX_INTEGER, description="Number of the first rows to leave out.")
    n_rows: int = Field(50, ge=1, le=100, description="Number of rows.")


class SegmentsRequest(_Request):
    """Seeds of the segments of an image."""

    seed: tuple[str, ...] = Field(
        min_length=1,
        max_length=64,
        description="The pixels of a segment, `120,80` or `120,80+130,90`, after its name if any: `sky:120,80`.",
        examples=[["sky:216,96", "meadow:108,336"]],
    )
    not_seed: tuple[str, ...] = Field(
        (), max_length=64, description="Pixels that do not belong to a segment, after its name: `sky:120,80`."
    )
    every: int = Field(1, ge=1, le=64, description="Use every n-th pixel of every n-th row: a larger n is faster.")
    outlines: bool = Field(False, description="Add the outline of each segment, as the data of an SVG path.")


class CutOutRequest(SegmentsRequest):
    """Seeds of the segments of an image, and one of them."""

    segment: str = Field(max_length=MAX_NAME_LENGTH, description="The name of the segment.")


def parse_topic_request(query_string: str) -> TopicRequest:
    """Read a request from a query string: one address can hold several such strings."""
    given = parse_qs(query_string, keep_blank_values=True)
    lists = ("text", "documents", "not_documents")
    try:
        return TopicRequest(**{name: values if name in lists else values[-1] for name, values in given.items()})
    except ValidationError as error:
        problems = [{**each, "loc": ("query", "topic", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(problems) from error

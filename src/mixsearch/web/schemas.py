"""Requests and answers of the HTTP API, as OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import parse_qs

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from mixsearch.options import GroupOptions, SearchOptions, list_options
from mixsearch.topics.completion import CorpusWord
from mixsearch.topics.records import StoredColumn
from mixsearch.web.errors import ErrorDetail

MAX_QUERY_LENGTH, MAX_FILTER_LENGTH, MAX_COLUMN_LENGTH = 1000, 2000, 500
MAX_TOPICS = 8
MAX_JUDGED, MAX_SAVED, MAX_STATE = 1000, 200, 5000
# Documents of a hint, texts of a hint, and typical documents to skip.
MAX_DOCUMENTS, MAX_TEXTS, MAX_SKIPPED = 100, 100, 1000
MAX_INDEX_NAME = 60
MAX_TEXT_COLUMNS = 20
# The largest integer that every JSON reader keeps exact.
MAX_INTEGER = 2**53
# The body of a request that uploads a file.
RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class AnswerWarning(BaseModel):
    """A warning: a code for programs, a sentence for people, and the facts."""

    code: str
    message: str
    fields: dict[str, Any]


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
    """A hint, given as words or documents, and how much of the topic to list."""

    q: str | None = Field(
        None,
        max_length=MAX_QUERY_LENGTH,
        description='Words as in a search box: sushi -burger "new york" sushi^2 encrypt*',
    )
    complete: bool = Field(False, description="Complete the last word of q if it is not a word yet.")
    n_words: int = Field(7, ge=0, le=200, description="Number of words.")
    n_documents: int = Field(10, ge=0, le=100, description="Number of documents.")
    skip: int = Field(0, ge=0, le=MAX_SKIPPED, description="Number of the best documents to leave out.")


class MapRequest(TopicRequest):
    """A hint, or several topics."""

    topic: tuple[str, ...] = Field(
        (), max_length=MAX_TOPICS, description="Several topics instead, each a query string: q=sushi&narrower=1"
    )


class Judgements(BaseModel):
    """Judged documents, and how many more to draw."""

    model_config = ConfigDict(extra="forbid")

    judgements: dict[int, bool] = Field({}, max_length=MAX_JUDGED, description="Whether each row is about the topic.")
    n: int = Field(10, ge=0, le=100, description="Number of documents to draw.")


class SavedSearch(BaseModel):
    """A search that was saved under a name: the state of the page."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    state: str = Field(max_length=MAX_STATE, description="The query string of the page.")


class SavedList(BaseModel):
    """The searches that are saved beside an index."""

    model_config = ConfigDict(extra="forbid")

    saved: list[SavedSearch]


class TextHint(BaseModel):
    """Texts about a topic."""

    model_config = ConfigDict(extra="forbid")

    text: list[str] = Field(min_length=1, max_length=MAX_TEXTS)


class GroupsRequest(make_request(GroupOptions, max_items=1)):  # type: ignore[misc]
    """Topics, and the column whose values make the groups of documents."""

    topic: tuple[str, ...] = Field(
        min_length=1, max_length=MAX_TOPICS, description="Each is a query string of /topic: q=sushi&narrower=1"
    )
    where: str | None = Field(None, max_length=MAX_FILTER_LENGTH, description="A filter of the documents.")


class IndexState(BaseModel):
    """The state of an index that is served."""

    generation: str = Field(description="Changes with every write to the index.")
    created: str = Field(description="When that state was written.")
    n_documents: int
    problem: str | None = Field(
        description="Why a newer state could not be opened, or what is wrong with this one; null if all is well."
    )


class Health(BaseModel):
    """The state of the server."""

    status: str = Field(description="`ok`, or `degraded` if an index has a problem.")
    version: str
    indexes: list[str]
    states: dict[str, IndexState] = Field(description="The state of each index.")
    uptime: float = Field(description="Seconds since the start.")


class Settings(BaseModel):
    """Limits that a client should know before it sends a request."""

    max_query_length: int = Field(description="Characters of q.")
    max_name_length: int = Field(description="Characters of a segment's name.")
    max_upload: int = Field(description="Bytes of an uploaded image.")
    accepts_files: bool = Field(description="Whether files with texts and tables may be uploaded.")
    max_file: int = Field(description="Bytes of such a file.")
    file_suffixes: list[str] = Field(description="What the names of such files end in.")
    max_pixels: int = Field(description="Pixels of an uploaded image.")
    image_formats: list[str] = Field(description="File formats of uploaded images.")
    example_image: str = Field(description="The name of the image that is always there.")


class IndexInfo(BaseModel):
    """The contents of an index."""

    name: str
    generation: str = Field(description="Changes with every write to the index.")
    n_documents: int
    n_words: int
    has_names: bool
    columns: list[StoredColumn] = Field(description="The columns that documents have, for filters and groups.")
    over: str | None = Field(description="The first column of dates.")
    by: str | None = Field(description="The first column of categories.")


class IndexList(BaseModel):
    """All indexes of the server."""

    indexes: list[IndexInfo]


class WordList(BaseModel):
    """Words that complete a prefix."""

    words: list[CorpusWord]


class FullDocument(BaseModel):
    """A document with its text."""

    row: int
    name: str | None
    text: str
    is_cut: bool = Field(description="Whether the end of a very long text is left out.")
    title: str | None = Field(description="From its columns, as link and date are.")
    link: str | None
    date: str | None
    columns: dict[str, Any] = Field(description="All columns of the document except its text.")


class FoundColumn(BaseModel):
    """A column of an uploaded file, as its first rows show it."""

    name: str
    kind: str = Field(description="Its type, as PyArrow names it: string, int64, double, bool, date32[day].")
    role: str | None = Field(description="What it seems to hold: text, id, title, link, date, category or number.")
    n_missing: int = Field(description="Rows without a value, of those that were read.")
    n_distinct: int = Field(description="Different values, in the rows that were read.")
    example: str | None = Field(description="Its first value, as text.")


class UploadedFile(BaseModel):
    """A file with texts or a table on the server."""

    file: str = Field(description="The name of the file in addresses.")
    name: str = Field(description="Its name as it was uploaded.")
    n_bytes: int
    columns: list[FoundColumn]


class IndexRequest(BaseModel):
    """An uploaded file to index."""

    model_config = ConfigDict(extra="forbid")

    file: str = Field(max_length=100, description="As the upload returned it.")
    text: list[Annotated[str, Field(max_length=MAX_COLUMN_LENGTH)]] = Field(
        [], max_length=MAX_TEXT_COLUMNS, description="Columns with the text; several are joined. Default: detected."
    )
    name: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_INDEX_NAME,
        pattern=r"^[\w.-]+$",
        description="The name of the index. Default: that of the file.",
    )


class IndexBuild(BaseModel):
    """The state of an index that is being built."""

    build: str = Field(description="The name of the build in addresses.")
    index: str = Field(description="The name of the index.")
    file: str
    status: Literal["running", "done", "failed", "cancelled"]
    step: str = Field(default="", description="The step of the work.")
    done: int = Field(default=0, description="Units done of this step.")
    total: int | None = Field(default=None, description="Units in all; null if unknown.")
    unit: str = Field(default="", description="What is counted, such as bytes or documents.")
    error: ErrorDetail | None = Field(default=None, description="Why it failed.")
    warnings: list[AnswerWarning] = Field(default=[], description="What the reader noticed.")


def parse_topic_request(query_string: str) -> TopicRequest:
    """Read a request from a query string: one address can hold several such strings."""
    given = parse_qs(query_string, keep_blank_values=True)
    try:
        request: TopicRequest = TopicRequest.model_validate(
            {name: values if name.endswith("documents") else values[-1] for name, values in given.items()}
        )
        return request
    except ValidationError as error:
        problems = [{**each, "loc": ("query", "topic", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(problems) from error

"""What can be asked of an index in a request, checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mixsearch.errors import HintError
from mixsearch.index import AnswerOptions, Query
from mixsearch.topics import parse_words

MOST_WORDS, MOST_SKIPPED = 64, 1000
# Up to the largest number that every reader of JSON keeps whole.
Row = Annotated[int, Field(ge=0, le=2**53)]


class TopicQuestion(BaseModel):
    """A hint of words or documents, and how to search with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: str | None = Field(
        None, max_length=1000, description='Words as in a search box: sushi -burger "new york" sushi^2 encrypt*'
    )
    like: tuple[Row, ...] = Field((), max_length=100, description="Rows of documents that are about the topic.")
    narrower: float = Field(
        0, ge=-4, le=4, description="Doublings of the number of topics; negative for broader topics."
    )
    n_components: int | None = Field(None, ge=1, le=100_000, description="Use so many of the fitted topics.")
    alternative: int = Field(0, ge=0, le=100_000, description="0 for the topic found, else another reading's rank.")
    complete: bool = Field(False, description="Finish the last word of q where it is not a word yet.")
    errors: bool = Field(False, description="Tell standard errors.")
    confidence: bool = Field(
        False, description="Tell the chance that this is the topic meant; reads all documents, so that it takes longer."
    )
    top: int = Field(15, ge=0, le=200, description="Words to tell.")
    n_documents: int = Field(10, ge=0, le=100, description="Documents to tell.")
    by: Literal["typical", "probability"] = Field("typical", description="Which words come first.")

    def options(self, **other: Any) -> AnswerOptions:
        """How much to describe; some of it may be given otherwise."""
        options = AnswerOptions(
            n_words=self.top,
            n_documents=self.n_documents,
            by=self.by,
            alternative=self.alternative,
            errors=self.errors,
            confidence=self.confidence,
        )
        return replace(options, **other)

    def query(self) -> Query:
        """The hint, and how to search with it."""
        return replace(self._hint(), **self.search())

    def search(self) -> dict[str, Any]:
        """How to search with a hint."""
        return {"n_components": self.n_components or "enough", "narrower": self.narrower}

    def _hint(self) -> Query:
        if (self.q is None) == (not self.like):
            raise HintError(f"A topic needs q, words, or like, documents; found {'both' if self.like else 'neither'}.")
        if self.q is None:
            return Query(f"document {', '.join(map(str, self.like))}", documents=self.like)
        words = parse_words(self.q)
        if len(words) > MOST_WORDS:
            raise HintError(f"Found {len(words)} words; {MOST_WORDS} are the most that a hint takes.")
        return Query(self.q.strip(), words=words)


class DocumentsQuestion(TopicQuestion):
    """The typical documents of a topic, page by page."""

    start: int = Field(0, ge=0, le=MOST_SKIPPED, description="How many were told before.")
    n: int = Field(10, ge=1, le=100, description="How many to tell.")


class TextHint(BaseModel):
    """Texts that are about a topic."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] = Field(min_length=1, max_length=100)


def read_question(query_string: str) -> TopicQuestion:
    """A question as the query of an address has it, which is how one address names several.

    Examples
    --------
    >>> read_question("q=sushi&narrower=1").q
    'sushi'
    """
    given = parse_qs(query_string, keep_blank_values=True)
    try:
        return TopicQuestion.model_validate({name: _value(name, values) for name, values in given.items()})
    except ValidationError as error:
        problems = [{**each, "loc": ("query", "topic", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(problems) from error


def _value(name: str, values: list[str]) -> list[str] | str:
    return values if name == "like" else values[-1]

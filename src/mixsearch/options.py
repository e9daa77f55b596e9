"""Options of searches, each defined once: its default, its help and its range.

The command line and the HTTP API make their parameters from the fields of these dataclasses, and a test compares the
signatures and docstrings of Python with them. A field of a dataclass elsewhere becomes an option in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from numbers import Real
from typing import Any, Literal

from mixsearch.errors import ArgumentError
from mixsearch.errors import Option as Argument


@dataclass(frozen=True)
class Facts:
    """What an option is for, and which values it takes."""

    help: str
    ge: float | None = None  # smallest and largest value, or element
    le: float | None = None
    metavar: str | None = None  # how the command line names a value
    flag: str | None = None  # one letter, on the command line


def option(default: Any, help: str, **facts: Any) -> Any:
    """Return a field of a dataclass that is an option; `facts` are the fields of `Facts`."""
    return field(default=default, metadata={"option": Facts(help, **facts)})


def list_options(options: type[Any]) -> Iterator[tuple[Field[Any], Facts]]:
    """Yield the fields of a dataclass that are options, with their facts."""
    return ((each, each.metadata["option"]) for each in fields(options) if "option" in each.metadata)


def check_range(options: type[Any], name: str, value: Any) -> None:
    """Raise unless a number is in the range of an option."""
    facts = next(facts for each, facts in list_options(options) if each.name == name)
    lowest = -math.inf if facts.ge is None else facts.ge
    highest = math.inf if facts.le is None else facts.le
    if not (isinstance(value, Real) and lowest <= float(value) <= highest):
        raise ArgumentError(
            "{argument} must be from {minimum} to {maximum}, got {value!r}.",
            argument=Argument(name),
            minimum=lowest,
            maximum=highest,
            value=value,
        )


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of a topic search besides its words."""

    documents: tuple[int, ...] = option((), "Rows of documents about the topic.", ge=0, metavar="ROW")
    not_documents: tuple[int, ...] = option((), "Rows of documents that are not about the topic.", ge=0, metavar="ROW")
    narrower: float = option(
        0.0, "Steps towards a narrower topic; negative for a broader one.", ge=-3, le=3, metavar="N"
    )
    meaning: int | None = option(None, "Which of the other meanings of the hint to search for.", ge=0, metavar="N")
    where: str | None = option(
        None,
        "A filter of the documents to list and count, such as stars <= 2 and date >= 2024-01-01.",
        metavar="FILTER",
    )


@dataclass(frozen=True)
class Question(SearchOptions):
    """A hint under a name, and how to search with it; the fields are those of `TopicIndex.search`.

    Parameters
    ----------
    name : str
        What the answer is called.
    words : str, optional
        Words, as in a search box.
    text : tuple of str, optional
        Texts about the topic.
    documents : tuple of int, optional
        Rows of documents about the topic.
    not_documents : tuple of int, optional
        Rows of documents that are not about the topic.
    narrower : float, default=0
        Steps towards a narrower topic; negative for a broader one.
    meaning : int, optional
        Which of the other meanings of the hint to search for.
    where : str, optional
        A filter of the documents to list and count, such as ``stars <= 2 and date >= 2024-01-01``.

    Examples
    --------
    >>> from mixsearch.topics import Question
    >>> question = Question("fish", "sushi tuna -wine", where="stars <= 2")
    """

    name: str
    words: str | None = None
    text: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Options of counting topics in groups of documents."""

    over: str | None = option(None, "A column of dates or numbers, in whose order the groups are.", metavar="COLUMN")
    by: str | None = option(None, "A column of any kind, whose values are the groups.", metavar="COLUMN")
    every: float | str | None = option(
        None, "year, quarter, month, week or day for dates; a width for numbers.", metavar="PERIOD"
    )


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Options of fitting a table."""

    columns: tuple[str, ...] = option((), "Use only these columns.", metavar="NAMES")
    without: tuple[str, ...] = option((), "Leave out these columns.", metavar="NAMES")
    id: str | None = option(None, "The column that names the rows.", metavar="COLUMN")


@dataclass(frozen=True, kw_only=True)
class CommunityOptions:
    """Options of fitting a graph."""

    n_components: int | Literal["auto"] = option(
        "auto", "Number of communities; auto counts those that the links can show.", ge=1, metavar="N", flag="k"
    )

"""Hints as users type them, as queries: words, texts, rows of documents, or a file of hints."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mixsearch import index as indexes
from mixsearch.errors import HintError, Option, SearchError

_NAMED = re.compile(r"([^:\"]+):\s+(\S.*)")
_MAX_TITLE = 40
# A word to avoid, or a weight, inside of a phrase.
_OPERATOR = re.compile(r"\s-\w|\^\S+\s")
EachWordArgument = Annotated[
    list[str] | None, typer.Argument(metavar="WORD", help="Words, phrases and patterns; each is one hint.")
]
HintsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with one hint per line, 'sushi -pizza' or 'name: sushi -pizza'; - for standard input.",
    ),
]


@dataclass(frozen=True)
class TypedHints:
    """The hints of a command, as they were typed."""

    words: Sequence[str] = ()
    avoid: Sequence[str] = ()
    texts: Sequence[str] = ()
    documents: Sequence[int] = ()
    not_documents: Sequence[int] = ()
    hints: Path | None = None
    each: bool = False

    def __post_init__(self) -> None:
        given = {
            "words": bool(self.words),
            "--text": bool(self.texts),
            "--documents": bool(self.documents),
            "--hints": self.hints is not None,
        }
        kinds = [name for name, is_given in given.items() if is_given]
        if len(kinds) != 1 and kinds != ["words", "--documents"]:
            found = " and ".join(kinds) or "none"
            raise typer.BadParameter(f"Give words, --documents or both, --text, or --hints, got {found}.")
        if kinds[0] != "words" and (self.avoid or self.each):
            raise typer.BadParameter(f"--not and --each need words, got {kinds[0]}.")
        if self.not_documents and not {"words", "--documents"} & set(kinds):
            raise typer.BadParameter(f"--not-documents needs words or --documents, got {kinds[0]}.")


def read_queries(typed: TypedHints) -> list[indexes.Query]:
    """Return the queries of a command."""
    if typed.hints is not None:
        return _parse_lines(read_hints(typed.hints), typed.hints)
    marked: dict[str, Any] = {
        "documents": tuple(typed.documents) or None,
        "not_documents": tuple(typed.not_documents) or None,
    }
    if typed.documents and not typed.words:
        return [indexes.Query(f"document {', '.join(map(str, typed.documents))}", **marked)]
    if typed.texts:
        return [indexes.Query(_shorten(typed.texts[0]), text=tuple(typed.texts))]
    each = [[word] for word in typed.words] if typed.each else [typed.words]
    return [replace(_make_query(words, typed.avoid), **marked) for words in each]


def _make_query(words: Sequence[str], avoid: Sequence[str]) -> indexes.Query:
    from mixsearch.topics.hint import join_weights, parse_word

    for word in words:
        if _OPERATOR.search(word):
            raise HintError(
                "{word!r} is one phrase, in which - and ^ mean nothing. Give its words one by one, and those to avoid "
                "with {argument}.",
                code="operator_in_phrase",
                word=word,
                argument=Option("not"),
            )
    wanted = [parse_word(_unquote(word)) for word in words]
    avoided = [(name, -abs(weight)) for name, weight in (parse_word(_unquote(word)) for word in avoid)]
    weights = join_weights([*wanted, *avoided])
    signed = [*words, *(f"-{word.removeprefix('-')}" for word in avoid)]
    # A single word or phrase is its own name; among several, quotes show where a phrase ends.
    return indexes.Query(signed[0] if len(signed) == 1 else " ".join(map(_quote, signed)), words=weights)


def _unquote(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word


def _quote(word: str) -> str:
    return f'"{word}"' if " " in word and '"' not in word else word


def _parse_lines(text: str, path: Path) -> list[indexes.Query]:
    lines = [line.strip() for line in text.splitlines()]
    queries = [_parse_line(line) for line in lines if line and not line.startswith("#")]
    if not queries:
        raise SearchError(
            "No hint in {name}. Write one per line: 'query' or 'name: query'.",
            code="no_hints",
            name=_describe_file(path),
            path=str(path),
        )
    return queries


def _parse_line(line: str) -> indexes.Query:
    from mixsearch.topics.hint import parse_words

    named = _NAMED.fullmatch(line)
    name, query = named.groups() if named else (line, line)
    return indexes.Query(name.strip(), words=parse_words(query))


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_TITLE else f"{plain[:_MAX_TITLE].rstrip()}…"


def read_hints(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise SearchError(
            "Cannot read {name}: {reason}.",
            code="cannot_read",
            name=_describe_file(path),
            path=str(path),
            reason=reason,
        ) from error


def _describe_file(path: Path) -> str:
    return "standard input" if str(path) == "-" else f"'{path}'"

"""Hints as users type them, as questions: words, texts, rows of documents, or a file of hints."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from mixsearch.errors import SearchError
from mixsearch.options import Question, SearchOptions

_NAMED = re.compile(r"([^:\"]+):\s+(\S.*)")
_MAX_TITLE = 40
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
    search: SearchOptions = field(default_factory=SearchOptions)
    hints: Path | None = None
    each: bool = False

    def __post_init__(self) -> None:
        given = {
            "words": bool(self.words),
            "--text": bool(self.texts),
            "--documents": bool(self.search.documents),
            "--hints": self.hints is not None,
        }
        kinds = [name for name, is_given in given.items() if is_given]
        if len(kinds) != 1 and kinds != ["words", "--documents"]:
            listed = " and ".join(kinds) or "none"
            raise typer.BadParameter(f"Give words, --documents or both, --text, or --hints, got {listed}.")
        if kinds[0] != "words" and (self.avoid or self.each):
            raise typer.BadParameter(f"--not and --each need words, got {kinds[0]}.")


def read_questions(typed: TypedHints) -> list[Question]:
    """Return the questions of a command."""
    options = vars(typed.search)
    if typed.hints is not None:
        return [Question(name, query, **options) for name, query in _parse_lines(typed.hints)]
    if typed.texts:
        return [Question(_shorten(typed.texts[0]), text=tuple(typed.texts), **options)]
    if not typed.words:
        return [Question(f"document {', '.join(map(str, typed.search.documents))}", **options)]
    avoid = [f"-{quote(word.removeprefix('-'))}" for word in typed.avoid]
    hints = [[word] for word in typed.words] if typed.each else [typed.words]
    queries = [" ".join([*map(quote, hint), *avoid]) for hint in hints]
    names = [hint[0] if len(hint) == 1 and not avoid else query for hint, query in zip(hints, queries, strict=True)]
    return [Question(name, query, **options) for name, query in zip(names, queries, strict=True)]


def quote(word: str) -> str:
    """Put an argument with blanks in quotes: it is one phrase."""
    return f'"{word}"' if " " in word and '"' not in word else word


def _parse_lines(path: Path) -> list[tuple[str, str]]:
    """Return the name and the query of each line of a file."""
    lines = [line.strip() for line in read_hints(path).splitlines()]
    pairs = [_NAMED.fullmatch(line) or (line, line) for line in lines if line and not line.startswith("#")]
    if not pairs:
        raise SearchError(
            "No hint in {name}. Write one per line: 'query' or 'name: query'.",
            code="no_hints",
            name=_describe_file(path),
            path=str(path),
        )
    return [(pair[0], pair[1]) if isinstance(pair, tuple) else (pair[1].strip(), pair[2]) for pair in pairs]


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_TITLE else f"{plain[:_MAX_TITLE].rstrip()}…"


def read_hints(path: Path) -> str:
    """Read a file of hints, or standard input."""
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

"""Hints as users type them, as questions: words, texts, rows of documents, or a file of hints."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from mixsearch.display import pluralize
from mixsearch.errors import SearchError
from mixsearch.options import Question, SearchOptions

_NAMED = re.compile(r"([^:\"]+):\s+(\S.*)")
_MAX_TITLE = 40


def read_questions(
    words: Sequence[str] = (),
    *,
    avoid: Sequence[str] = (),
    texts: Sequence[str] = (),
    hints: Path | None = None,
    each: bool = False,
    search: SearchOptions | None = None,
) -> list[Question]:
    """Return the questions of a command; with `each`, every word is one."""
    search = search or SearchOptions()
    options, documents = vars(search), search.documents
    given = {"words": words, "--text": texts, "--documents": documents, "--hints": hints}
    kinds = [name for name, value in given.items() if value]
    if len(kinds) != 1 and kinds != ["words", "--documents"]:
        listed = " and ".join(kinds) or "none"
        raise typer.BadParameter(f"Give words, --documents or both, --text, or --hints, got {listed}.")
    if kinds[0] != "words" and (avoid or each):
        raise typer.BadParameter(f"--not and --each need words, got {kinds[0]}.")
    if hints is not None:
        return [Question(name, query, **options) for name, query in _parse_lines(hints)]
    if texts:
        return [Question(_shorten(texts[0]), text=tuple(texts), **options)]
    if not words:
        name = f"{pluralize(len(documents), 'document')} {', '.join(map(str, documents))}"
        return [Question(name, **options)]
    avoided = [f"-{_quote(word.removeprefix('-'))}" for word in avoid]
    wanted = [[word] for word in words] if each else [words]
    queries = [" ".join([*map(_quote, hint), *avoided]) for hint in wanted]
    names = [hint[0] if len(hint) == 1 and not avoided else query for hint, query in zip(wanted, queries, strict=True)]
    return [Question(name, query, **options) for name, query in zip(names, queries, strict=True)]


def _quote(word: str) -> str:
    """Put an argument with blanks in quotes: it is one phrase."""
    return f'"{word}"' if " " in word and '"' not in word else word


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_TITLE else f"{plain[:_MAX_TITLE].rstrip()}…"


def _parse_lines(path: Path) -> list[tuple[str, str]]:
    """Return the name and the query of each line of a file."""
    lines = [line.strip() for line in read_hints(path).splitlines()]
    found = [(line, _NAMED.fullmatch(line)) for line in lines if line and not line.startswith("#")]
    if not found:
        raise SearchError(
            "No hint in '{path}'. Write one per line: 'query' or 'name: query'.", code="no_hints", path=str(path)
        )
    return [(line, line) if named is None else (named[1].strip(), named[2]) for line, named in found]


def read_hints(path: Path) -> str:
    """Read a file of hints, or standard input."""
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise SearchError(
            "Cannot read '{path}': {reason}.", code="cannot_read", path=str(path), reason=reason
        ) from error

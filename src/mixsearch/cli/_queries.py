"""From what was typed to queries: words, texts, rows, or a file of hints."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from mixsearch import SearchError
from mixsearch.index import Query
from mixsearch.topics import parse_word, parse_words

_NAMED = re.compile(r"([^:\"]+):\s+(\S.*)")
_TEXT_SHOWN = 40


@dataclass(frozen=True)
class Typed:
    """The hints of a command, as they were typed."""

    words: Sequence[str] = ()
    avoided: Sequence[str] = ()
    texts: Sequence[str] = ()
    text_file: Path | None = None
    rows: Sequence[int] = ()
    hints: Path | None = None
    each: bool = False


def read_queries(typed: Typed) -> list[Query]:
    """The queries that a command asks for."""
    _check_kinds(typed)
    if typed.hints is not None:
        return _of_lines(_read(typed.hints), typed.hints)
    if typed.rows:
        return [Query(f"document {', '.join(map(str, typed.rows))}", documents=tuple(typed.rows))]
    texts = [*typed.texts, *([] if typed.text_file is None else [_read(typed.text_file)])]
    if texts:
        return [Query(_glance(texts[0]), text=tuple(texts))]
    if typed.each:
        return [_of_words([word], typed.avoided) for word in typed.words]
    return [_of_words(typed.words, typed.avoided)]


def _check_kinds(typed: Typed) -> None:
    given = {
        "words": bool(typed.words),
        "--text": bool(typed.texts) or typed.text_file is not None,
        "--like": bool(typed.rows),
        "--hints": typed.hints is not None,
    }
    kinds = [name for name, is_given in given.items() if is_given]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        raise typer.BadParameter(f"A search needs words, --text, --like or --hints, one of them; found {found}.")
    if kinds != ["words"] and (typed.avoided or typed.each):
        raise typer.BadParameter(f"--not and --each go with words; found {kinds[0]}.")


def _of_words(words: Sequence[str], avoided: Sequence[str]) -> Query:
    weights = dict(parse_word(_unquoted(word)) for word in words)
    for word in avoided:
        name, weight = parse_word(_unquoted(word))
        weights[name] = -abs(weight)
    signed = [*words, *(f"-{word.removeprefix('-')}" for word in avoided)]
    # One word or phrase is its own name; among several, blanks would not tell where one ends.
    return Query(signed[0] if len(signed) == 1 else " ".join(map(_quoted, signed)), words=weights)


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word and '"' not in word else word


def _of_lines(text: str, path: Path) -> list[Query]:
    lines = [line.strip() for line in text.splitlines()]
    queries = [_of_line(line) for line in lines if line and not line.startswith("#")]
    if not queries:
        raise SearchError(f"Found no hint in {_name(path)}, needed one per line: 'query' or 'name: query'.")
    return queries


def _of_line(line: str) -> Query:
    named = _NAMED.fullmatch(line)
    name, query = named.groups() if named else (line, line)
    return Query(name.strip(), words=parse_words(query))


def _glance(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _TEXT_SHOWN else f"{plain[:_TEXT_SHOWN].rstrip()}…"


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SearchError(f"Could not read {_name(path)}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise SearchError(f"Could not read {_name(path)}: it is not UTF-8 text.") from error


def _name(path: Path) -> str:
    return "standard input" if str(path) == "-" else f"'{path}'"

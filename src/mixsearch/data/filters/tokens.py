"""The words, values and signs of a filter, and the errors that show where it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mixsearch.data.filters.expression import BARE_NAME
from mixsearch.data.filters.literals import DateValue, Value, read_date, read_number
from mixsearch.errors import SearchError

# Characters on each side of the caret.
_CONTEXT = 30
_MAX_SHOWN = 40

_TOKEN = re.compile(
    r"(?P<blank>\s+)"
    # Whatever follows a digit is part of the value, so that a typo is one error. A time may stand behind a blank.
    r"|(?P<value>[0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9]{2}:[\w.:+-]*|[+-]?\.?[0-9][\w.:+/-]*)"
    r"""|(?P<text>"(?:[^"]|"")*"|'(?:[^']|'')*')"""
    r"|(?P<quoted>`(?:[^`]|``)+`)"
    rf"|(?P<word>{BARE_NAME})"
    r"|(?P<sign>==|!=|<=|>=|[=<>(),])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a value, a sign, a name or text in quotes, or the end, and where it begins."""

    kind: Literal["word", "value", "text", "quoted", "sign", "end"]
    source: str
    position: int
    value: Value | None = None

    @property
    def keyword(self) -> str:
        """The word in lower case, or the sign."""
        return self.source.lower() if self.kind == "word" else self.source if self.kind == "sign" else ""


def split_tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a filter, the end last."""
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise _make_unreadable_error(text, position)
        if found.lastgroup != "blank":
            yield _make_token(text, found)
        position = found.end()
    yield Token("end", "", len(text))


def _make_token(text: str, found: re.Match[str]) -> Token:
    source, position = found[0], found.start()
    match found.lastgroup:
        case "word":
            return Token("word", source, position)
        case "sign":
            return Token("sign", "=" if source == "==" else source, position)
        case "text" | "quoted" as kind:
            quote = source[0]
            return Token(kind, source, position, source[1:-1].replace(quote * 2, quote))
        case _:
            return Token("value", source, position, _read_value(text, source, position))


def _read_value(text: str, source: str, position: int) -> Value:
    number = read_number(source)
    value: Value | DateValue | None = read_date(source) if number is None else number
    if value is None:
        raise SearchError(
            "{found!r} in the filter is neither a number nor a date that exists. Write 3, -0.5, 2e6, 2024, 2024-05, "
            "2024-05-31 or 2024-05-31T18:30.",
            code="filter_value",
            found=_shorten(source),
            **locate(text, position),
        )
    return value


def _make_unreadable_error(text: str, position: int) -> SearchError:
    sign = text[position]
    if sign in "\"'`":
        rest = Token("end", text[position:], position)
        return make_syntax_error(text, rest, "the quote that opens here is never closed")
    advice = {"&": "write and", "|": "write or", "!": "write not", "“": 'write "', "”": 'write "', "‘": "write '"}
    problem = advice.get(sign, "this sign has no meaning in a filter")
    return make_syntax_error(text, Token("end", sign, position), problem)


def make_syntax_error(text: str, token: Token, problem: str) -> SearchError:
    """Return the error of a filter that cannot be read at a token."""
    return SearchError(
        "The filter cannot be read at {found}: {problem}.",
        code="filter_syntax",
        found=f"its character {token.position + 1}, {_shorten(token.source)!r}" if token.source else "its end",
        problem=problem,
        **locate(text, token.position),
    )


def locate(text: str, position: int) -> dict[str, str | int]:
    """Return the fields that show a position: its number from 1, and two lines with a caret under it."""
    start = max(position - _CONTEXT, 0)
    line = re.sub(r"\s", " ", text[start : position + _CONTEXT])
    return {"position": position + 1, "caret": f"{line}\n{' ' * (position - start)}^"}


def _shorten(source: str) -> str:
    return source if len(source) <= _MAX_SHOWN else source[: _MAX_SHOWN - 1] + "…"

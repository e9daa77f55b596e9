"""Recursive descent parser of filters, with errors that show where one cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Literal

from mixsearch.data.filters.expression import (
    BARE_NAME,
    MAX_DIGITS,
    ORDERS,
    RESERVED,
    Both,
    Comparison,
    Condition,
    DateValue,
    Either,
    Filter,
    Missing,
    OneOf,
    TextMatch,
    Value,
    join,
    negate,
    read_date,
    read_number,
)
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

MAX_CHARACTERS = 10_000
MAX_DEPTH = 50

# Whole numbers with more digits are spelled with an exponent.
_MAX_PLAIN = 20
_EXAMPLE = "stars <= 2 and date >= 2024-01-01"


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


def parse_filter(text: str) -> Filter:
    """Read a filter."""
    if not isinstance(text, str):
        raise SearchError(
            "A filter must be text, got {found}. Example: {example}.",
            code="filter_not_text",
            found=type(text).__name__,
            example=_EXAMPLE,
        )
    if len(text) > MAX_CHARACTERS:
        raise SearchError(
            "The filter has {n_characters:,} characters; at most {max_characters:,} are allowed.",
            code="filter_too_long",
            n_characters=len(text),
            max_characters=MAX_CHARACTERS,
        )
    if not text.strip():
        raise SearchError("The filter is empty. Example: {example}.", code="filter_empty", example=_EXAMPLE)
    # Half of a pair, which no column can hold.
    surrogate = next((i for i, sign in enumerate(text) if "\ud800" <= sign <= "\udfff"), None)
    if surrogate is not None:
        raise make_syntax_error(text, Token("end", text[surrogate], surrogate), "this is no character")
    return Filter(_Parser(text).parse())


class _Parser:
    """A position in the tokens of a filter. Its methods read one construct each and move on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(split_tokens(text))
        self._index = 0
        self._depth = 0

    def parse(self) -> Condition:
        """Read the whole filter."""
        condition = self._read_either()
        if self._token.kind != "end":
            raise self._error("expected and, or, or the end")
        return condition

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _advance(self) -> Token:
        token = self._token
        self._index += token.kind != "end"
        return token

    def _accept(self, *keywords: str) -> bool:
        """Move past some words or signs in a row if they are next."""
        following = self._tokens[self._index : self._index + len(keywords)]
        if [token.keyword for token in following] != list(keywords):
            return False
        self._index += len(keywords)
        return True

    def _expect(self, keyword: str, where: str) -> None:
        if not self._accept(keyword):
            raise self._error(f"expected {keyword} {where}")

    def _error(self, problem: str) -> SearchError:
        return make_syntax_error(self._text, self._token, problem)

    def _read_either(self) -> Condition:
        return self._read_joined("or", self._read_both, Either)

    def _read_both(self) -> Condition:
        return self._read_joined("and", self._read_one, Both)

    def _read_joined(self, word: str, read: Callable[[], Condition], kind: type[Both] | type[Either]) -> Condition:
        conditions = [read()]
        while self._accept(word):
            conditions.append(read())
        return join(conditions, kind)

    def _read_one(self) -> Condition:
        """Read conditions in parentheses, or a condition on one column, negated or not."""
        negated = False
        while self._accept("not"):
            negated = not negated
        if self._token.keyword != "(":
            condition = self._read_column_condition()
        else:
            self._enter()
            self._advance()
            condition = self._read_either()
            self._expect(")", "to close the parenthesis, or and, or or")
            self._depth -= 1
        return negate(condition) if negated else condition

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise SearchError(
                "The filter is nested more than {max_depth} levels deep. Use fewer parentheses.",
                code="filter_too_deep",
                max_depth=MAX_DEPTH,
                **locate(self._text, self._token.position),
            )

    def _read_column_condition(self) -> Condition:
        column = self._read_name()
        token = self._token
        if token.keyword in ORDERS:
            self._advance()
            operator = next(each for each in ORDERS if each == token.keyword)
            return Comparison(column, operator, self._read_value())
        if token.kind == "end" or token.keyword in {"and", "or", ")"}:
            return Comparison(column, "=", True)
        is_said = self._accept("is")
        negated = self._accept("not")
        condition = self._read_missing(column, is_said) or self._read_range(column) or self._read_text_match(column)
        if condition is None:
            raise self._error(
                f"expected a comparison after the column {column!r}: =, !=, <, <=, >, >=, in, between, contains, "
                "starts with, ends with or is missing"
            )
        return negate(condition) if negated else condition

    def _read_missing(self, column: str, is_said: bool) -> Condition | None:
        if self._accept("missing"):
            return Missing(column)
        if is_said:
            raise self._error("expected missing or not missing after is")
        return None

    def _read_range(self, column: str) -> Condition | None:
        """Read a list of values, or two bounds."""
        if self._accept("in"):
            return OneOf(column, self._read_list())
        if not self._accept("between"):
            return None
        # Its negation is spelled with parentheses.
        self._enter()
        low = self._read_value()
        self._expect("and", "and the upper bound after between")
        high = self._read_value()
        self._depth -= 1
        return Both((Comparison(column, ">=", low), Comparison(column, "<=", high)))

    def _read_text_match(self, column: str) -> Condition | None:
        matches: tuple[TextMatch, ...] = ("contains", "starts with", "ends with")
        for match in matches:
            if self._accept(*match.split()):
                if self._token.kind != "text":
                    raise self._error(f"expected text in quotes after {match}")
                return Comparison(column, match, str(self._advance().value))
        return None

    def _read_name(self) -> str:
        token = self._token
        if token.kind == "word" and token.keyword not in RESERVED:
            return self._advance().source
        # The left side is always a column, so quotes can only hold a name.
        if token.kind in {"quoted", "text"} and isinstance(token.value, str):
            self._advance()
            return token.value
        raise self._error("expected the name of a column; names with blanks or other signs go in backticks")

    def _read_list(self) -> tuple[Value, ...]:
        self._expect("(", 'after in, as in ("Rome", "Oslo")')
        values = [self._read_value()]
        while self._accept(","):
            values.append(self._read_value())
        self._expect(")", "or a comma in the list of values")
        return tuple(values)

    def _read_value(self) -> Value:
        token = self._token
        if token.keyword in {"true", "false"}:
            self._advance()
            return token.keyword == "true"
        if token.value is None or token.kind == "quoted":
            if token.kind in {"word", "quoted"} and token.keyword not in RESERVED:
                raise self._error("expected a value; text goes in quotes, and a column stands on the left only")
            raise self._error('expected a value, such as 3, "text", 2024-05-31 or true')
        self._advance()
        # 2, 2.0 and 2e0 are one value.
        return _shorten_number(token.value) if isinstance(token.value, Decimal) else token.value


def _shorten_number(number: Decimal) -> Decimal:
    """Return the one spelling of a number."""
    plain = number.normalize(Context(prec=MAX_DIGITS))
    return Decimal(int(plain)) if 0 <= plain.adjusted() < _MAX_PLAIN and plain == int(plain) else plain

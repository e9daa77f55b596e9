"""Filters: conditions on columns as people type them, evaluated by Polars. Missing values never match."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.io.comparisons import BARE_NAME, compare, read_value

Condition = Callable[[pl.DataFrame], pl.Expr]

MAX_CHARACTERS, MAX_DEPTH = 10_000, 50
# Half a pair of surrogates is not a character.
_TEXT = r""""(?:[^"\ud800-\udfff]|"")*"|'(?:[^'\ud800-\udfff]|'')*'"""
_NAME = rf"{BARE_NAME}|{_TEXT}|`(?:[^`\ud800-\udfff]|``)+`"
_OPERATOR = (
    r"==|[!<>]?=|[<>]|(?:not\s+)?(?:in|between|contains|(?:starts|ends)\s+with)\b|(?:is\s+)?(?:not\s+)?missing\b"
)
# Whatever follows a digit is part of the value, so that a typo is one error. A time may stand behind a blank.
_NUMBER_OR_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2} +[0-9]{2}:[\w.:+-]*|[+-]?\.?[0-9][\w.:+/-]*"
_VALUE = rf"(?:{_TEXT}|(?:true|false)\b|{_NUMBER_OR_DATE})"
_VALUES = {
    "in": (rf"\(\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\)", 'values in parentheses, such as ("Rome", "Oslo")'),
    "between": (rf"{_VALUE}\s+and\s+{_VALUE}", "two values, such as 2 and 4"),
    "missing": ("", ""),
}


@dataclass(frozen=True)
class Filter:
    """A condition on columns, which are listed in the order of first mention."""

    text: str
    columns: tuple[str, ...]
    condition: Condition = field(repr=False, compare=False)

    def mask(self, frame: pl.DataFrame) -> Array:
        """Return which rows of a frame match, (n,)."""
        return frame.select(self.condition(frame).fill_null(False)).to_series().to_numpy()


def parse_filter(text: str) -> Filter:
    """Parse a filter."""
    example = "stars <= 2 and date >= 2024-01-01"
    if not isinstance(text, str):
        not_text = "A filter must be text, got {found}. Example: {example}."
        raise SearchError(not_text, code="filter_not_text", found=type(text).__name__, example=example)
    if len(text) > MAX_CHARACTERS:
        too_long = "The filter has {n_characters:,} characters; at most {max_characters:,} are allowed."
        raise SearchError(too_long, code="filter_too_long", n_characters=len(text), max_characters=MAX_CHARACTERS)
    if not text.strip():
        raise SearchError("The filter is empty. Example: {example}.", code="filter_empty", example=example)
    parser = _Parser(text)
    condition = parser.read(parser.joins)
    parser.expect(r"\Z", "a comparison, and, or, or the end")
    return Filter(text, tuple(parser.columns), condition)


class _Parser:
    """Recursive descent. Each method reads one construct and moves past it."""

    joins = (("or", pl.any_horizontal), ("and", pl.all_horizontal))

    def __init__(self, text: str) -> None:
        self._text, self._position, self._depth = text, 0, 0
        self.columns: dict[str, None] = {}

    def read(self, joins: Sequence[tuple[str, Callable[..., pl.Expr]]]) -> Condition:
        """Read conditions joined by or, of conditions joined by and, of single conditions."""
        if not joins:
            return self._read_one()
        (word, join), *inner = joins
        parts = [self.read(inner)]
        while self._accept(rf"{word}(?![\w.\-])"):
            parts.append(self.read(inner))
        return parts[0] if len(parts) == 1 else lambda frame: join(*(part(frame) for part in parts))

    def _read_one(self) -> Condition:
        negations = self._accept(r"not(?![\w.\-])(?:\s+not(?![\w.\-]))*") or ""
        condition = self._read_nested() if self._accept(r"(?=\()") is not None else self._read_comparison()
        return (lambda frame: ~condition(frame)) if len(negations.split()) % 2 else condition

    def _read_nested(self) -> Condition:
        if self._depth == MAX_DEPTH:
            too_deep = "The filter is nested more than {max_depth} levels deep. Use fewer parentheses."
            raise self._make_error(too_deep, code="filter_too_deep", max_depth=MAX_DEPTH)
        self._depth += 1
        self.expect(r"\(", "(")
        condition = self.read(self.joins)
        self.expect(r"\)", "a comparison, and, or, or ) to close the parenthesis")
        self._depth -= 1
        return condition

    def _read_comparison(self) -> Condition:
        name = self.expect(_NAME, "the name of a column; names with blanks or other signs go in backticks")
        if name[0] in "\"'`":
            name = name[1:-1].replace(name[0] * 2, name[0])
        self.columns[name] = None
        words = (self._accept(_OPERATOR) or "").lower().split()
        operator = " ".join(word for word in words if word not in {"is", "not"}).replace("==", "=")
        values = self._read_values(operator) if operator else [True]
        condition = partial(compare, name, operator or "=", values)
        return (lambda frame: ~condition(frame)) if "not" in words else condition

    def _read_values(self, operator: str) -> list[Any]:
        single = (_VALUE, 'a value, such as 3, "text", 2024-05-31 or true; text goes in quotes')
        source = self.expect(*_VALUES.get(operator, single))
        values = [(found, read_value(found[0])) for found in re.finditer(_VALUE, source, re.IGNORECASE)]
        for found, value in values:
            if value is None:
                self._position += found.start() - len(source)
                raise self._make_error(
                    "{found!r} in the filter is neither a number nor a date that exists. Write 3, -0.5, 2e6, 2024, "
                    "2024-05, 2024-05-31 or 2024-05-31T18:30.",
                    code="filter_value",
                    found=found[0][:40],
                )
        return [value for _, value in values if value is not None]

    def _accept(self, pattern: str) -> str | None:
        found = re.compile(rf"\s*({pattern})", re.IGNORECASE).match(self._text, self._position)
        self._position = found.end() if found else self._position
        return found[1] if found else None

    def expect(self, pattern: str, expected: str) -> str:
        """Move past a pattern and return its text; if it is not next, raise an error that says what was expected."""
        source = self._accept(pattern)
        if source is None:
            sentence = "The filter cannot be read at {found}: {problem}."
            raise self._make_error(sentence, code="filter_syntax", problem=f"expected {expected}")
        return source

    def _make_error(self, sentence: str, **fields: Any) -> SearchError:
        """Make an error with the position of the next word or sign, and two lines with a caret under it."""
        source = self._accept(r"\w+|.|") or ""
        position = self._position - len(source)
        found = f"its character {position + 1}, {source[:40]!r}" if source else "its end"
        line = re.sub(r"[\s\ud800-\udfff]", " ", self._text[max(position - 30, 0) : position + 30])
        caret = f"{line}\n{' ' * min(position, 30)}^"
        return SearchError(sentence, **{"found": found, "position": position + 1, "caret": caret, **fields})

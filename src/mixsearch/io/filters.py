"""Filters: conditions on columns as people type them, evaluated by Polars. Missing values never match."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.io.column_names import make_unknown_error
from mixsearch.io.groups import find_kind

Condition = Callable[[pl.DataFrame], pl.Expr]

MAX_CHARACTERS, MAX_DEPTH = 10_000, 50
_END = r"(?![\w.-])"  # of a word: names may have points and hyphens inside
_TEXT = r""""(?:[^"\ud800-\udfff]|"")*"|'(?:[^'\ud800-\udfff]|'')*'"""  # half a pair of surrogates is not a character
_NAME = rf"(?!(?:and|or|not){_END})[^\W\d]\w*(?:[.-]\w+)*|{_TEXT}|`(?:[^`\ud800-\udfff]|``)+`"
_OPERATOR = r"[=!<>]=|[=<>]|(?:is\s+)?(?:not\s+)?(?:in|between|contains|(?:starts|ends)\s+with|missing)\b"
_DATE = r"(?!0000)[0-9]{4}(?:-[0-9]{2}){0,2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?"
# Whatever follows a digit belongs to the value, so that a typo is one error.
_VALUE = rf"(?:{_TEXT}|(?:true|false){_END}|{_DATE}(?![\w.:+/-])|[+-]?\.?[0-9][\w.:+/-]*)"
_VALUES = {"in": rf"\(\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\)", "between": rf"{_VALUE}\s+and\s+{_VALUE}", "missing": ""}
_EXPECTED = 'a value, such as 3, "text", 2024-05-31 or true; after in ("Rome", "Oslo"), after between 2 and 4'
_PATTERNS = {"contains": "(?i){}", "starts with": "(?i)^{}", "ends with": "(?i){}$"}
_EXAMPLES = {"numbers": "{} >= 3", "dates": "{} >= 2024-05-31", "text": '{} = "text"', "true or false": "{} = true"}


class Filter:
    """A condition on columns, read by recursive descent: each method reads one construct and moves past it."""

    def __init__(self, text: Any) -> None:
        if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
            sentence = "A filter must be text of at most {max_characters:,} characters."
            raise SearchError(sentence, code="filter_not_text", max_characters=MAX_CHARACTERS)
        self.columns: list[str] = []
        self._text, self._position = text, 0
        self._condition = self._read_joined(0, "or")
        self._read(r"\Z", "a comparison, and, or, or the end")

    def mask(self, frame: pl.DataFrame) -> Array:
        """Return which rows of a frame match, (n,)."""
        return frame.select(self._condition(frame).fill_null(False)).to_series().to_numpy()

    def _read_joined(self, depth: int, word: str) -> Condition:
        """Read conditions joined by or, of conditions joined by and, of single conditions."""
        read = partial(self._read_joined, depth, "and") if word == "or" else partial(self._read_one, depth)
        conditions = [read()]
        while self._read(word + _END):
            conditions.append(read())
        join = pl.any_horizontal if word == "or" else pl.all_horizontal
        return lambda frame: join(condition(frame) for condition in conditions)

    def _read_one(self, depth: int) -> Condition:
        negations = self._read(rf"(?:not{_END}\s*)*").split()
        if self._read(r"\("):
            self._read("" if depth < MAX_DEPTH else "(?!)", f"at most {MAX_DEPTH} levels of parentheses")
            condition = self._read_joined(depth + 1, "or")
            self._read(r"\)", "a comparison, and, or, or ) to close the parenthesis")
        else:
            condition = self._read_comparison()
        return (lambda frame: ~condition(frame)) if len(negations) % 2 else condition

    def _read_comparison(self) -> Condition:
        name = _unquote(self._read(_NAME, "the name of a column; names with blanks or other signs go in backticks"))
        self.columns.append(name)
        words = self._read(_OPERATOR).lower().split()
        operator = " ".join(word for word in words if word not in {"is", "not"}).replace("==", "=")
        source = self._read(_VALUES.get(operator, _VALUE), _EXPECTED) if operator else "true"
        condition = partial(_compare, name, operator or "=", re.findall(_VALUE, source, re.IGNORECASE))
        return (lambda frame: ~condition(frame)) if "not" in words else condition

    def _read(self, pattern: str, expected: str = "") -> str:
        """Read a pattern and move past it. If it is not next, return no text, or report what was expected."""
        match = re.compile(rf"\s*({pattern})", re.IGNORECASE).match(self._text, self._position)
        if match or not expected:
            self._position = match.end() if match else self._position
            return match[1] if match else ""
        self._read("")  # the blanks before the error
        start = max(self._position - 30, 0)
        line = re.sub(r"[\s\ud800-\udfff]", " ", self._text[start : self._position + 30])
        raise SearchError(
            "The filter cannot be read at character {position}: expected {expected}.",
            code="filter_syntax",
            position=self._position + 1,
            expected=expected,
            caret=f"{line}\n{' ' * (self._position - start)}^",
        )


def _unquote(source: str) -> str:
    return source[1:-1].replace(source[0] * 2, source[0]) if source[0] in "\"'`" else source


def _read_bounds(source: str, kind: str) -> tuple[Any, Any]:
    """Read the least and the largest value that a literal stands for in a column: 2024-05 is all of May."""
    text = _unquote(source)
    if kind == "dates" and re.fullmatch(_DATE, text, re.IGNORECASE):
        start = np.datetime64(text.upper())
        end = start + np.array(1, f"timedelta64[{np.datetime_data(start.dtype)[0]}]")  # a year, a month, a day ...
        return start.astype("datetime64[us]"), end.astype("datetime64[us]") - np.timedelta64(1, "us")
    if kind == "numbers":
        is_whole = source.lstrip("+-").isdecimal() and abs(float(source)) < 2**63
        return (int(source) if is_whole else float(source),) * 2
    if kind == "text" and text != source:
        return text, text
    if kind == "true or false" and source.lower() in {"true", "false"}:
        return (source.lower() == "true",) * 2
    raise ValueError(source)


def _compare(name: str, operator: str, sources: Sequence[str], frame: pl.DataFrame) -> pl.Expr:
    """Compare a column with literals; the result is null where the column is missing."""
    if name not in frame.columns:
        raise make_unknown_error(name, frame.columns)
    dtype, column = frame.schema[name], pl.nth(frame.get_column_index(name))
    kind = find_kind(dtype)
    if dtype.is_float():
        column = column.fill_nan(None)
    elif kind == "text":
        column = column.cast(pl.String)
    elif kind == "dates":
        local = column.dt.replace_time_zone(None) if dtype == pl.Datetime else column
        column = local.cast(pl.Datetime("us"), strict=False)  # missing if they are beyond its range
    if operator == "missing" or kind == "nothing":
        return column.is_null() if operator == "missing" else column.cast(pl.Boolean)
    try:
        bounds = [_read_bounds(source, kind) for source in sources]
        if operator in _PATTERNS:  # escape_regex raises TypeError for values other than text
            return column.str.contains(_PATTERNS[operator].format(pl.escape_regex(bounds[0][0])))
    except (TypeError, ValueError) as error:
        raise SearchError(
            "The condition {condition!r} does not fit column {column!r}, which holds {kind}. Example: {example}.",
            code="filter_type",
            condition=" ".join([operator, *sources])[:60],
            column=name,
            kind=f"values of type {dtype}" if kind == "other" else kind,
            example=_EXAMPLES.get(kind, "{} is missing").format(name if name.isidentifier() else f"`{name}`"),
        ) from error
    if operator in {"=", "in"} and kind == "text":
        return column.is_in([text for text, _ in bounds])
    is_equal = pl.any_horizontal(column.is_between(pl.lit(first), pl.lit(last)) for first, last in bounds)
    low, high = pl.lit(bounds[0][0]), pl.lit(bounds[-1][1])
    orders = {"<": column < low, "<=": column <= high, ">": column > high, ">=": column >= low}
    orders |= {"between": column.is_between(low, high), "!=": ~is_equal}
    return orders.get(operator, is_equal)

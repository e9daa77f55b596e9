"""Values of JSON: one on each line, in an array, or one after another, read piece by piece."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from mixsearch.data.files.location import File
from mixsearch.data.files.streams import name_file, replace_surrogates
from mixsearch.errors import SearchError

# Lists in lists; no data that people keep comes near to it, but the stack of a parser ends somewhere.
MAX_DEPTH = 100
# Of one value, before it is said not to end.
MAX_CHARACTERS = 1 << 28
_MAX_QUOTED = 60
# An error this near to the end of what was read may be due to what was not.
_MARGIN = 16
_DECODER = json.JSONDecoder()


def parse_record(text: str, line: int, file: File | None) -> Any:
    """Return the object or string of a line of JSON."""
    try:
        record = json.loads(text)
        _check_depth(record, text.count("[") + text.count("{"))
    except (ValueError, RecursionError) as error:
        raise _make_error(error, line, text, file) from error
    return check_record(record, line, text, file)


def check_record(record: Any, line: int, text: str, file: File | None, *, is_object: bool = False) -> Any:
    """Return a value of JSON if it is an object or, of texts, a string."""
    if isinstance(record, dict):
        # Lone surrogates of names, as of values, are no characters.
        return record if all(map(str.isascii, record)) else {replace_surrogates(name): record[name] for name in record}
    if isinstance(record, str) and not is_object:
        return record
    raise SearchError(
        "Line {line:,} of {file!r} has {text!r}, but a row must be a JSON object{alternative}.",
        code="invalid_record",
        line=line,
        file=name_file(file),
        text=text[:_MAX_QUOTED],
        alternative="" if is_object else " or a string",
    )


def iterate_values(
    pieces: Iterator[str], file: File | None, max_characters: int = MAX_CHARACTERS
) -> Iterator[tuple[int, Any]]:
    """Yield the values of an array of JSON, or of values one after another, each with its first line.

    Only the values that are not yet complete are in memory. One with more characters than the maximum is an error.
    """
    text = _Text(pieces, max_characters)
    is_array = text.peek() == "["
    if is_array:
        text.skip(1)
    is_first = True
    while (character := text.peek()) and not (is_array and character == "]"):
        if is_array and not is_first:
            if character != ",":
                raise _make_error("Expecting ',' or ']'", text.line, text.rest, file)
            text.skip(1)
            text.peek()
        yield text.line, text.decode(file)
        is_first = False
    if is_array and not character:
        raise _make_error("The array has no end", text.line, "", file)


class _Text:
    """Text that grows as it is read."""

    def __init__(self, pieces: Iterator[str], max_characters: int) -> None:
        self._pieces, self._buffer, self._position = pieces, "", 0
        self._max_characters = max_characters
        self.line = 1

    @property
    def rest(self) -> str:
        """The text that was read and not used."""
        return self._buffer[self._position :]

    def peek(self) -> str:
        """Skip white space, and return the next character; "" at the end."""
        while True:
            for position in range(self._position, len(self._buffer)):
                if not self._buffer[position].isspace():
                    self.skip(position - self._position)
                    return self._buffer[self._position]
            self.skip(len(self._buffer) - self._position)
            if not self._grow():
                return ""

    def skip(self, n_characters: int) -> None:
        """Pass over characters, and count the lines."""
        self.line += self._buffer.count("\n", self._position, self._position + n_characters)
        self._position += n_characters

    def decode(self, file: File | None) -> Any:
        """Return the next value."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._position)
                _check_depth(value, sum(self._buffer.count(mark, self._position, end) for mark in "[{"))
            except json.JSONDecodeError as error:
                may_go_on = error.pos >= len(self._buffer) - _MARGIN or error.msg.startswith("Unterminated string")
                if may_go_on and len(self._buffer) - self._position > self._max_characters:
                    reason = f"a value does not end after {self._max_characters:,} characters"
                    raise _make_error(reason, self.line, self.rest[:_MAX_QUOTED], file) from error
                if may_go_on and self._grow():
                    continue
                line = self.line + self._buffer.count("\n", self._position, error.pos)
                raise _make_error(error, line, self._buffer[error.pos :], file) from error
            except (ValueError, RecursionError) as error:
                raise _make_error(error, self.line, self.rest[:_MAX_QUOTED], file) from error
            self.skip(end - self._position)
            return value

    def _grow(self) -> bool:
        """Read as much as is left unused, so that a long value is not parsed for each of its pieces."""
        pieces, n_characters = [self.rest], 0
        while n_characters <= len(pieces[0]):
            piece = next(self._pieces, None)
            if piece is None:
                break
            pieces.append(piece)
            n_characters += len(piece)
        self._buffer, self._position = "".join(pieces), 0
        return n_characters > 0


def _check_depth(value: Any, n_openings: int) -> None:
    """Raise `RecursionError` if values are nested deeper than all that handles them allows."""
    layer = [value] if n_openings > MAX_DEPTH else []
    for _ in range(MAX_DEPTH):
        if not layer:
            return
        layer = [
            inner
            for each in layer
            if isinstance(each, list | dict)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    if layer:
        raise RecursionError


def _make_error(reason: Exception | str, line: int, text: str, file: File | None) -> SearchError:
    sentence = getattr(reason, "msg", str(reason))
    if isinstance(reason, RecursionError):
        sentence = "it is nested too deeply"
    elif isinstance(reason, ValueError) and not isinstance(reason, json.JSONDecodeError):
        sentence = f"it has an integer of more than {sys.get_int_max_str_digits():,} digits"
    return SearchError(
        "Line {line:,} of {file!r} is not valid JSON ({reason}): {text!r}.",
        code="invalid_json",
        line=line,
        file=name_file(file),
        reason=sentence,
        text=text[:_MAX_QUOTED],
    )

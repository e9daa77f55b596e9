"""Reading of uploaded files, each in a process that can be killed: a file may be damaged, or unpack to far too much."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.text import ColumnSummary, inspect_columns
from mixsearch.web.errors import describe_error
from mixsearch.web.processes import run_process
from mixsearch.web.schemas import FoundColumn

_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_PACKED = (".parquet", ".xlsx")
# What the name of an uploaded file may end in.
SUFFIXES = (*_FORMATS, *_PACKED, *(f"{each}{packed}" for each in _FORMATS for packed in (".gz", ".bz2", ".xz", ".zst")))
# Texts are longer than names, and hardly repeat.
_MIN_TEXT, _MIN_DISTINCT = 25, 0.5
_MAX_EXAMPLE = 120


class UnreadableError(SearchError):
    """An uploaded file that cannot be read."""

    code = "unreadable_file"


def inspect_file(folder: Path, name: str, seconds: float) -> list[FoundColumn]:
    """Return what the first rows of a file show about its columns."""
    found = call_in_process(seconds, _inspect, folder, name)
    return [FoundColumn.model_validate(each) for each in found]


def call_in_process(
    seconds: float,
    work: Callable[..., Any],
    folder: Path,
    *arguments: Any,
) -> Any:
    """Return `work(*arguments)`, called in a process within a folder; it must be plain data."""
    with run_process(seconds, send_result, work, folder, *arguments) as child:
        try:
            message = json.loads(child.connection.recv_bytes())
        except (EOFError, OSError) as error:
            raise explain_end(seconds if child.is_late else None) from error
    return take_result(message)


def send_result(reply: Connection, work: Callable[..., Any], folder: Path, *arguments: Any) -> None:
    """In the process: send what a function returns, or its error."""
    os.chdir(folder)  # messages name the file as the user does, without a path of the server
    try:
        message: dict[str, Any] = {"result": work(*arguments)}
    except MemoryError:
        message = {"error": describe_error(UnreadableError("The file does not fit into memory.")).model_dump()}
    except SearchError as error:
        message = {"error": describe_error(error).model_dump()}
    except Exception:  # a damaged file can make a reader raise anything
        message = {"error": describe_error(explain_end(None)).model_dump()}
    reply.send_bytes(json.dumps(message).encode())


def take_result(message: dict[str, Any]) -> Any:
    """Return the result of a process, or raise its error here."""
    if "error" in message:
        error = message["error"]
        # The sentence is complete: its braces are no fields.
        sentence = error["message"].replace("{", "{{").replace("}", "}}") if error["fields"] else error["message"]
        raise SearchError(sentence, code=error["code"], **error["fields"])
    return message["result"]


def explain_end(seconds: float | None) -> SearchError:
    """Return the error for a process that was killed by the timer, or ended itself: no memory, or a crash."""
    if seconds is None:
        return UnreadableError("The file cannot be read. It seems to be damaged, or takes too much memory.")
    return SearchError(
        "Reading the file took longer than {seconds:g} seconds. Use mixsearch on the command line, which has no limit.",
        code="too_slow",
        seconds=seconds,
    )


def _inspect(name: str) -> Sequence[dict[str, Any]]:
    with collect_warnings():
        columns = inspect_columns(name)
    if not columns:
        raise SearchError("{name!r} has no columns.", code="no_columns", name=name)
    texts = [each for each in columns if each.role in ("text", None) and _holds_texts(each)]
    chosen = max(texts, key=lambda each: (each.role == "text", each.mean_length), default=None)
    return [
        {
            **{name: value for name, value in asdict(each).items() if name in FoundColumn.model_fields},
            "role": "text" if each is chosen else None if each.role == "text" else each.role,
            "example": None if each.example is None else each.example[:_MAX_EXAMPLE],
        }
        for each in columns
    ]


def _holds_texts(column: ColumnSummary) -> bool:
    n_values = column.n_rows - column.n_missing
    is_string = "string" in column.kind
    return is_string and column.mean_length >= _MIN_TEXT and column.n_distinct >= _MIN_DISTINCT * n_values

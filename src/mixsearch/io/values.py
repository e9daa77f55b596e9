"""Single values and names: missing ones, text, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, and the NaT and NA of pandas."""
    return (
        value is None or type(value).__name__ in {"NAType", "NaTType"} or (isinstance(value, float) and value != value)
    )


def to_text(value: Any) -> str:
    """Return a value as text, without lone surrogates; lists and dicts as JSON."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    text = value if isinstance(value, str) else to_json(value) if isinstance(value, dict | list) else str(value)
    return replace_surrogates(text)


def to_json(value: Any) -> str:
    """Return a value as JSON; numbers that are not finite become null, dates text."""
    return json.dumps(_make_plain(value), ensure_ascii=False, default=str)


def _make_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _make_plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(inner) for inner in value]
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    return value


def replace_surrogates(text: str) -> str:
    """Return a text with a replacement character for each lone surrogate, which no UTF-8 file can hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def rename_repeated(names: Sequence[str]) -> list[str]:
    """Return names of which none is repeated: "x", "x (2)"; a name that is empty becomes "column 1"."""
    taken, renamed = set(names), dict[str, None]()
    for number, name in enumerate(names, start=1):
        unique = plain = name.strip() or f"column {number}"
        copy = 1
        while unique in renamed or (copy > 1 and unique in taken):
            copy += 1
            unique = f"{plain} ({copy})"
        renamed[unique] = None
    return list(renamed)

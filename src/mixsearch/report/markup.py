"""HTML and SVG as text: everything that is not markup is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import Any

# Elements without content.
_VOID = ("br", "hr", "meta")
# Control characters, which no page may hold; a browser would end a text at some.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def make_text(value: Any) -> Markup:
    """Return a value as HTML text; markup stays unchanged."""
    if isinstance(value, Markup):
        return value
    return Markup(escape(_CONTROL.sub("\ufffd", str(value)), quote=True))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an element. Children that are None are left out, as are attributes that are None or False.

    An underscore at the end of the name of an attribute is dropped, others become dashes.
    """
    given = {key: value for key, value in attributes.items() if value is not None and value is not False}
    names = {key: key.rstrip("_").replace("_", "-") if key != "viewBox" else key for key in given}
    listed = "".join(f' {names[key]}="{make_text(value)}"' for key, value in given.items())
    if name in _VOID:
        return Markup(f"<{name}{listed}>")
    return Markup(f"<{name}{listed}>{join(*children)}</{name}>")


def join(*children: Any) -> Markup:
    """Return parts one after another."""
    return Markup("".join(make_text(child) for child in children if child is not None))


def is_link(address: str | None) -> bool:
    """Return whether an address may be opened by a click: only pages of the web are."""
    return address is not None and re.fullmatch(r"https?://[^\s\x00-\x1f]+", address, re.IGNORECASE) is not None

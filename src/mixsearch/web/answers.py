"""Answers as bytes: JSON, files that browsers save, and what judged documents or rows say."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from fastapi import Response

from mixsearch.io.values import to_json

_MAX_FILE_NAME = 100
CACHE_HEADERS = {"Cache-Control": "private, max-age=60"}


def encode_json(value: Any) -> bytes:
    """Return a value as JSON; a lone surrogate, as broken files contain, becomes a question mark."""
    return to_json(value).encode(errors="replace")


def make_response(body: bytes, media_type: str = "application/json", **headers: str) -> Response:
    """Return a response that may be kept for a while."""
    return Response(body, media_type=media_type, headers=CACHE_HEADERS | headers)


def name_file(name: str, suffix: str) -> dict[str, str]:
    """Return the header with which browsers save a response as a file, under a name that any system takes."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_MAX_FILE_NAME] or "mixsearch"
    ascii_name = re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-.") or "mixsearch"
    encoded = quote(plain, errors="replace")
    return {
        "Content-Disposition": f"attachment; filename=\"{ascii_name}.{suffix}\"; filename*=UTF-8''{encoded}.{suffix}"
    }


def describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of an answer that is a file."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


def describe_audit(found: Any, judgements: dict[int, bool], n: int) -> dict[str, Any]:
    """Return what judgements say about a topic or the members of a table, and the next rows to judge."""
    result = found.judge(judgements) if judgements else None
    numbers = ("n_members", "precision", "recall")
    return {
        "n_judged": result.n_judged if result else 0,
        "sentence": str(result) if result else "",
        **{name: list(getattr(result, name)) if result else None for name in numbers},
        "next": found.audit(n).tolist() if n else [],
    }

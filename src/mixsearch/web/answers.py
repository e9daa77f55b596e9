"""Answers as bytes: JSON, files that browsers save, and what judged documents or rows say."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from fastapi import Response

from mixsearch.io.tables import write_table
from mixsearch.io.values import to_json
from mixsearch.web.schemas import Judgements

_MAX_FILE_NAME = 100
CACHE_HEADERS = {"Cache-Control": "private, max-age=60"}


def encode_json(value: Any) -> bytes:
    """Return a value as JSON; a lone surrogate, as broken files contain, becomes a question mark."""
    return to_json(value).encode(errors="replace")


def make_response(body: bytes, media_type: str = "application/json", **headers: str) -> Response:
    """Return a response that may be kept for a while."""
    return Response(body, media_type=media_type, headers=CACHE_HEADERS | headers)


def encode_csv(frame: Any) -> bytes:
    """Return a table as CSV."""
    with TemporaryDirectory(prefix="mixsearch-") as folder:
        write_table(frame, Path(folder, "table.csv"))
        return Path(folder, "table.csv").read_bytes()


def name_file(name: str, suffix: str) -> dict[str, str]:
    """Return the header with which browsers save a response as a file, under a name that any system takes."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_MAX_FILE_NAME] or "mixsearch"
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(plain, errors='replace')}.{suffix}"}


def describe_file(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of an answer that is a file."""
    return {200: {"content": {media_type: {"schema": {"type": "string", "format": "binary"}}}}}


def describe_audit(answer: Any, judged: Judgements) -> dict[str, Any]:
    """Return what judgements say about a topic or the members of a table, and the next rows to judge."""
    audit = answer.judge(judged.judgements).to_dict() if judged.judgements else None
    return {"audit": audit, "next": answer.audit(judged.n).tolist() if judged.n else []}

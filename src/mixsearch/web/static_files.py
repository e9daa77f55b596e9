"""Static files, compressed once and kept in memory."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mixsearch.web.page import STYLE, find_state, join_styles
from mixsearch.web.settings import STATIC_FILES

# By name: what a machine has registered for these suffixes must not matter.
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_MAX_KEPT = 512


class Encoded(NamedTuple):
    """A body, plain and compressed."""

    plain: bytes
    packed: bytes
    tag: str
    media_type: str


class StaticFiles:
    """An ASGI app that sends the files of the page. A file that was changed is read again."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405)
        name = scope["path"].removeprefix(scope.get("root_path", "")).lstrip("/")
        await send_encoded(request.headers, _find(name))(scope, receive, send)


def send_encoded(headers: Headers, body: Encoded) -> Response:
    """Return a response with a body, compressed if the client takes that; an empty one if it has the body already."""
    common = {"ETag": f'"{body.tag}"', "Vary": "Accept-Encoding"}
    if headers.get("if-none-match") == common["ETag"]:
        return Response(None, 304, common)
    if "gzip" in headers.get("accept-encoding", ""):
        return Response(body.packed, 200, {**common, "Content-Encoding": "gzip"}, body.media_type)
    return Response(body.plain, 200, common, body.media_type)


@lru_cache(maxsize=_MAX_KEPT)
def encode(body: bytes, media_type: str) -> Encoded:
    """Return a body, plain and compressed."""
    return Encoded(body, gzip.compress(body, 9, mtime=0), hashlib.sha256(body).hexdigest()[:20], media_type)


def _find(name: str) -> Encoded:
    if name == STYLE:
        return _encode_styles(find_state())
    file = (STATIC_FILES / name).resolve()
    if not (file.is_relative_to(STATIC_FILES.resolve()) and file.is_file()):
        raise HTTPException(404)
    return _encode_file(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _encode_styles(_: tuple[int, int]) -> Encoded:
    return encode(join_styles(), _TYPES[".css"])


@lru_cache(maxsize=_MAX_KEPT)
def _encode_file(file: Path, _: int) -> Encoded:
    kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return encode(file.read_bytes(), kind)

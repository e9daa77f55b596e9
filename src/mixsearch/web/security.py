"""The guard before the app: host names, same origin, token, time and size of requests, and the security headers."""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.io.disk import write_atomically
from mixsearch.web.errors import APIError, make_error_response
from mixsearch.web.settings import FILES, PAGES, STATIC, STATIC_FILES, Access, Limits

SECURITY_HEADERS = {
    # Only scripts, styles and requests of this server: text of documents could not run even if it became markup.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        # No script of the page may turn text into markup or code, by mistake either.
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # With no referrer at all, browsers would send the token form with a null origin.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HOST = re.compile(r"(?:(?P<address>\d+(?:\.\d+){3}|\[[\da-f:.]+\])|(?P<name>[^:\[\]]+))(?::\d*)?")
# A name per server: cookies are shared between ports.
_COOKIE, _COOKIE_SECONDS = "mixsearch-{1}", 30 * 24 * 3600
_MAX_NAME = 80
_TOKEN_BYTES = 24
# Bytes of the body of a request that is not an upload; an upload may take some times as long.
_MAX_BODY, _UPLOAD_TIMES = 1 << 20, 10


def keep_token(index: Path) -> str:
    """Return the token that is kept beside an index, so that a restart locks no open tab out.

    It is made at the first use, in a file `INDEX.token` that only its owner can read. Where that cannot be written, the
    token is a new one.
    """
    file = index.resolve().with_name(f"{index.resolve().name}.token")
    with suppress(OSError, ValueError):
        facts = file.lstat()  # neither through a link nor from a pipe, which would block
        is_private = sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o077)
        token = file.read_text(encoding="ascii").strip() if is_private and stat.S_ISREG(facts.st_mode) else ""
        if len(token) >= _TOKEN_BYTES and token.isprintable():
            return token
    token = make_token()
    with suppress(OSError), write_atomically(file) as temporary:
        temporary.touch(0o600)
        temporary.write_text(f"{token}\n", encoding="ascii")
    return token


def make_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Guard:
    """Middleware that answers requests of the own page and of those with the token, within limits of time and size."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self._app, self._access, self._limits = app, access, limits
        self._ticket = access.ticket
        # Derived: who reads a cookie can use this server until its token changes, but does not learn the token, which
        # may be that of other servers too.
        self._session = hmac.new((access.token or "").encode(), b"mixsearch session", "sha256").hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = get_path(scope) == FILES
        seconds = self._limits.timeout * (_UPLOAD_TIMES if is_upload else 1)
        exchange = _Exchange(scope, receive, send, self._limits.max_file if is_upload else _MAX_BODY)
        try:
            async with asyncio.timeout(seconds):
                await exchange.run(self._answer)
        except ClientDisconnect:
            return
        except TimeoutError:
            if not exchange.has_begun:  # else the server closes the connection
                error = APIError("too_slow", "No answer within {seconds:g} seconds. Request less.", seconds=seconds)
                await make_error_response(error)(scope, receive, exchange.send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_site(scope, headers)
            response = await self._check_token(scope, receive)
        except APIError as error:
            response = make_error_response(error)
        await (response or self._app)(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """Reject unknown host names: anyone can point a name at this machine, to let other pages read its answers."""
        parts = _HOST.fullmatch(headers.get("host", "").lower())
        name = parts["name"] or "" if parts else ""
        # No DNS name can imitate an IP address.
        if parts and (parts["address"] or name in self._access.hosts or name.split(".")[-1] == "localhost"):
            return
        raise APIError(
            "wrong_host",
            "The server does not answer to the host name {host!r}. Use its IP address, or start it with "
            "--allow-host NAME.",
            host=headers.get("host", "")[:_MAX_NAME],
        )

    async def _check_token(self, scope: Scope, receive: Receive) -> Response | None:
        """Return None if a request has the token or needs none, else the response that leads to it."""
        token, path = self._access.token, get_path(scope)
        if token is None or path.startswith(STATIC):
            return None
        request = Request(scope, receive)
        if path in PAGES and request.method == "POST":
            return self._sign_in(request, dict(parse_qsl((await request.body()).decode(errors="replace"))))
        if path in PAGES and "token" in request.query_params:
            return self._sign_in(request, request.query_params)
        if self._has_token(request):
            return None
        if path in PAGES:
            return FileResponse(STATIC_FILES / "sign-in.html", 401)
        raise APIError("unauthorized", "The server requires its token: send 'Authorization: Bearer TOKEN'.")

    def _has_token(self, request: Request) -> bool:
        """Return whether a request has the token in its header, or the session in its cookie."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer" and _is_same(self._access.token, bearer.strip())
        return is_bearer or _is_same(self._session, request.cookies.get(_COOKIE.format(*request.scope["server"]), ""))

    def _sign_in(self, request: Request, given: Mapping[str, str]) -> Response:
        """Set a cookie with the session, and redirect to the same address without the token."""
        sent = given.get("token", "")
        is_ticket = _is_same(self._ticket, sent)
        # A browser that is signed in may come back with a ticket that it has used.
        if not (is_ticket or _is_same(self._access.token, sent) or self._has_token(request)):
            form = (STATIC_FILES / "sign-in.html").read_text(encoding="utf-8")
            return HTMLResponse(form.replace('role="alert" hidden', 'role="alert"'), 401)
        if is_ticket:
            self._ticket = None
        rest = urlencode([pair for pair in parse_qsl(request.url.query) if pair[0] != "token"])
        response = RedirectResponse(f".{get_path(request.scope)}" + (f"?{rest}" if rest else ""), 303)
        response.set_cookie(
            _COOKIE.format(*request.scope["server"]),
            self._session,
            max_age=_COOKIE_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response


def _check_site(scope: Scope, headers: Headers) -> None:
    """Reject requests of other sites, except links to the pages."""
    is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and get_path(scope) in PAGES
    is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    origin = headers.get("origin")
    is_from_here = origin is None or origin.partition("://")[2] == headers.get("host")
    if not (is_link or (is_ours and is_from_here)):
        raise APIError("forbidden", "The request came from another site. Only pages of this server may send it.")


def _is_same(secret: str | None, sent: str) -> bool:
    return bool(secret) and secrets.compare_digest(str(secret).encode(), sent.encode(errors="replace"))


def get_path(scope: Scope) -> str:
    """Return the path of a request below the path where the app is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


class _Exchange:
    """One request and its answer, and how far both have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._scope, self._receive, self._send, self._max_bytes = scope, receive, send, max_bytes
        headers = Headers(scope=scope)
        self._is_read = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"
        self._n_bytes = 0
        self._first: Message | None = None
        self._is_over = False
        self.has_begun = False

    async def run(self, app: ASGIApp) -> None:
        """Run an app, and cancel its work if the client disconnects before the answer."""
        if not self._is_read:
            await app(self._scope, self.receive, self.send)
            return
        # The one message of a request without a body, which the app may still ask for.
        self._first = await self._receive()
        work = asyncio.ensure_future(app(self._scope, self.receive, self.send))
        leave = asyncio.ensure_future(self._receive())
        try:
            await asyncio.wait({work, leave}, return_when=asyncio.FIRST_COMPLETED)
            if work.done() or self._is_over:
                await work
        finally:
            for task in (work, leave):
                task.cancel()

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message, self._first = self._first or await self._receive(), None
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._max_bytes:
            raise APIError(
                "too_large", "The request is larger than the limit of {max_bytes:,} bytes.", max_bytes=self._max_bytes
            )
        self._is_read = self._is_read or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send the next part of the answer, with the security headers.

        An answer to a half-read request closes the connection: the rest would be taken for the next request.
        """
        self.has_begun = True
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(SECURITY_HEADERS)
            # The browser revalidates files, so that a new version shows at once.
            headers.setdefault("Cache-Control", "no-cache")
            if not self._is_read:
                headers["Connection"] = "close"
        await self._send(message)
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)

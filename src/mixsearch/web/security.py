"""The guard before the app: host names, same origin, token, time and size of requests, and the security headers."""

from __future__ import annotations

import hmac
import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.io.disk import write_atomically
from mixsearch.web.errors import APIError, make_error_response
from mixsearch.web.settings import PAGES, STATIC, STATIC_FILES, Access

SECURITY_HEADERS = {
    # Only scripts, styles and requests of this server: text of documents could not run even if it became markup.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "base-uri 'none'; frame-ancestors 'none'; "
        # No script of the page may turn text into markup or code, by mistake either.
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HOST = re.compile(r"(?:(?P<address>\d+(?:\.\d+){3}|\[[\da-f:.]+\])|(?P<name>[^:\[\]]+))(?::\d*)?")
# A name per server: cookies are shared between ports.
_COOKIE, _COOKIE_SECONDS = "mixsearch-{1}", 30 * 24 * 3600
_MAX_NAME = 80
SIGN_IN = STATIC_FILES / "sign-in.html"
_TOKEN_BYTES = 24


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
    """Middleware that passes requests of the own page and of those with the token, and adds the security headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access, self._ticket = app, access, access.ticket
        # Derived: who reads a cookie can use this server until its token changes, but does not learn the token, which
        # may be that of other servers too.
        self._session = hmac.new((access.token or "").encode(), b"mixsearch session", "sha256").hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject one request."""

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY_HEADERS)
                # The browser revalidates files, so that a new version shows at once.
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with suppress(ClientDisconnect):
            await (self._check(Request(scope)) or self._app)(scope, receive, send_secured)

    def _check(self, request: Request) -> Response | None:
        """Return the response to a request that is refused or signs in, and None for one that may pass."""
        try:
            self._check_host(request.headers.get("host", ""))
            _check_site(request)
            return self._check_token(request)
        except APIError as error:
            return make_error_response(error)

    def _check_host(self, host: str) -> None:
        """Reject unknown host names: anyone can point a name at this machine, to let other pages read its answers."""
        parts = _HOST.fullmatch(host.lower())
        name = parts["name"] or "" if parts else ""
        # No DNS name can imitate an IP address.
        if parts and (parts["address"] or name in self._access.hosts or name.split(".")[-1] == "localhost"):
            return
        raise APIError(
            "wrong_host",
            "The server does not answer to the host name {host!r}. Use its IP address, or start it with "
            "--allow-host NAME.",
            host=host[:_MAX_NAME],
        )

    def _check_token(self, request: Request) -> Response | None:
        """Return None if a request has the token or needs none, else the response that leads to it."""
        path = get_path(request.scope)
        if self._access.token is None or path.startswith(STATIC):
            return None
        if path in PAGES and "token" in request.query_params:
            return self._sign_in(request)
        if self._has_token(request):
            return None
        if path in PAGES:
            return FileResponse(SIGN_IN, 401)
        raise APIError("unauthorized", "The server requires its token: send 'Authorization: Bearer TOKEN'.")

    def _has_token(self, request: Request) -> bool:
        """Return whether a request has the token in its header, or the session in its cookie."""
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer" and _is_same(self._access.token, bearer.strip())
        return is_bearer or _is_same(self._session, request.cookies.get(_COOKIE.format(*request.scope["server"]), ""))

    def _sign_in(self, request: Request) -> Response:
        """Set a cookie with the session, and redirect to the same address without the token."""
        sent = request.query_params["token"]
        is_ticket = _is_same(self._ticket, sent)
        # A browser that is signed in may come back with a ticket that it has used.
        if not (is_ticket or _is_same(self._access.token, sent) or self._has_token(request)):
            return FileResponse(SIGN_IN, 401)
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


def _check_site(request: Request) -> None:
    """Reject requests of other sites, except links to the pages."""
    headers, origin = request.headers, request.headers.get("origin")
    is_link = (
        request.method == "GET" and headers.get("sec-fetch-mode") == "navigate" and get_path(request.scope) in PAGES
    )
    is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    if not (is_link or (is_ours and (origin is None or origin.partition("://")[2] == headers.get("host")))):
        raise APIError("forbidden", "The request came from another site. Only pages of this server may send it.")


def _is_same(secret: str | None, sent: str) -> bool:
    return bool(secret) and secrets.compare_digest(str(secret).encode(), sent.encode(errors="replace"))


def get_path(scope: Scope) -> str:
    """Return the path of a request below the path where the app is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))

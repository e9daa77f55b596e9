"""Access to the server: host names, same origin, token; and the security headers of every answer."""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.web.errors import APIError, make_error_response
from mixsearch.web.page import get_path
from mixsearch.web.settings import PAGES, STATIC, STATIC_FILES, Access

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
_COOKIE_SECONDS = 30 * 24 * 3600
_MAX_NAME = 80
_TOKEN_BYTES = 24


def keep_token(index: Path) -> str:
    """Return the token that is kept beside an index, so that a restart locks no open tab out.

    It is made at the first use, in a file `INDEX.token` that only its owner can read. Where that cannot be written, the
    token is a new one.
    """
    folder = index.resolve()
    file = folder.with_name(f"{folder.name}.token")
    token = _read_token(file)
    if token is None:
        token = make_token()
        _write_token(file, token)
    return token


def make_token() -> str:
    """Return a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def _read_token(file: Path) -> str | None:
    """Return the token in a file; None if others could have read or written it."""
    try:
        # Neither through a link nor from a pipe, which would block.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(file, flags), encoding="ascii") as opened:
            facts = os.fstat(opened.fileno())
            if not stat.S_ISREG(facts.st_mode):
                return None
            token = opened.read(_MAX_NAME).strip()
    except (OSError, ValueError):
        return None
    is_private = sys.platform == "win32" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o077)
    return token if is_private and len(token) >= _TOKEN_BYTES and token.isprintable() else None


def _write_token(file: Path, token: str) -> None:
    """Write a token to a file that only its owner can read, if the folder can be written."""
    with suppress(OSError), NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as made:
        try:
            made.write(f"{token}\n")
            made.close()
            os.replace(made.name, file)
        except BaseException:
            os.unlink(made.name)
            raise


class AccessMiddleware:
    """Answer the own page and requests with the token; reject all others."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access
        self._ticket = access.ticket
        # Derived: who reads a cookie can use this server until its token changes, but does not learn the token, which
        # may be that of other servers too.
        self._session = None if access.token is None else _derive_session(access.token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or reject one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_site(scope, headers)
            response = await self._check_token(scope, receive)
        except APIError as error:
            response = make_error_response(error)
        await (response or self._app)(scope, receive, add_headers(send))

    def _check_host(self, headers: Headers) -> None:
        """Reject unknown host names: anyone can point a name at this machine, to let other pages read its answers."""
        name = _parse_host(headers.get("host", ""))
        if name in ("localhost", *self._access.hosts) or name.endswith(".localhost") or _is_address(name):
            return
        raise APIError(
            "wrong_host",
            "The server does not answer to the host name {host!r}. Use its IP address, or start it with "
            "--allow-host NAME.",
            host=name[:_MAX_NAME],
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
        return _is_same(self._access.token or "", _get_bearer(request)) or _is_same(
            self._session or "", _get_session(request)
        )

    def _sign_in(self, request: Request, given: Mapping[str, str]) -> Response:
        """Set a cookie with the session, and redirect to the same address without the token."""
        token, session, sent = self._access.token, self._session, given.get("token", "")
        if token is None or session is None:
            return _send_refusal()
        # A browser that is signed in may come back with a ticket that it has used.
        if not (_is_same(token, sent) or self._use_ticket(sent) or self._has_token(request)):
            return _send_refusal()
        rest = urlencode([pair for pair in parse_qsl(request.url.query) if pair[0] != "token"])
        response = RedirectResponse(f".{get_path(request.scope)}" + (f"?{rest}" if rest else ""), 303)
        response.set_cookie(
            _name_cookie(request),
            session,
            max_age=_COOKIE_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    def _use_ticket(self, sent: str) -> bool:
        """Return whether the ticket was sent, which is then used up."""
        if self._ticket is None or not _is_same(self._ticket, sent):
            return False
        self._ticket = None
        return True


def _check_site(scope: Scope, headers: Headers) -> None:
    """Reject requests of other sites, except links to the pages."""
    is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and get_path(scope) in PAGES
    is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    origin = headers.get("origin")
    is_from_here = origin is None or origin.partition("://")[2] == headers.get("host")
    if not (is_link or (is_ours and is_from_here)):
        raise APIError("forbidden", "The request came from another site. Only pages of this server may send it.")


def _parse_host(host: str) -> str:
    """Return a host in lower case, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    """Return whether a host is an IP address, which no DNS name can imitate."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _name_cookie(request: Request) -> str:
    """Return a name per server: cookies are shared between ports."""
    server = request.scope.get("server") or ("", 0)
    return f"mixsearch-{server[1]}"


def _derive_session(token: str) -> str:
    return hmac.new(token.encode(), b"mixsearch session", "sha256").hexdigest()


def _get_bearer(request: Request) -> str:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else ""


def _get_session(request: Request) -> str:
    return request.cookies.get(_name_cookie(request), "")


def _is_same(secret: str, sent: str) -> bool:
    return bool(secret) and secrets.compare_digest(secret.encode(), sent.encode(errors="replace"))


def _send_refusal() -> Response:
    """Send the form again, with its sentence about a wrong token."""
    form = (STATIC_FILES / "sign-in.html").read_text(encoding="utf-8")
    return HTMLResponse(form.replace('role="alert" hidden', 'role="alert"'), 401)


def add_headers(send: Send) -> Send:
    """Return a sender that adds the security headers to an answer."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(SECURITY_HEADERS)
            # The browser revalidates files, so that a new version shows at once.
            headers.setdefault("Cache-Control", "no-cache")
        await send(message)

    return send_with_headers

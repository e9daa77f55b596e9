"""Who may ask: the right host, the same site, the right token; and what a page may do."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.web.failures import Refused, failure, told_of
from mixsearch.web.pages import PAGES, STATIC, STATIC_FILES
from mixsearch.web.settings import Access

SECURITY_HEADERS = {
    # No script, style or request but this server's own; text of documents could not run even if it became markup.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Without any, browsers would send the form of the token as if no site had.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_COOKIE_SECONDS = 30 * 24 * 3600
_MOST_FORM, _FORM_SECONDS = 4096, 5


class Gate:
    """An app that answers its own page and those who show the token, and nobody else."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or turn it away."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            self._check(scope)
            answer = await self._at_the_door(scope, receive)
        except Refused as error:
            answer = failure(told_of(error))
        await (answer or self._app)(scope, receive, guarded)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        _check_site(scope, headers)

    def _check_host(self, headers: Headers) -> None:
        """A name that anyone can point to this machine would let other pages read its answers."""
        name = _host_name(headers.get("host", ""))
        if name in ("localhost", *self._access.hosts) or name.endswith(".localhost") or _is_address(name):
            return
        raise Refused(
            "wrong_host",
            f"This server does not answer to the name {name[:80]!r}. Use its address, or start it with "
            "--allow-host NAME.",
        )

    async def _at_the_door(self, scope: Scope, receive: Receive) -> Response | None:
        """The way in for those who need a token; None for all others."""
        token, path = self._access.token, _path(scope)
        if token is None or path.startswith(STATIC):
            return None
        request = Request(scope, receive)
        if path in PAGES and request.method == "POST":
            return self._sign_in(request, await _form(request))
        if path in PAGES and "token" in request.query_params:
            return self._sign_in(request, request.query_params)
        if any(_same(token, shown) for shown in _shown(request)):
            return None
        if path in PAGES:
            return _ask_for_token()
        raise Refused("unauthorized", "This server asks for its token: send it as 'Authorization: Bearer TOKEN'.")

    def _sign_in(self, request: Request, given: Mapping[str, str]) -> Response:
        """A cookie for those who have the token, so that it leaves the address, and the same view without it."""
        token = self._access.token
        if token is None or not _same(token, given.get("token", "")):
            return _ask_for_token()
        rest = urlencode([pair for pair in parse_qsl(request.url.query) if pair[0] != "token"])
        answer = RedirectResponse(f".{_path(request.scope)}" + (f"?{rest}" if rest else ""), 303)
        answer.set_cookie(
            _cookie(request),
            token,
            max_age=_COOKIE_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return answer


def _check_site(scope: Scope, headers: Headers) -> None:
    """Other sites may link to the pages, and do nothing else."""
    is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and _path(scope) in PAGES
    is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    origin = headers.get("origin")
    is_from_here = origin is None or origin.partition("://")[2] == headers.get("host")
    if not (is_link or (is_ours and is_from_here)):
        raise Refused("forbidden", "Another site asked for this. Only this server's own pages may.")


def _path(scope: Scope) -> str:
    """Where a request goes, wherever the app itself is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _host_name(host: str) -> str:
    """A host without its port, in small letters."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    """Whether a host is called by its number, which no foreign name can stand for."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(request: Request) -> str:
    """A name for each server: cookies do not tell ports apart."""
    server = request.scope.get("server") or ("", 0)
    return f"mixsearch-{server[1]}"


def _shown(request: Request) -> list[str]:
    """The tokens that a request shows."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return [request.cookies.get(_cookie(request), ""), bearer.strip() if scheme.lower() == "bearer" else ""]


def _same(token: str, shown: str) -> bool:
    return secrets.compare_digest(token.encode(), shown.encode(errors="replace"))


async def _form(request: Request) -> dict[str, str]:
    body = b""
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > _MOST_FORM:
                    raise Refused("too_large", f"The form has more than {_MOST_FORM:,} bytes.")
    except ClientDisconnect:
        raise Refused("bad_request", "The form did not arrive whole.") from None
    except TimeoutError:
        raise Refused("too_slow", f"The form did not arrive within {_FORM_SECONDS} seconds.") from None
    return dict(parse_qsl(body.decode(errors="replace")))


def _ask_for_token() -> Response:
    return FileResponse(STATIC_FILES / "sign-in.html", 401)


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            # The browser asks whether a file has changed: a new version shows at once.
            headers.setdefault("Cache-Control", "no-cache")
        await send(message)

    return guarded

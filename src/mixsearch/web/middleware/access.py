"""Access to the server: host names, same origin, token; and the security headers of every answer."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.web.errors import STATUS, APIError, make_error_response
from mixsearch.web.middleware.wrong_tokens import WrongTokens
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
# A script or a style sheet needs no more: the page that loads it has the policy. Fifty of them make a start.
_FILE_HEADERS = ("Cross-Origin-Resource-Policy", "X-Content-Type-Options")
_FILE_SUFFIXES = (".js", ".css")
_COOKIE_SECONDS = 30 * 24 * 3600
_MAX_FORM_BYTES, _FORM_SECONDS = 4096, 5
_MAX_NAME = 80


class AccessMiddleware:
    """Answer the own page and requests with the token; reject all others.

    Parameters
    ----------
    app : ASGI app
        The app that answers.
    access : Access
        The token and the host names.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access
        self._wrong_tokens = WrongTokens()
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
            self._check(scope)
            response = await self._check_token(scope, receive)
        except APIError as error:
            response = make_error_response(error)
        if response is not None and response.status_code == STATUS["unauthorized"] and _has_secret(Request(scope)):
            await self._wrong_tokens.delay((scope.get("client") or ("",))[0])
        await (response or self._app)(scope, receive, _add_headers(scope, send))

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        _check_site(scope, headers)

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
        token, path = self._access.token, _get_path(scope)
        if token is None or path.startswith(STATIC):
            return None
        request = Request(scope, receive)
        if path in PAGES and request.method == "POST":
            return self._sign_in(request, await _read_form(request))
        if path in PAGES and "token" in request.query_params:
            return self._sign_in(request, request.query_params)
        if self._has_token(request):
            return None
        if path in PAGES:
            return _send_form()
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
        response = RedirectResponse(f".{_get_path(request.scope)}" + (f"?{rest}" if rest else ""), 303)
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
    is_link = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and _get_path(scope) in PAGES
    is_ours = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
    origin = headers.get("origin")
    is_from_here = origin is None or origin.partition("://")[2] == headers.get("host")
    if not (is_link or (is_ours and is_from_here)):
        raise APIError("forbidden", "The request came from another site. Only pages of this server may send it.")


def _get_path(scope: Scope) -> str:
    """Return the path of a request below the path where the app is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


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


def _has_secret(request: Request) -> bool:
    """Return whether a request that was refused came with a token or a session; the token of a form is its body."""
    in_address = request.method == "POST" or "token" in request.query_params
    return in_address or bool(_get_bearer(request) or _get_session(request))


def _get_bearer(request: Request) -> str:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else ""


def _get_session(request: Request) -> str:
    return request.cookies.get(_name_cookie(request), "")


def _is_same(secret: str, sent: str) -> bool:
    return bool(secret) and secrets.compare_digest(secret.encode(), sent.encode(errors="replace"))


async def _read_form(request: Request) -> dict[str, str]:
    body = b""
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > _MAX_FORM_BYTES:
                    raise APIError(
                        "too_large", "The form has more than {max_bytes:,} bytes.", max_bytes=_MAX_FORM_BYTES
                    )
    except ClientDisconnect:
        raise APIError("bad_request", "The form is incomplete.") from None
    except TimeoutError:
        raise APIError("too_slow", "The form did not arrive within {seconds} seconds.", seconds=_FORM_SECONDS) from None
    return dict(parse_qsl(body.decode(errors="replace")))


def _send_form() -> Response:
    return FileResponse(STATIC_FILES / "sign-in.html", 401)


def _send_refusal() -> Response:
    """Send the form again, with its sentence about a wrong token."""
    form = (STATIC_FILES / "sign-in.html").read_text(encoding="utf-8")
    return HTMLResponse(form.replace('role="alert" hidden', 'role="alert"'), 401)


def _add_headers(scope: Scope, send: Send) -> Send:
    is_file = _get_path(scope).startswith(STATIC) and scope["path"].endswith(_FILE_SUFFIXES)

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                if not is_file or name in _FILE_HEADERS:
                    headers[name] = value
            # The browser revalidates files, so that a new version shows at once.
            headers.setdefault("Cache-Control", "no-cache")
        await send(message)

    return send_with_headers

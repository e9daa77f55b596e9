"""Every error of the HTTP API in one JSON shape: a code, a message, and the facts as fields."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mixsearch.errors import Coded, SearchError, StorageError
from mixsearch.web.page import get_path, make_not_found_page
from mixsearch.web.settings import STATIC

# The status of an error: by its code, else by its class.
STATUS = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "gone": 410,
    "index_changed": 412,
    "too_large": 413,
    "not_an_image": 415,
    "wrong_host": 421,
    "bad_argument": 422,
    "internal": 500,
    "index_broken": 500,
    "busy": 503,
    "too_slow": 503,
}
_STATUS_BY_CLASS = ((StorageError, 500), (SearchError, 422))
_CODE_BY_STATUS = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_RETRY_SECONDS = 1
# Of a long value in a message, and of several wrong values.
_MAX_VALUE, _MAX_PROBLEMS = 80, 3


class ErrorDetail(BaseModel):
    """The details of an error."""

    code: str = Field(description="A short code for programs, such as `unknown_word`.")
    message: str = Field(description="A sentence for people: what was found, what was needed, what to do next.")
    fields: dict[str, Any] = Field(default={}, description="The facts of the message. Each code has its own fields.")
    word: str | None = Field(default=None, description="The unknown word, if one word is the cause.")
    suggestions: list[str] = Field(default=[], description="Words with a similar spelling.")


class ErrorResponse(BaseModel):
    """The body of every error response."""

    error: ErrorDetail


# For OpenAPI: every operation may return an error, always in this shape.
RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorResponse, "description": "The request cannot be answered as it is."},
    "5XX": {"model": ErrorResponse, "description": "The server cannot answer at the moment."},
}


class APIError(HTTPException):
    """A request that is rejected, with a code."""

    def __init__(self, code: str, sentence: str, /, **fields: Any) -> None:
        super().__init__(STATUS[code], sentence.format(**fields) if fields else sentence)
        self.code, self.fields = code, fields

    def __str__(self) -> str:
        return self.detail


def describe_error(error: Exception) -> ErrorDetail:
    """Return an error as the API shows it."""
    if isinstance(error, APIError):
        return ErrorDetail(code=error.code, message=error.detail, fields=error.fields)
    if not isinstance(error, Coded):
        return ErrorDetail(code="internal", message="Something went wrong in the server. Its log has the details.")
    facts = error.as_dict()
    word, suggestions = facts["fields"].get("word"), facts["fields"].get("suggestions")
    return ErrorDetail(
        **facts,
        word=word if isinstance(word, str) else None,
        suggestions=suggestions if isinstance(suggestions, list) else [],
    )


def make_error_response(error: Exception) -> Response:
    """Return the response to a request that failed."""
    return _respond(describe_error(error), _find_status(error))


def handle_errors(app: FastAPI) -> None:
    """Make an app return every error in one shape."""
    app.add_exception_handler(SearchError, _handle)
    app.add_exception_handler(APIError, _handle)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http)
    app.add_exception_handler(Exception, _handle)  # the server logs it


def _find_status(error: Exception) -> int:
    code = getattr(error, "code", None)
    if code in STATUS:
        return STATUS[code]
    return next((status for kind, status in _STATUS_BY_CLASS if isinstance(error, kind)), STATUS["internal"])


def _respond(detail: ErrorDetail, status: int) -> Response:
    headers = {"Retry-After": str(_RETRY_SECONDS)} if status == STATUS["busy"] else None
    body = json.dumps({"error": detail.model_dump()}, ensure_ascii=False)
    return Response(body.encode(errors="replace"), status, headers, "application/json")


def _handle(_: Request, error: Exception) -> Response:
    return make_error_response(error)


def _handle_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [_describe_problem(each) for each in error.errors()[:_MAX_PROBLEMS]]
    message = " ".join(map(_make_sentence, problems))
    detail = ErrorDetail(code="bad_argument", message=message, fields={"problems": problems})
    return _respond(detail, STATUS["bad_argument"])


def _describe_problem(problem: Any) -> dict[str, Any]:
    """Return what is wrong with one argument; `value` is None if there is none to show."""
    has_value = problem["type"] not in ("missing", "json_invalid")
    return {
        "argument": ".".join(str(part) for part in problem["loc"][1:]) or None,
        "problem": problem["msg"],
        "value": str(problem["input"])[:_MAX_VALUE] if has_value else None,
    }


def _make_sentence(problem: dict[str, Any]) -> str:
    value = "" if problem["value"] is None else f", got {problem['value']!r}"
    return f"{problem['argument'] or 'The request'}: {problem['problem']}{value}."


def _handle_http(request: Request, error: Exception) -> Response:
    """Answer an error of the framework, which has a status only."""
    assert isinstance(error, HTTPException)
    code, path = _CODE_BY_STATUS.get(error.status_code, "bad_request"), request.url.path
    if code == "not_found" and _is_for_people(request):
        return Response(make_not_found_page(get_path(request.scope)), 404, media_type="text/html")
    if code == "not_found":
        error = APIError(code, "Nothing is at {path}. api/openapi.json lists all addresses.", path=path)
    elif code == "method_not_allowed":
        error = APIError(code, "{path} does not accept {method}.", path=path, method=request.method)
    else:
        error = APIError(code, "{reason}.", reason=error.detail)
    return make_error_response(error)


def _is_for_people(request: Request) -> bool:
    """Return whether a browser asks for a page, not a program for an answer."""
    is_page = not get_path(request.scope).startswith(("/api/", STATIC))
    return is_page and "text/html" in request.headers.get("accept", "")

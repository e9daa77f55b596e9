"""Every error of the HTTP API in one JSON shape: a code, a message, and the facts as fields."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mixsearch.errors import Coded, SearchError, StorageError

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
    "image_too_large": 413,
    "wrong_host": 421,
    "bad_argument": 422,
    "internal": 500,
    "index_broken": 500,
    "busy": 503,
    "too_slow": 503,
}
# Of a long value in a message, and of several wrong values.
_MAX_VALUE, _MAX_PROBLEMS = 80, 3


class ErrorDetail(BaseModel):
    """The details of an error."""

    code: str = Field(description="A short code for programs, such as `unknown_word`.")
    message: str = Field(description="A sentence for people: what was found, what was needed, what to do next.")
    fields: dict[str, Any] = Field(default={}, description="The facts of the message. Each code has its own fields.")


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
    if isinstance(error, Coded):
        return ErrorDetail(**error.as_dict())
    return ErrorDetail(code="internal", message="Something went wrong in the server. Its log has the details.")


def make_error_response(error: Exception) -> Response:
    """Return the response to a request that failed."""
    detail = describe_error(error)
    by_class = 422 if isinstance(error, SearchError) and not isinstance(error, StorageError) else 500
    status = STATUS.get(detail.code, by_class)
    headers = {"Retry-After": "1"} if status == STATUS["busy"] else None
    body = json.dumps({"error": detail.model_dump()}, ensure_ascii=False)
    return Response(body.encode(errors="replace"), status, headers, "application/json")


def handle_errors(app: FastAPI) -> None:
    """Make an app return every error in one shape."""
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http)
    for kind in (SearchError, APIError, Exception):  # the server logs the last ones
        app.add_exception_handler(kind, lambda _, error: make_error_response(error))


def _handle_invalid(_: Request, error: Exception) -> Response:
    """Report the first arguments that are invalid."""
    assert isinstance(error, RequestValidationError)
    problems = []
    for each in error.errors()[:_MAX_PROBLEMS]:
        argument = ".".join(map(str, each["loc"][1:])) or "The request"
        given = "" if each["type"] in ("missing", "json_invalid") else f", got {str(each['input'])[:_MAX_VALUE]!r}"
        problems.append(f"{argument}: {each['msg']}{given}.")
    return make_error_response(APIError("bad_argument", "{problems}", problems=" ".join(problems)))


def _handle_http(request: Request, error: Exception) -> Response:
    """Answer an error of the framework, which has a status only."""
    assert isinstance(error, HTTPException)
    path, method = request.url.path, request.method
    if error.status_code == STATUS["not_found"]:
        error = APIError("not_found", "Nothing is at {path}. api/openapi.json lists all addresses.", path=path)
    elif error.status_code == STATUS["method_not_allowed"]:
        error = APIError("method_not_allowed", "{path} does not accept {method}.", path=path, method=method)
    else:
        error = APIError("bad_request", "{reason}.", reason=error.detail)
    return make_error_response(error)

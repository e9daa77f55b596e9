"""Whatever goes wrong -> one shape: a code, a sentence, and words to try instead."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mixsearch.errors import HintError, SearchError, StorageError, UnknownWordError

# The status of each code that an error can have.
STATUS = {
    "bad_request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "gone": 410,
    "too_large": 413,
    "not_an_image": 415,
    "wrong_host": 421,
    "bad_value": 422,
    "bad_hint": 422,
    "unknown_word": 422,
    "cannot_search": 422,
    "broken_index": 500,
    "internal": 500,
    "busy": 503,
    "too_slow": 503,
}
_BY_STATUS = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_BY_CLASS = (
    (UnknownWordError, "unknown_word"),
    (HintError, "bad_hint"),
    (StorageError, "broken_index"),
    (SearchError, "cannot_search"),
)
# Seconds after which to ask again, of a server that is busy.
_RETRY = "1"


class Told(BaseModel):
    """What went wrong."""

    code: str = Field(description="For programs: one of a few words.")
    message: str = Field(description="For people: what was found, what was needed, what to do next.")
    word: str | None = Field(default=None, description="The word that is not known, where one is the cause.")
    suggestions: list[str] = Field(default=[], description="Words to try instead of it.")


class Failure(BaseModel):
    """The body of every answer that is none."""

    error: Told


# For OpenAPI: every route can fail, and always in the same shape.
RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Failure, "description": "The request is not as needed."},
    "5XX": {"model": Failure, "description": "The server cannot answer now."},
}


class Refused(HTTPException):
    """A request that is turned down, for a reason that has a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(STATUS[code], message)
        self.code = code

    def __str__(self) -> str:
        return self.detail


def told_of(error: Exception) -> Told:
    """An error as people and programs read it."""
    return Told(
        code=_code_of(error),
        message=str(error),
        word=getattr(error, "word", None),
        suggestions=list(getattr(error, "suggestions", ())),
    )


def _code_of(error: Exception) -> str:
    own: str | None = getattr(error, "code", None)
    if own in STATUS:
        return own
    return next((code for kind, code in _BY_CLASS if isinstance(error, kind)), "internal")


def failure(told: Told) -> Response:
    """The answer to a request that failed."""
    status = STATUS[told.code]
    headers = {"Retry-After": _RETRY} if status == STATUS["busy"] else None
    body = json.dumps({"error": told.model_dump()}, ensure_ascii=False)
    return Response(body.encode(errors="replace"), status, headers, "application/json")


def answer_failures(app: FastAPI) -> None:
    """Let an app answer every error in the one shape."""
    app.add_exception_handler(SearchError, _known)
    app.add_exception_handler(Refused, _known)
    app.add_exception_handler(RequestValidationError, _bad_value)
    app.add_exception_handler(HTTPException, _by_status)
    app.add_exception_handler(Exception, _unforeseen)


def _known(_: Request, error: Exception) -> Response:
    return failure(told_of(error))


def _bad_value(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return failure(Told(code="bad_value", message=" ".join(map(_sentence, error.errors()[:3]))))


def _sentence(problem: Any) -> str:
    """What is wrong with one value, by its name."""
    name = ".".join(str(part) for part in problem["loc"][1:]) or "The request"
    found = "" if problem["type"] in ("missing", "json_invalid") else f"; found {str(problem['input'])[:80]!r}"
    return f"{name}: {problem['msg']}{found}."


def _by_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _BY_STATUS.get(error.status_code, "bad_request")
    messages = {
        "not_found": f"There is nothing at {request.url.path}. api/openapi.json tells what there is.",
        "method_not_allowed": f"{request.url.path} does not take {request.method}.",
    }
    return failure(Told(code=code, message=messages.get(code, f"{error.detail}.")))


def _unforeseen(_: Request, error: Exception) -> Response:
    del error  # the server logs it
    return failure(Told(code="internal", message="Something went wrong in the server. Its log tells more."))

"""The OpenAPI description: operations have the names of functions, properties their descriptions from docstrings."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

# The sections of a docstring that describe fields.
_FIELDS = re.compile(r"\n\n(?:Parameters|Attributes)\n-+\n")
# One or several names, their type, and the indented lines below.
_ENTRY = re.compile(r"^(\w[\w, ]*) : (.*)\n((?:    .*\n?)+)", re.MULTILINE)
# Attributes that a class computes itself are in its answers, but not in its signature.
_COMPUTED = {"bool": {"type": "boolean"}}

# The body of a request that uploads a file.
RAW_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def name_operation(route: APIRoute) -> str:
    """Return the name of an operation: that of its function."""
    return route.name


def describe_properties(app: FastAPI) -> None:
    """Move the descriptions of fields in docstrings to their properties in OpenAPI."""
    make_schema = app.openapi

    def make_described() -> dict[str, Any]:
        schema = make_schema()
        for component in schema["components"]["schemas"].values():
            _move_descriptions(component)
        return schema

    app.openapi = make_described  # type: ignore[method-assign]


def _move_descriptions(component: dict[str, Any]) -> None:
    summary, *sections = _FIELDS.split(component.get("description", ""))
    if not sections:
        return
    component["description"] = summary
    properties = component["properties"]
    for names, kind, text in _ENTRY.findall("\n".join(sections)):
        for name in names.split(", "):
            properties[name] = properties.get(name, _COMPUTED.get(kind, {})) | {"description": " ".join(text.split())}

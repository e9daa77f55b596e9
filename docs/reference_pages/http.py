"""The page of the HTTP API, from its OpenAPI description."""

from __future__ import annotations

from typing import Any

from .markdown import make_table

INTRODUCTION = """# HTTP API

`mixsearch serve` answers these requests, and describes them at `/api/openapi.json`. Answers are JSON unless the path
ends in another format. Errors have one shape, [ErrorResponse](#errorresponse). [The guide to the
page](../guides/web.md#the-http-api) has examples, tokens and limits."""


def make_http_page(api: dict[str, Any]) -> str:
    """Return the page of the HTTP API, from its OpenAPI description."""
    sections: dict[str, list[str]] = {}
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            sections.setdefault(operation["tags"][0], []).append(_make_operation(method, path, operation))
    parts = [INTRODUCTION]
    for tag, operations in sections.items():
        parts += [f"## {tag.capitalize()}", *operations]
    parts.append("## Objects")
    parts += [_make_object(name, schema) for name, schema in api["components"]["schemas"].items()]
    return "\n\n".join(parts) + "\n"


def _make_operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"### {method.upper()} {path}", operation["description"]]
    rows = []
    for each in operation.get("parameters", ()):
        notes = [each["in"]] if each["in"] != "query" else []
        notes += ["required"] if each.get("required") and each["in"] == "query" else []
        default = each["schema"].get("default")
        notes += [f"default: `{_spell_value(default)}`"] if default not in (None, [], "") else []
        meaning = each.get("description", "") + (f" ({'; '.join(notes)})" if notes else "")
        rows.append((f"`{each['name']}`", _name_type(each["schema"]), meaning))
    if rows:
        parts.append(make_table(("Parameter", "Type", "Meaning"), rows))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body: {_name_content(kind, content)}.")
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            contents = [_name_content(kind, content) for kind, content in response.get("content", {}).items()]
            parts.append(f"Answers {status}{': ' + ' or '.join(contents) if contents else ' without a body'}.")
    return "\n\n".join(parts)


def _name_content(kind: str, content: dict[str, Any]) -> str:
    return _name_type(content["schema"]) if kind == "application/json" else f"`{kind}`"


def _make_object(name: str, schema: dict[str, Any]) -> str:
    rows = (
        (f"`{key}`", _name_type(each), each.get("description", ""))
        for key, each in schema.get("properties", {}).items()
    )
    description = " ".join(schema.get("description", "").split())
    return f"### {name}\n\n{description}\n\n{make_table(('Field', 'Type', 'Meaning'), rows)}".replace(
        "\n\n\n\n", "\n\n"
    )


def _name_type(schema: dict[str, Any]) -> str:
    """Return a JSON schema in a few words, with links to the objects it names."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_name_type(each) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{_spell_value(each)}`" for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any value")
    if kind == "array":
        return f"list of {_name_type(schema.get('items', {}))}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"object with values {_name_type(values)}" if isinstance(values, dict) else "object"
    return kind


def _spell_value(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)

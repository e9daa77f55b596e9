"""The page of the codes of errors and warnings, from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TypeGuard

import mixsearch

from .markdown import make_table

Names = dict[str, list[ast.expr]]

SOURCE = Path(mixsearch.__file__).parent
DAMAGED = "folder_damaged"  # of `damage_error`, which adds what to do
INTRODUCTION = """# Codes of errors and warnings

Every error and warning has a `code` and its facts as `fields`; its sentence is made from them. The codes are the same
in Python, on the command line with `--json` and over HTTP, so no program has to read a sentence. Fields are in braces.
The classes are in `mixsearch.errors`.
"""


def make_error_page() -> str:
    """Return the page of all codes of errors and warnings, with their sentences."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    codes = _list_classes(classes)
    rows: dict[str, list[str]] = {code: [] for code in codes.values()}
    for tree in trees:
        for code, sentence in _list_calls(tree, codes):
            rows.setdefault(code, []).extend([sentence] if sentence and sentence not in rows.get(code, []) else [])
    # A class has a sentence of its own, or is described by its docstring if its sentences come from elsewhere.
    for node in (node for node in classes if node.name in codes):
        own = [each.value for each in node.body if _is_assigned(each, "sentence")]
        rows[codes[node.name]] += [_escape_sentence(text) for value in own for text in _read_strings(value, {}) if text]
        if not rows[codes[node.name]]:
            rows[codes[node.name]] = [_escape_sentence((ast.get_docstring(node) or "").partition("\n")[0])]
    table = make_table(("Code", "Sentence"), ((f"`{code}`", "<br>".join(rows[code])) for code in sorted(rows)))
    return f"{INTRODUCTION}\n{table}\n"


def _list_classes(classes: list[ast.ClassDef]) -> dict[str, str]:
    """Return the code of each class of errors or warnings: its own, or that of its base."""
    codes, bases = {}, {}
    for node in classes:
        bases[node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
        for each in node.body:
            if _is_assigned(each, "code") and isinstance(each.value, ast.Constant):
                codes[node.name] = each.value.value
    while inherited := {
        name: codes[base] for name in bases if name not in codes for base in bases[name] if base in codes
    }:
        codes |= inherited
    return codes


def _is_assigned(node: ast.stmt, name: str) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name


def _list_calls(tree: ast.Module, codes: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Return the codes and sentences of all calls that make an error or a warning."""
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for scope in [tree, *scopes]:
        names: Names = {}
        for node in () if scope is tree else ast.walk(scope):
            if isinstance(node, ast.Assign):
                names.setdefault(getattr(node.targets[0], "id", ""), []).append(node.value)
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and (code := _find_code(node, codes)):
                sentence = node.args[1:2] if getattr(node.func, "id", "") == "APIError" else node.args[:1]
                sentence += [each.value for each in node.keywords if each.arg == "message"]
                texts = [text for argument in sentence for text in _read_strings(argument, names)]
                yield from ((code, _escape_sentence(text)) for text in [*texts, ""])


def _find_code(call: ast.Call, codes: dict[str, str]) -> str | None:
    """Return the code of a call: given by name, given first as the server does, or that of the class."""
    name = getattr(call.func, "id", "")
    given = [each.value for each in call.keywords if each.arg == "code"] or (
        call.args[:1] if name == "APIError" else []
    )
    if given:
        is_text = isinstance(given[0], ast.Constant) and isinstance(given[0].value, str)
        return given[0].value if is_text else None
    return DAMAGED if name == "damage_error" else codes.get(name)


def _read_strings(node: ast.expr, names: Names) -> list[str]:
    """Return the strings that an expression can be; none if some part of it is not in the source."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=first, orelse=second):
            return [*_read_strings(first, names), *_read_strings(second, names)]
        case ast.Name(id=name):
            return [text for value in names.get(name, ()) for text in _read_strings(value, {})]
        case ast.FormattedValue(value=value):
            return _read_strings(value, names)
        case ast.Call(func=ast.Name(id="pluralize"), args=[_, ast.Constant(value=str(one)), *many]):
            return [one, *(_read_strings(many[0], names) if many else [f"{one}s"])]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            parts = [left, right]
        case ast.JoinedStr(values=parts):
            pass
        case _:
            return []
    return ["".join(texts) for texts in product(*(_read_strings(part, names) for part in parts))]


def _escape_sentence(text: str) -> str:
    return re.sub(r"([*<_\[`])", r"\\\1", text)

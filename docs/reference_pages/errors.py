"""The page of the codes of errors and warnings, from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import mixsearch

from .markdown import make_table

Names = dict[str, list[ast.expr]]

SOURCE = Path(mixsearch.__file__).parent
INTRODUCTION = """# Codes of errors and warnings

Every error and warning has a `code` and its facts as `fields`; its sentence is made from them. The codes are the same
in Python, on the command line with `--json` and over HTTP, so no program has to read a sentence. Fields are in braces.
The classes are in `mixsearch.errors`.
"""


def make_error_page() -> str:
    """Return the page of all codes of errors and warnings, with their sentences."""
    rows: dict[str, list[str]] = {}
    for code, sentence in _list_codes():
        rows.setdefault(code, []).extend([sentence] if sentence and sentence not in rows.get(code, []) else [])
    table = make_table(("Code", "Sentence"), ((f"`{code}`", "<br>".join(rows[code])) for code in sorted(rows)))
    return f"{INTRODUCTION}\n{table}\n"


def _list_codes() -> Iterator[tuple[str, str]]:
    """Return every code in the source, with each sentence that it can have, or "" if the source does not show it."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef):
                yield from _list_calls(node)
            elif isinstance(node, ast.ClassDef):
                for each in node.body:
                    is_code = isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "code"
                    if is_code and isinstance(each.value, ast.Constant):
                        yield each.value.value, _escape_sentence((ast.get_docstring(node) or "").partition("\n")[0])


def _list_calls(scope: ast.Module | ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Return the codes and sentences of calls; a sentence may be a local name of a function."""
    names: Names = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(scope, ast.FunctionDef):
            names.setdefault(getattr(node.targets[0], "id", ""), []).append(node.value)
    for node in ast.walk(scope):
        if isinstance(node, ast.Call):
            for code in (each.value for each in node.keywords if each.arg == "code"):
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    for sentence in _read_strings(node.args[0], names) if node.args else ():
                        yield code.value, _escape_sentence(sentence)
                    yield code.value, ""


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

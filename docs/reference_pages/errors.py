"""The page of the codes of errors and warnings, from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import mixsearch

from .markdown import make_table

SOURCE = Path(mixsearch.__file__).parent
INTRODUCTION = """# Codes of errors and warnings

Every error and warning has a `code` and its facts as `fields`; its sentence is made from them. The codes are the same
in Python, on the command line with `--json` and over HTTP, so no program has to read a sentence. Fields are in braces.
The classes are in [the Python reference](packages/mixsearch.errors.rst).
"""


def make_error_page() -> str:
    """Return the page of all codes of errors and warnings, with their sentences."""
    rows: dict[str, list[str]] = {}
    for code, sentence in _list_codes():
        rows.setdefault(code, []).extend([sentence] if sentence and sentence not in rows.get(code, []) else [])
    table = make_table(("Code", "Sentence"), ((f"`{code}`", "<br>".join(rows[code])) for code in sorted(rows)))
    return f"{INTRODUCTION}\n{table}\n"


def _list_codes() -> Iterator[tuple[str, str]]:
    """Return every code in the source, with its sentence if the source has it as one string."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                codes = [each.value for each in node.keywords if each.arg == "code"]
                first = node.args[0] if node.args else None
                sentence = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
                for code in codes:
                    if isinstance(code, ast.Constant) and isinstance(code.value, str):
                        yield code.value, _escape_sentence(sentence)
            elif isinstance(node, ast.ClassDef):
                for each in node.body:
                    is_code = isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "code"
                    if is_code and isinstance(each.value, ast.Constant):
                        yield each.value.value, _escape_sentence((ast.get_docstring(node) or "").partition("\n")[0])


def _escape_sentence(text: str) -> str:
    return re.sub(r"([*<_\[`])", r"\\\1", text)

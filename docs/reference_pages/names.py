"""The public names: those that the hand-written pages of `reference/api` present."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

API = Path(__file__).parents[1] / "reference" / "api"


def list_presented() -> dict[str, Any]:
    """Return the functions and classes that the pages of `reference/api` present, by their full names."""
    presented = {}
    for page in sorted(API.glob("*.rst")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif module and (match := re.match(r"   ([A-Za-z_]\w*)$", line)):
                presented[f"{module}.{match[1]}"] = getattr(importlib.import_module(module), match[1])
    return presented

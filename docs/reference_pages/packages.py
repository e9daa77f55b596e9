"""Pages of all packages: every name that a package exports, with its own page or a link to it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import mixsearch

API = Path(__file__).parents[1] / "api"


def list_fronts() -> list[str]:
    """Return the modules whose names are public: those that list them in `__all__`, and the errors."""
    modules = ["mixsearch", *(each.name for each in pkgutil.walk_packages(mixsearch.__path__, "mixsearch."))]
    public = (name for name in modules if not any(part.startswith("_") for part in name.split(".")))
    return [*(name for name in public if hasattr(importlib.import_module(name), "__all__")), "mixsearch.errors"]


def list_names(front: str) -> list[str]:
    """Return the public names of a module."""
    module = importlib.import_module(front)
    own = (name for name, each in vars(module).items() if getattr(each, "__module__", None) == front)
    return list(getattr(module, "__all__", None) or (name for name in own if not name.startswith("_")))


def list_homes() -> dict[int, str]:
    """Return the module and name under which each function and class has its page, by its identity.

    That is the name in the hand-written pages of `api`, or else the name in the first package that exports it.
    """
    homes = {}
    for front in list_fronts():
        for name in list_names(front):
            exported = getattr(importlib.import_module(front), name)
            if inspect.isfunction(exported) or inspect.isclass(exported):
                homes.setdefault(id(exported), f"{front}.{name}")
    return homes | list_presented()


def list_presented() -> dict[int, str]:
    """Return the functions and classes that the pages of `api` present to users, with their full names."""
    found = {}
    for page in sorted(API.glob("*.rst")):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif module and (match := re.match(r"   ([A-Za-z_]\w*)$", line)):
                found[id(getattr(importlib.import_module(module), match[1]))] = f"{module}.{match[1]}"
    return found


def make_package_page(front: str) -> str:
    """Return the page of all public names of a module, with pages for those that have none elsewhere."""
    module = importlib.import_module(front)
    homes, presented = list_homes(), list_presented()
    objects = {name: getattr(module, name) for name in list_names(front)}
    elsewhere = [
        homes[id(each)]
        for name, each in objects.items()
        if id(each) in presented or homes.get(id(each), f"{front}.{name}") != f"{front}.{name}"
    ]
    own = {name: each for name, each in objects.items() if homes.get(id(each)) not in elsewhere}
    parts = [f"{front}\n{'=' * len(front)}", inspect.getdoc(module) or ""]
    if elsewhere:
        links = "\n".join(f"   ~{name}" for name in elsewhere)
        parts.append(f".. autosummary::\n   :nosignatures:\n\n{links}")
    parts.append(f".. currentmodule:: {front}")
    for title, is_kind in (("Functions", inspect.isfunction), ("Classes", inspect.isclass)):
        members = "\n".join(f"   {name}" for name, each in own.items() if is_kind(each))
        if members:
            stubs = f".. autosummary::\n   :toctree: ../api\n   :nosignatures:\n\n{members}"
            parts.append(f".. rubric:: {title}\n\n{stubs}")
    constants = [name for name, each in own.items() if not (inspect.isfunction(each) or inspect.isclass(each))]
    if constants:
        lines = "\n\n".join(f".. py:data:: {name}\n   :value: {_shorten(own[name])}" for name in constants)
        parts.append(f".. rubric:: Constants and types\n\n{lines}")
    return "\n\n".join(parts) + "\n"


def _shorten(value: Any) -> str:
    text = " ".join(repr(value).replace("typing.", "").split())
    return text if len(text) <= 100 else f"{text[:99]}…"

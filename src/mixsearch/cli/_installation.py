"""The state of an installation: packages of each extra, and the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^\]]*)\])?(?P<versions>[^;]*)(?:;(?P<marker>.*))?")
_EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")
# Extras that are made of others, or for those who change the package.
_COLLECTIONS = {"all", "dev"}
_SCRIPTS = {
    "Arabic": "ع",
    "Chinese": "中",
    "Cyrillic": "Ж",
    "Devanagari": "अ",
    "Greek": "Ω",
    "Hebrew": "א",
    "Japanese": "あ",
    "Korean": "한",
    "Thai": "ก",
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package that an extra needs."""

    name: str
    minimum: str  # "" for any version
    version: str | None  # None if it is not installed

    @property
    def is_usable(self) -> bool:
        """Whether it is installed and new enough."""
        return self.version is not None and _parse(self.version) >= _parse(self.minimum)

    def describe(self) -> str:
        """Return its name and version, and what is wrong with it."""
        if self.version is None:
            return f"{self.name} is not installed"
        return f"{self.name} {self.version}" + ("" if self.is_usable else f" is older than {self.minimum}")


def list_extras(distribution: str = "mixsearch") -> dict[str, list[Package]]:
    """Return the packages of each extra; those that are always needed under "". Empty if the metadata are not there."""
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return {}
    parsed = [match for line in lines if (match := _REQUIREMENT.match(line))]
    own: dict[str, list[Package]] = {}
    nested: dict[str, list[str]] = {}
    for match in parsed:
        found = _EXTRA.search(match["marker"] or "")
        extra = found[1] if found else ""
        if match["name"] == distribution:
            nested.setdefault(extra, []).extend(re.split(r"\s*,\s*", match["extras"] or ""))
        else:
            own.setdefault(extra, []).append(_look_up(match["name"], match["versions"]))
    names = [extra for extra in {**own, **nested} if extra not in _COLLECTIONS]
    return {
        extra: [*own.get(extra, []), *(each for other in nested.get(extra, []) for each in own[other])]
        for extra in names
    }


def _look_up(name: str, versions: str) -> Package:
    minimum = re.search(r">=\s*([\w.]+)", versions)
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    return Package(name, minimum[1] if minimum else "", version)


def _parse(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    start = re.match(r"[\d.]*", version)
    return tuple(int(number) for number in start[0].split(".") if number) if start else ()


def count_cores() -> tuple[int, int]:
    """Return how many cores this process may use, and how many the machine has."""
    n_cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else n_cores
    return usable, n_cores


def list_blas() -> Iterator[dict[str, Any]]:
    """Yield the libraries of linear algebra that are loaded, with their threads."""
    import scipy.linalg  # noqa: F401 - loads SciPy's own library beside NumPy's
    from threadpoolctl import threadpool_info

    for library in threadpool_info():
        if library["user_api"] == "blas":
            yield {key: library.get(key) for key in ("internal_api", "version", "architecture", "num_threads")}


def list_missing_scripts() -> list[str] | None:
    """Return the scripts that no font of this machine can draw; None without matplotlib."""
    try:
        from mixsearch._fonts import find_undrawable
    except ModuleNotFoundError:
        return None
    missing = find_undrawable("".join(_SCRIPTS.values()))
    return [script for script, letter in _SCRIPTS.items() if letter in missing]


def find_browser() -> str | None:
    """Return the name of the browser that `mixsearch serve` would open."""
    import webbrowser

    try:
        return str(webbrowser.get().name)
    except webbrowser.Error:
        return None

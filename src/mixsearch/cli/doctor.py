"""`mixsearch doctor`: what an installation has, and how to get what it lacks."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

import mixsearch
from mixsearch.cli import console
from mixsearch.cli.options import JsonOption
from mixsearch.machine import available_cores

HELP = """Include the output in bug reports. python -m mixsearch.testing searches
planted data to see that everything works. The exit code is 1 if a required
package is missing or too old."""


def doctor(as_json: JsonOption = False) -> None:
    """Show what an installation has."""
    packages = list_packages()
    facts = {
        "mixsearch": f"{mixsearch.__version__} in {Path(mixsearch.__file__).parent}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}",
        "system": platform.platform(),
        "cores": f"{available_cores()} of {os.cpu_count()}",
        "BLAS": "; ".join(f"{each['internal_api']} {each['version']}" for each in list_blas()),
    }
    if as_json:
        console.print_json(facts | {"packages": packages})
    else:
        console.print_facts(
            [*facts.items(), *((extra, _describe(extra, needed)) for extra, needed in packages.items())]
        )
    if not all(each["usable"] for each in packages["required"]):
        raise typer.Exit(console.EXIT_ERROR)


def list_blas() -> list[dict[str, Any]]:
    """Return the libraries of linear algebra that are loaded."""
    try:
        import scipy.linalg  # noqa: F401 - loads SciPy's own library beside NumPy's
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    return [each for each in threadpool_info() if each["user_api"] == "blas"]


def list_packages() -> dict[str, list[dict[str, Any]]]:
    """Return the packages that are always needed under "required", and those of each extra."""
    packages: dict[str, list[dict[str, Any]]] = {"required": []}
    for line in metadata.requires("mixsearch") or []:
        name, *_ = re.findall(r"^[\w.-]+", line)
        minimum, extra = re.search(r">=\s*([\w.]+)", line), re.search(r"extra == ['\"]([\w-]+)", line)
        if name != "mixsearch" and not (extra and extra[1] in ("all", "dev")):
            facts = {"name": name, "version": find_version(name), "minimum": minimum[1] if minimum else "0"}
            usable = facts["version"] is not None and _parse(facts["version"]) >= _parse(facts["minimum"])
            packages.setdefault(extra[1] if extra else "required", []).append(facts | {"usable": usable})
    return packages


def find_version(name: str) -> str | None:
    """Return the version of a package that is installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _parse(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    return tuple(int(number) for number in re.findall(r"\d+", re.split(r"[a-z]", version)[0]))


def _describe(extra: str, packages: list[dict[str, Any]]) -> Text:
    """Return the versions of packages, or those that are missing or too old and how to get them."""
    unusable = [
        f"{each['name']} {each['version'] or 'is missing'}, needed: {each['minimum']}"
        for each in packages
        if not each["usable"]
    ]
    if not unusable:
        return Text(", ".join(f"{each['name']} {each['version']}" for each in packages), style="green")
    target = "mixsearch" if extra == "required" else f"mixsearch[{extra}]"
    return Text(f"{'; '.join(unusable)}: pip install --upgrade '{target}'", style="red")

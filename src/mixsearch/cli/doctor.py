"""`mixsearch doctor`: what an installation has, and how to get what it lacks."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.text import Text

import mixsearch
from mixsearch.cli import console
from mixsearch.cli.options import JsonOption
from mixsearch.machine import available_cores

HELP = """Include the output in bug reports. python -m mixsearch.testing searches
planted data to see that everything works."""


def doctor(as_json: JsonOption = False) -> None:
    import scipy.linalg  # noqa: F401 - loads SciPy's own library of linear algebra beside NumPy's
    from threadpoolctl import threadpool_info

    packages = list_packages()
    facts = {
        "mixsearch": f"{mixsearch.__version__} in {Path(mixsearch.__file__).parent}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}",
        "system": platform.platform(),
        "cores": f"{available_cores()} of {os.cpu_count()}",
        "BLAS": "; ".join(
            f"{each['internal_api']} {each['version']}" for each in threadpool_info() if "blas" in each["user_api"]
        ),
    }
    if as_json:
        console.print_json(facts | {"packages": packages})
    else:
        console.print_facts([*facts.items(), *((extra, _describe(extra, found)) for extra, found in packages.items())])


def list_packages() -> dict[str, dict[str, str | None]]:
    """Return the versions of the packages that are always needed under "required", and those of each extra."""
    packages: dict[str, dict[str, str | None]] = {"required": {}}
    for line in metadata.requires("mixsearch") or []:
        name, extra = re.split(r"[^\w.-]", line)[0], re.search(r"extra == ['\"]([\w-]+)", line)
        if name != "mixsearch" and not (extra and extra[1] in ("all", "dev")):
            packages.setdefault(extra[1] if extra else "required", {})[name] = find_version(name)
    return packages


def find_version(name: str) -> str | None:
    """Return the version of a package, or None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _describe(extra: str, packages: dict[str, Any]) -> Text:
    missing = [name for name, version in packages.items() if version is None]
    if not missing:
        return Text(", ".join(f"{name} {version}" for name, version in packages.items()), style="green")
    target = "mixsearch" if extra == "required" else f"mixsearch[{extra}]"
    return Text(f"{', '.join(missing)} missing: pip install '{target}'", style="red")

"""`mixsearch doctor`: what an installation has, and how to get what it lacks."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import mixsearch
from mixsearch.cli._console import EXIT_ERROR, print_json, print_notes, stdout_console
from mixsearch.cli._installation import (
    Package,
    count_cores,
    find_browser,
    list_blas,
    list_extras,
    list_missing_scripts,
)
from mixsearch.cli._render import print_facts

HELP = """Show versions, cores, fonts and optional packages, and how to get what is missing.

Examples:

  mixsearch doctor
  mixsearch doctor --json

Include the output in bug reports. python -m mixsearch.testing searches
planted data to see that everything works.

Exit codes: 0 complete, 1 a required package is missing or too old, 2 usage error."""

_UNKNOWN = "This copy is not installed as a package, so its extras are unknown. Install it: pip install ."
_NO_FONT = "Figures show boxes for a script without a font. Install one, such as the Noto fonts (fonts-noto on Debian)."
_NO_BROWSER = "mixsearch serve cannot open a browser here; it prints the address of the page."


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what an installation has."""
    extras = list_extras()
    required = extras.pop("", [])
    is_complete = all(package.is_usable for package in required)
    machine = _describe_machine(is_complete)
    if as_json:
        packages = {extra: [_as_dict(each) for each in needed] for extra, needed in extras.items()}
        print_json({**machine, "required": [_as_dict(each) for each in required], "extras": packages})
    else:
        print_facts(stdout_console(), [*_list_facts(machine), *_list_packages(required, extras)])
        print_notes(_list_notes(machine, required))
    if not is_complete:
        raise typer.Exit(EXIT_ERROR)


def _describe_machine(is_complete: bool) -> dict[str, Any]:
    usable, n_cores = count_cores()
    return {
        "version": mixsearch.__version__,
        "path": str(Path(mixsearch.__file__).parent),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable,
        "platform": platform.platform(),
        "cores": {"usable": usable, "all": n_cores},
        "blas": list(list_blas()) if is_complete else [],
        "missing_scripts": list_missing_scripts(),
        "browser": find_browser(),
    }


def _list_facts(machine: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "mixsearch", f"{machine['version']} in {machine['path']}"
    yield "Python", f"{machine['python']}, {machine['executable']}"
    yield "system", machine["platform"]
    yield "cores", f"{machine['cores']['usable']} of {machine['cores']['all']}"
    for library in machine["blas"]:
        facts = [library["internal_api"], library["version"], library["architecture"]]
        yield "BLAS", f"{' '.join(filter(None, facts))}, threads: {library['num_threads']}"
    missing = machine["missing_scripts"]
    if missing is not None:
        yield "fonts", f"none for {', '.join(missing)}" if missing else "for all scripts that were tried"
    yield "browser", machine["browser"] or "none"


def _list_packages(required: list[Package], extras: dict[str, list[Package]]) -> Iterator[tuple[str, Text]]:
    if required:
        yield "required", _describe_packages(required)
    for extra in sorted(extras):
        yield extra, _describe_packages(extras[extra], extra)


def _describe_packages(packages: list[Package], extra: str = "") -> Text:
    unusable = [package for package in packages if not package.is_usable]
    if not unusable:
        return Text(", ".join(package.describe() for package in packages), style="green")
    line = f": pip install --upgrade 'mixsearch{f'[{extra}]' if extra else ''}'"
    return Text(", ".join(package.describe() for package in unusable) + line, style="yellow" if extra else "red")


def _list_notes(machine: dict[str, Any], required: list[Package]) -> Iterator[str]:
    if not required:
        yield _UNKNOWN
    if machine["missing_scripts"]:
        yield _NO_FONT
    if machine["browser"] is None:
        yield _NO_BROWSER


def _as_dict(package: Package) -> dict[str, Any]:
    return {"name": package.name, "version": package.version, "minimum": package.minimum, "usable": package.is_usable}

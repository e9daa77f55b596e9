"""`mixsearch doctor`: what an installation has, and how to get what it lacks."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import mixsearch
from mixsearch.cli.console import EXIT_ERROR, print_json, print_notes, stdout_console
from mixsearch.cli.render import print_facts

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
        from mixsearch.show.fonts import find_undrawable
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

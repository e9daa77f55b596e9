"""The layout: fronts, private modules, the same files in every family, the terms of the field."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mixsearch"
MODULES = sorted(SOURCE.rglob("*.py"))
FAMILIES = ("community", "gaussian", "regression", "subspace", "topics")
FILES = {"_component.py", "_em.py", "_jackknife.py", "_moments.py", "_rank_selection.py", "_search.py"}
# Libraries of public modules; every other package is imported through its front.
LIBRARIES = ("core", "data")

# Coined names that the glossary replaces. Words are matched as parts of identifiers.
COINED = re.compile(
    r"\b\w*(?:told|MOST_|LEAST_|Shelf|shelf|Lane\b|Patience|patience|heard|hearing|untangle|tangled|climb|Climb|Parcel|parcel"
    r"|Weighing|weighing|Brought|Refused|shard|Shard)\w*"
    r"|\b(?:hear|say|says|said|SAY|tell|tells|telling|beside|led_by|learned|Learned|learn_\w+|sharpen\w*|leaning|pulls"
    r"|most_\w+|least_\w+|Spheres|Lines|Look|looked|Steps|Told|Talk|Gate|Room)\b"
)
# Names of NumPy, SciPy and Python that look like it.
USUAL = {"least_squares", "most_common", "tell"}


def package_of(path):
    return path.relative_to(SOURCE).parts[0]


def imports_of(path):
    """Return (line, module) of every import of the package, with the module as parts below `mixsearch`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "mixsearch":
            yield node.lineno, node.module.split(".")[1:]
        elif isinstance(node, ast.Import):
            yield from (
                (node.lineno, alias.name.split(".")[1:]) for alias in node.names if alias.name.startswith("mixsearch.")
            )


def test_other_packages_are_imported_through_their_front():
    reaches = [
        f"{path.relative_to(ROOT)}:{line} imports mixsearch.{'.'.join(parts)}"
        for path in MODULES
        for line, parts in imports_of(path)
        if len(parts) > 1 and parts[0] != package_of(path) and parts[0] not in LIBRARIES
    ]
    assert not reaches, reaches


def test_private_modules_are_imported_by_their_own_package_only():
    reaches = [
        f"{path.relative_to(ROOT)}:{line} imports mixsearch.{'.'.join(parts)}"
        for path in MODULES
        for line, parts in imports_of(path)
        if len(parts) > 1 and parts[0] != package_of(path) and any(part.startswith("_") for part in parts[1:])
    ]
    assert not reaches, reaches


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_the_same_files(family):
    found = {path.name for path in (SOURCE / family).glob("*.py")}
    assert found >= FILES, f"{family} lacks {sorted(FILES - found)}"
    assert all(name.startswith("_") for name in found)


def identifiers_of(path):
    """Return every name that a module defines or uses, and its own name."""
    names = {path.stem}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "attr", "name", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                names.add(value)
    return names


def test_no_coined_name_is_left():
    coined = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES
        for name in sorted(identifiers_of(path))
        if COINED.fullmatch(name) and name not in USUAL
    ]
    assert not coined, coined


def test_no_module_is_a_drawer():
    assert not [path for path in MODULES if path.stem.strip("_") in {"utils", "helpers", "common", "misc"}]

"""A benchmark runs as the pages print it, `python benchmarks/NAME.py`: its imports are found from there."""

import ast
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))


def imported_by(script):
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_imports_of_a_benchmark_are_found(script):
    path = [str(script.parent), *(folder for folder in sys.path if Path(folder).resolve() != ROOT)]
    names = {name.partition(".")[0] for name in imported_by(script)} - sys.stdlib_module_names
    assert [name for name in names if PathFinder.find_spec(name, path) is None] == []

"""Checks of the source as a whole: docstrings, examples in them, fronts, imports. Each lists every failure."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from docs.reference_pages.names import list_presented
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import mixsearch
from mixsearch.errors import Coded

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mixsearch"
# No docstring, no Returns section, a parameter that is not listed, a parameter without a description.
CODES = ("GL08", "RT01", "PR01", "PR07")


class _Validator(Validator):
    """Validator for which the fields of a result may be documented as its attributes."""

    def __init__(self, obj_name):
        # What the docstring itself says, without the members that numpydoc would add.
        super().__init__(get_doc_object(self._load_obj(obj_name), config={"show_class_members": False}))

    @property
    def doc_all_parameters(self):
        return self._doc_parameters(["Parameters", "Other Parameters", "Attributes"])

    @property
    def signature_parameters(self):
        # Errors are documented by their common base; a protocol is not called.
        if inspect.isclass(self.obj) and (issubclass(self.obj, Coded) or getattr(self.obj, "_is_protocol", False)):
            return ()
        return tuple(name for name in super().signature_parameters if not name.startswith("_"))


def list_members(cls):
    """Return the public methods and properties that a class has from this package."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        owner = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        is_public = inspect.isfunction(owner) and not name.startswith("_")
        if is_public and owner.__module__.startswith("mixsearch"):
            yield name


def list_public():
    """Return the full names of what the reference presents, with the public methods and properties of classes."""
    for name, value in list_presented().items():
        yield name
        if inspect.isclass(value):
            yield from (f"{name}.{member}" for member in list_members(value))


def list_modules():
    return [
        each.name for each in pkgutil.walk_packages(mixsearch.__path__, "mixsearch.") if "__main__" not in each.name
    ]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_public_names_have_complete_docstrings():
    incomplete = {
        name: texts
        for name in list_public()
        if (texts := [text for code, text in validate(name, validator_cls=_Validator)["errors"] if code in CODES])
    }
    assert incomplete == {}


@pytest.mark.slow
def test_examples_in_docstrings_run():
    options = doctest.NORMALIZE_WHITESPACE
    failures = [
        name for name in list_modules() if doctest.testmod(importlib.import_module(name), optionflags=options).failed
    ]
    assert failures == []


def test_fronts_export_what_the_reference_presents():
    presented = {}
    for name in list_presented():
        front, _, last = name.rpartition(".")
        presented.setdefault(front, set()).add(last)
    fronts = {name: getattr(importlib.import_module(name), "__all__", None) for name in ["mixsearch", *list_modules()]}
    exported = {name: set(names) for name, names in fronts.items() if names}
    assert {name: names for name, names in presented.items() if name in exported} == exported
    outside = {name for name in presented if name not in exported and not name.startswith("mixsearch.paper.")}
    assert outside == {"mixsearch.core.family", "mixsearch.show.plots"}


def test_no_name_of_a_front_is_also_a_module_of_it():
    # An import of the module would put it in the place of the name.
    fronts = [importlib.import_module(name) for name in ["mixsearch", *list_modules()]]
    shadowed = [
        f"{front.__name__}.{module.stem}"
        for front in fronts
        for module in Path(front.__file__).parent.iterdir()
        if module.stem in getattr(front, "__all__", ())
    ]
    assert shadowed == []


# Of a module or of a name in it, as `mixsearch.graph.pagerank._walk`; the module of types is for all.
PRIVATE = re.compile(r"mixsearch(\.\w+)*\._(?!_|typing\b)")


def uses_of(source):
    """Yield the full names that code imports, reads from imported modules, or replaces in them."""
    tree = ast.parse(source)
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names = {alias.asname or alias.name: alias.name for alias in node.names}
        else:
            continue
        yield from names.values()
        modules |= {name: full for name, full in names.items() if is_module(full)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner, name = node.value, node.attr
        elif isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            owner, name = node.args[0], node.args[1].value  # monkeypatch.setattr(module, "name", ...)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\bmixsearch[.\w]+", node.value)
            continue
        else:
            continue
        if ast.unparse(owner) in modules:
            yield f"{modules[ast.unparse(owner)]}.{name}"


def is_module(name):
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def test_tests_and_benchmarks_use_no_private_names():
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name in uses_of(path.read_text(encoding="utf-8"))
        if PRIVATE.match(name) and path != Path(__file__)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "from mixsearch.graph.pagerank import PageRank, _walk",
        "from mixsearch.core._walk import Walk",
        "import mixsearch._fonts",
        "from mixsearch.graph import pagerank as steps\nsteps._walk()",
        "import mixsearch.graph.pagerank\nmixsearch.graph.pagerank._walk()",
        "from mixsearch.graph import pagerank\nmonkeypatch.setattr(pagerank, '_walk', None)",
        "monkeypatch.setattr('mixsearch.graph.pagerank._walk', None)",
    ],
)
def test_private_names_are_noticed(source):
    assert any(map(PRIVATE.match, uses_of(source)))
    public = source.replace("_walk", "walk").replace("_fonts", "fonts")
    assert not any(map(PRIVATE.match, uses_of(public)))


def test_imports_of_benchmarks_are_found():
    missing = []
    for script in sorted((ROOT / "benchmarks").rglob("*.py")):
        path = [str(script.parent), str(ROOT), *sys.path]
        names = {name.partition(".")[0] for name in imports_of(script)} - sys.stdlib_module_names
        missing += [f"{script.name}: {name}" for name in names if PathFinder.find_spec(name, path) is None]
    assert [each for each in missing if each.rpartition(" ")[2] not in PEERS] == []


# Installed by `make peers`, or by hand.
PEERS = {"corextopic", "cv2", "duckdb", "gensim", "numba", "tomotopy"}

"""The reference has everything that the program has: names, commands, requests, codes."""

import importlib
import inspect
import re

import pytest
from docs.reference_pages import make_pages
from docs.reference_pages.packages import list_fronts, list_homes, list_names, list_presented

import mixsearch
from mixsearch import errors
from mixsearch.cli._commands import COMMANDS, load_command
from mixsearch.web import make_app


@pytest.fixture(scope="module")
def pages():
    return make_pages()


@pytest.fixture(scope="module")
def objects(pages):
    """The names that have a page of their own or a line with their value."""
    entries = set(list_presented().values())
    for path, page in pages.items():
        if path.startswith("packages/"):
            front = path.removeprefix("packages/").removesuffix(".rst")
            own = page.partition(".. currentmodule::")[2]
            entries |= {
                f"{front}.{name}"
                for name in re.findall(r"^   (\w+)$|^\.\. py:data:: (\w+)$", own, re.M)
                for name in name
                if name
            }
    return entries


def test_every_exported_name_has_an_entry(objects):
    homes = list_homes()
    missing = [
        f"{front}.{name}"
        for front in list_fronts()
        for name in list_names(front)
        if homes.get(id(getattr(importlib.import_module(front), name)), f"{front}.{name}") not in objects
    ]
    assert not missing


def test_every_package_that_exports_names_has_a_page(pages):
    assert {"mixsearch", "mixsearch.table", "mixsearch.data.filters", "mixsearch.errors"} <= set(list_fronts())
    assert {f"packages/{front}.rst" for front in list_fronts()} <= set(pages)


def test_what_users_import_is_on_a_page_written_for_them():
    presented = list_presented()
    assert [name for name in mixsearch.__all__ if id(getattr(mixsearch, name)) not in presented] == []


# Classes that users hold or pass on: their docstrings show where one comes from and what it does.
HELD = (
    "GaussianComponent Topic RegressionComponent Subspace Community TableComponent Segmentation Component Moments "
    "Spectrum index.TopicIndex index.Query index.IndexOptions text.Corpus text.CorpusOptions web.Limits web.Access"
)


def test_every_function_and_estimator_that_a_page_presents_has_an_example():
    held = {f"mixsearch.{name}" for name in HELD.split()}
    presented = list_presented().values()
    assert held <= set(presented)
    without = []
    for name in presented:
        module, _, own = name.rpartition(".")
        value = getattr(importlib.import_module(module), own)
        if (inspect.isfunction(value) or hasattr(value, "fit") or name in held) and ">>> " not in value.__doc__:
            without.append(name)
    assert not without


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_a_command_has_its_help_and_every_option(pages, command):
    page = pages[f"cli/{command}.md"]
    assert COMMANDS[command].partition(".")[0] in page
    assert "[/" not in page
    for option in load_command(command).params:
        for name in option.opts:
            assert f"`{name}`" in page or option.param_type_name == "argument", name
    assert f"cli/{command}.md" in pages["commands.md"]


def test_the_page_of_the_api_has_every_request_parameter_and_object(pages):
    page, api = pages["http.md"], make_app({}).openapi()
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            section = page.partition(f"### {method.upper()} {path}\n")[2].partition("\n### ")[0]
            assert operation["description"] in section
            assert all(f"| `{each['name']}` |" in section for each in operation.get("parameters", ()))
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= set(re.findall(r"^### (\w+)$", page.lower(), re.M))


def test_the_page_of_codes_has_those_of_all_classes(pages):
    classes = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.Coded)]
    assert len(classes) > 20
    assert all(f"| `{each.code}` |" in pages["errors.md"] for each in classes)


def test_every_code_has_a_sentence(pages):
    assert re.findall(r"^\| `(\w+)` \| +\|$", pages["errors.md"], re.M) == []

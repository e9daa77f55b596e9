"""The reference has everything that the program has: names, commands, requests, codes. Each test lists all failures."""

import inspect
import re
from pathlib import Path

import pytest
from docs.reference_pages import make_pages
from docs.reference_pages.names import list_presented

import mixsearch
from mixsearch import errors
from mixsearch.cli.app import COMMANDS, load_command
from mixsearch.web import make_app
from mixsearch.web.errors import STATUS

SENTENCES = Path(__file__).with_name("sentences.md")
# Classes that users hold or pass on: their docstrings show where one comes from and what it does.
HELD = (
    "GaussianComponent Topic RegressionComponent Subspace Community TableComponent Segmentation Component "
    "Spectrum topics.TopicIndex topics.Question topics.IndexOptions text.Corpus text.CorpusOptions "
    "web.Limits web.Access"
)


@pytest.fixture(scope="module")
def pages():
    return make_pages()


def test_what_users_import_is_on_a_page_written_for_them():
    presented = list_presented()
    assert [name for name in mixsearch.__all__ if f"mixsearch.{name}" not in presented] == []
    assert 70 < len(presented) < 100


def test_functions_and_estimators_on_a_page_have_an_example():
    held = {f"mixsearch.{name}" for name in HELD.split()}
    presented = list_presented()
    assert held <= set(presented)
    without = [
        name
        for name, value in presented.items()
        if (inspect.isfunction(value) or hasattr(value, "fit") or name in held) and ">>> " not in value.__doc__
    ]
    assert without == []


def test_the_page_of_a_command_has_its_help_and_every_option(pages):
    missing = []
    for command in COMMANDS:
        page = pages[f"cli/{command}.md"]
        expected = [COMMANDS[command].partition(".")[0]]
        for option in load_command(command).params:
            is_shown = option.param_type_name == "option" and not option.hidden
            expected += [f"`{name}`" for name in option.opts] if is_shown else []
        missing += [f"{command}: {text}" for text in expected if text not in page]
        missing += [] if f"cli/{command}.md" in pages["commands.md"] else [f"{command} is not in the list"]
    assert missing == []


def test_the_page_of_the_api_has_every_request_parameter_and_object(pages):
    page, missing = pages["http.md"], []
    for path, operations in make_app({}).openapi()["paths"].items():
        for method, operation in operations.items():
            section = page.partition(f"### {method.upper()} {path}\n")[2].partition("\n### ")[0]
            expected = [
                operation["description"],
                *(f"| `{each['name']}` |" for each in operation.get("parameters", ())),
            ]
            missing += [f"{method} {path}: {text}" for text in expected if text not in section]
    assert missing == []
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= set(re.findall(r"^### (\w+)$", page.lower(), re.M))


def test_the_page_of_codes_has_those_of_all_classes(pages):
    classes = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.Coded)]
    assert len(classes) > 20
    # Starlette words what it refuses itself.
    codes = {each.code for each in classes} | set(STATUS) - {"bad_request", "method_not_allowed"}
    assert [code for code in sorted(codes) if f"| `{code}` |" not in pages["errors.md"]] == []


def test_every_code_has_a_sentence(pages):
    assert re.findall(r"^\| `(\w+)` \| +\|$", pages["errors.md"], re.M) == []


def test_the_sentences_of_errors_are_those_of_the_golden_file(pages):
    # Other tests assert codes and fields. A changed sentence is read here, once: `make sentences` writes the file.
    assert pages["errors.md"].splitlines() == SENTENCES.read_text(encoding="utf-8").splitlines()

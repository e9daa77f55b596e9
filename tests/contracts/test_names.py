"""One name for one thing in Python, on the command line and over HTTP: the tables in the docs are complete and true."""

import inspect
import re
from pathlib import Path

import pytest

import mixsearch
from mixsearch.cli._commands import load_command
from mixsearch.cli._console import spell
from mixsearch.index import (
    AnswerOptions,
    IndexOptions,
    Query,
    TopicIndex,
    add_documents,
    build_index,
    find_changes,
    label_documents,
    list_documents,
    map_topics,
    open_index,
    refresh_index,
    remove_documents,
)
from mixsearch.report import make_report
from mixsearch.table import TableSearch, describe_members, read_table
from mixsearch.text import CorpusOptions
from mixsearch.web import Access, Limits, listen, make_app

PAGE = Path(__file__).parents[2] / "docs" / "names.md"
PYTHON = {
    "index": (build_index, IndexOptions, CorpusOptions, mixsearch.TopicSearch),
    "topic": (open_index, TopicIndex.search, TopicIndex.search_many, TopicIndex.group, Query, AnswerOptions),
    "changes": (open_index, find_changes),
    "overview": (open_index, map_topics),
    "label": (open_index, label_documents),
    "export": (open_index, list_documents),
    "report": (open_index, make_report),
    "add": (add_documents, CorpusOptions),
    "remove": (remove_documents,),
    "refresh": (refresh_index,),
    "find": (mixsearch.find, TableSearch.fit, TableSearch.save, describe_members, read_table),
    "regress": (
        mixsearch.RegressionSearch,
        mixsearch.RegressionSearch.fit,
        mixsearch.RegressionSearch.search,
        read_table,
    ),
    "subspace": (mixsearch.SubspaceSearch, mixsearch.SubspaceSearch.search, mixsearch.subspace.choose_dim, read_table),
    "community": (mixsearch.CommunitySearch, mixsearch.CommunitySearch.search, read_table),
    "segment": (
        mixsearch.segment,
        mixsearch.segmentation.segment_like,
        mixsearch.segmentation.Segmentation.overlay,
        mixsearch.segmentation.Segmentation.outlines,
        mixsearch.segmentation.Segmentation.cut_out,
    ),
    "serve": (make_app, listen, Limits, Access),
}
ROUTES = {
    "topic": "/topic",
    "overview": "/overview",
    "changes": "/changes",
    "find": "/members",
    "regress": "/line",
    "subspace": "/subspace",
    "segment": "/segments",
}
# Names over HTTP that differ from those in Python.
OTHERWISE = {"words": "q", "seeds": "seed", "not_seeds": "not_seed"}


def read_rows(command: str) -> list[tuple[str, str, str]]:
    """The names in Python, on the command line and over HTTP; "" for none."""
    section = re.search(rf"^## mixsearch {command}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S)[1]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    return [tuple(re.sub("`|–", "", name) for name in names) for _, *names in lines]


def list_options(command: str) -> dict[str, str]:
    """The name of each parameter of a command, as the user types it."""
    parameters = load_command(command).params
    return {each.name: each.opts[0] if each.opts[0].startswith("-") else each.metavar for each in parameters}


def list_http_names(route: str) -> set[str]:
    api = make_app({}).openapi()
    operations = [each for path, kinds in api["paths"].items() if route in path for each in kinds.values()]
    names = {
        each["name"] for operation in operations for each in operation.get("parameters", ()) if each["in"] == "query"
    }
    bodies = [operation["requestBody"]["content"] for operation in operations if "requestBody" in operation]
    schemas = [body["application/json"]["schema"]["$ref"].rpartition("/")[2] for body in bodies]
    return names | {name for schema in schemas for name in api["components"]["schemas"][schema]["properties"]}


@pytest.mark.parametrize("command", PYTHON)
def test_the_table_has_every_option_of_the_command(command):
    options = [re.sub(r"\[.*\]", "", name) for name in list_options(command).values()]
    assert sorted(option for _, option, _ in read_rows(command) if option) == sorted(options)


@pytest.mark.parametrize("command", PYTHON)
def test_an_option_is_named_as_its_argument_in_python(command):
    known = {name for each in PYTHON[command] for name in inspect.signature(each).parameters}
    for argument, option, _ in read_rows(command):
        assert not argument or argument in known, argument
        assert not (argument and option) or option == spell(argument), argument
    in_table = {argument for argument, _, _ in read_rows(command)}
    assert set(list_options(command)) & known <= in_table


@pytest.mark.parametrize("command", ROUTES)
def test_http_has_the_names_of_python(command):
    rows = read_rows(command)
    assert {name for *_, name in rows if name} == list_http_names(ROUTES[command])
    for argument, _, name in rows:
        assert not (argument and name) or name in (argument, OTHERWISE.get(argument))

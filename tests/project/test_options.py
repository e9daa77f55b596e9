"""Options are defined once: Python, the command line and the HTTP API have the same names, defaults and help."""

import inspect
import re
from dataclasses import MISSING

import pytest

from mixsearch import CommunitySearch, TableSearch, TopicSearch
from mixsearch.cli.app import COMMANDS, load_command
from mixsearch.options import CommunityOptions, GroupOptions, Question, SearchOptions, TableOptions, list_options
from mixsearch.text import CorpusOptions
from mixsearch.topics import IndexOptions, TopicIndex
from mixsearch.web.schemas import GroupsRequest, MembersRequest, TopicRequest

OPTIONS = [CommunityOptions, CorpusOptions, GroupOptions, IndexOptions, SearchOptions, TableOptions]
# Where Python documents them, the command and the request that have them. `where` filters an index, not a search.
IN_PYTHON = [
    (TopicIndex.search, SearchOptions, ()),
    (TopicSearch.search, SearchOptions, ("where",)),
    (TopicIndex.group, GroupOptions, ()),
    (Question, SearchOptions, ()),
    (TableSearch.fit, TableOptions, ()),
    (CommunitySearch, CommunityOptions, ()),
    (IndexOptions, IndexOptions, ()),
    (CorpusOptions, CorpusOptions, ()),
]
COMMANDS_OF = {"topic": (SearchOptions, GroupOptions), "find": (TableOptions,), "community": (CommunityOptions,)}
COMMANDS_OF |= {"index": (IndexOptions, CorpusOptions)}
REQUESTS = {TopicRequest: SearchOptions, GroupsRequest: GroupOptions, MembersRequest: TableOptions}


def plain(text):
    return " ".join(text.replace("``", "").split())


def test_signatures_and_docstrings_of_python_have_every_option():
    wrong = []
    for function, options, absent in IN_PYTHON:
        parameters, text = inspect.signature(function).parameters, inspect.getdoc(function)
        for each, facts in list_options(options):
            if each.name in absent:
                continue
            described = re.search(rf"^{each.name} : .*\n((?:    .*\n)+)", f"{text}\n", re.M)
            default = parameters[each.name].default if each.name in parameters else MISSING
            if default not in (each.default, None if each.default == () else each.default):
                wrong.append(f"{function.__qualname__}: the default of {each.name} is {default}")
            if described is None or not plain(described[1]).startswith(plain(facts.help).rstrip(".")):
                wrong.append(f"{function.__qualname__}: {each.name} is not described as {facts.help!r}")
    assert wrong == []


def test_commands_have_the_options_with_their_help_and_range():
    wrong = []
    for command, groups in COMMANDS_OF.items():
        params = {each.name: each for each in load_command(command).params}
        for each, facts in (pair for options in groups for pair in list_options(options)):
            given = params.get(each.name)
            limits = None if given is None else (getattr(given.type, "min", None), getattr(given.type, "max", None))
            if given is None or given.help != facts.help or limits not in [(facts.ge, facts.le), (None, None)]:
                wrong.append(f"{command}: {each.name}")
    assert wrong == []


def test_requests_have_the_options_with_their_help():
    wrong = []
    for request, options in REQUESTS.items():
        for each, facts in list_options(options):
            given = request.model_fields.get(each.name)
            if given is None or given.description != facts.help or given.default != each.default:
                wrong.append(f"{request.__name__}: {each.name}")
    assert wrong == []


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.__name__)
def test_help_is_one_sentence_or_more(options):
    assert [facts.help for _, facts in list_options(options) if not re.fullmatch(r"\w.*\.", facts.help)] == []


def test_the_command_line_stays_small():
    commands = [load_command(name) for name in COMMANDS]
    shared = {"quiet", "verbose"}  # of all commands, described once, by `mixsearch --help`
    options = [each for command in commands for each in command.params if each.param_type_name == "option"]
    assert all(shared <= {each.name for each in command.params} for command in commands)
    assert len(COMMANDS) <= 14
    assert len(shared) + sum(each.name not in shared for each in options) <= 90

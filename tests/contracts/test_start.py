"""A command imports only what it needs, so that help, completion, answers and `import mixsearch` are fast."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.every_word import every_word

import mixsearch
from mixsearch.cli.app import COMMANDS, load_command
from mixsearch.topics import IndexOptions, build_index

# Packages and modules that take longer to import than a topic to find.
HEAVY = {"sklearn", "pandas", "matplotlib", "joblib", "dask", "scipy.stats", "scipy.optimize"}
NUMERIC = HEAVY | {"numpy", "scipy"}
SOURCE = Path(mixsearch.__file__).parents[1]


def imported_by(code, **environment):
    """Return the modules that a process has imported when it ends."""
    lines = [
        "import atexit, sys",
        "atexit.register(lambda: sys.stderr.write('MODULES ' + ' '.join(sys.modules)))",
        code,
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("MODULES ")[2].split()), done.stdout


def run(*arguments, **environment):
    return imported_by(
        f"sys.argv = {['mixsearch', *map(str, arguments)]!r}\nfrom mixsearch.cli import main\nmain()", **environment
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("start") / "food.index"
    foods = ("sushi rice fish tuna wasabi soy", "pizza cheese oven crust basil wine")
    texts = [f"{foods[i % 2]} {foods[i % 2].split()[i % 6]} guest{i % 9}" for i in range(80)]
    build_index(texts, path, IndexOptions(n_components=2), every_word())
    return path


def test_the_package_imports_no_numbers():
    modules, _ = imported_by("import mixsearch")
    assert not modules & NUMERIC


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["topic", "--help"], ["serve", "--help"]])
def test_help_needs_no_numbers(arguments):
    modules, printed = run(*arguments)
    assert "mixsearch" in printed
    assert not modules & NUMERIC


def test_completion_of_commands_and_options_needs_no_numbers():
    for words, expected in [("mixsearch in", "index"), ("mixsearch topic --narr", "--narrower")]:
        n = len(words.split()) - 1
        modules, printed = run(_MIXSEARCH_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(n))
        assert expected in printed
        assert not modules & NUMERIC


def test_completion_of_an_index_needs_nothing_heavy(index):
    typed = f"mixsearch topic {index.parent}/fo"
    modules, printed = run(_MIXSEARCH_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD="2")
    assert str(index) in printed
    assert not modules & HEAVY


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_topic_needs_nothing_heavy(index, options):
    modules, printed = run("topic", index, "fish", *options)
    assert "wasabi" in printed
    assert not modules & HEAVY


def test_contents_need_nothing_heavy(index):
    modules, printed = run("info", index, "--verify")
    assert "all checksums match" in printed
    assert not modules & HEAVY


def test_a_server_needs_nothing_heavy(index):
    lines = ["from mixsearch.web import make_app", "from mixsearch.topics import open_index"]
    modules, _ = imported_by("\n".join([*lines, f"make_app({{'food': open_index({str(index)!r})}})"]))
    assert not modules & HEAVY


def test_commands_are_listed_with_the_first_line_of_their_help():
    assert {name: load_command(name).help.partition("\n")[0] for name in COMMANDS} == COMMANDS


def test_fronts_have_their_names_and_no_others():
    namespace = {}
    exec("from mixsearch import *", namespace)
    assert set(mixsearch.__all__) <= set(namespace)
    assert set(mixsearch.__all__) <= set(dir(mixsearch))
    with pytest.raises(AttributeError, match="Nothing"):
        mixsearch.Nothing  # noqa: B018

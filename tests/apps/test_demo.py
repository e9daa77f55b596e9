"""`mixsearch demo`, and how the command line starts."""

import json
import re
import runpy
import sys
from functools import partial

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import mixsearch
from mixsearch.cli import main
from mixsearch.cli.app import app
from mixsearch.datasets import load_docstrings

# Later versions of Python warn of any fork while another thread runs, as one does in the test runner's workers.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


def invoke(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})


@pytest.fixture(autouse=True)
def _few_packages(monkeypatch):
    packages = ["asyncio", "email", "http", "logging", "multiprocessing", "unittest", "urllib", "xml"]
    monkeypatch.setattr("mixsearch.cli.demo.load_docstrings", partial(load_docstrings, packages))


def test_the_demo_finds_a_topic_rows_and_a_segment_and_ends_with_commands_that_run(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["mixsearch"])
    shown = invoke("demo", "Logger", "logegr", "event loop", "--output", str(tmp_path))
    assert shown.exit_code == 1, shown.output  # as one of the words is unknown
    assert "handler" in shown.stdout.partition("\nLogger\n")[2].partition("\n\n")[0]
    assert "asyncio." in shown.stdout.partition("\nevent loop\n")[2].partition("\n\n")[0]
    assert "Nearest: logger" in shown.output
    n_right, n_found, n_all = map(int, re.search(r"(\d+) of the first (\d+) .* (\d+) of all", shown.stdout).groups())
    assert n_right > 0.9 * n_found > 0.7 * n_all
    assert imread(tmp_path / "segments.png").std() > 0.05
    commands = shown.stdout.splitlines()[-3:]
    for command in commands:
        ran = invoke(*command.partition("mixsearch ")[2].split())
        assert ran.exit_code in (0, 1 if " topic " in command else 0), ran.output
    written = {path.name for path in tmp_path.glob("*.csv")}
    assert written == {"reviews.csv", "wine.csv", "links.csv", "members.csv"}


def test_programs_get_the_files_and_the_commands(tmp_path):
    printed = json.loads(invoke("demo", "--json", "--output", str(tmp_path)).stdout)
    assert set(printed["files"]) == {str(path) for path in tmp_path.iterdir()}
    assert len(printed["commands"]) == 7


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mixsearch", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("mixsearch", run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"mixsearch {mixsearch.__version__}\n"


def test_without_its_packages_the_command_line_says_what_to_install(monkeypatch, capsys):
    for module in [name for name in sys.modules if name.startswith("mixsearch.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(module, raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith("The command line needs typer and rich: pip install")

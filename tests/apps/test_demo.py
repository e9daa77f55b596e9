"""`mixsearch demo`, and how the command line starts."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner, Result

import mixsearch
from mixsearch.cli import main
from mixsearch.cli.app import app

# Later versions of Python warn of any fork while another thread runs, as one does in the test runner's workers.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]

SMALL = ("--packages", "asyncio,email,http,logging,multiprocessing,unittest,urllib,xml")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})


def test_the_demo_finds_a_topic_rows_and_a_segment_and_ends_with_commands_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["mixsearch"])
    shown = invoke("demo", "Logger", "logegr", "event loop", *SMALL, "--output", str(tmp_path))
    assert shown.exit_code == 0, shown.output
    assert "handler" in shown.stdout.partition("\nLogger\n")[2].partition("\n\n")[0]
    assert "asyncio." in shown.stdout.partition("\nevent loop\n")[2].partition("\n\n")[0]
    assert "Nearest: logger" in shown.output
    n_grower, n_right, n_found = map(
        int, re.search(r"He has (\d+) .*: (\d+) of the (\d+) found", shown.stdout).groups()
    )
    assert n_right > 0.9 * n_found > 0.7 * n_grower
    assert imread(tmp_path / "segments.png").std() > 0.05
    commands = shown.stdout.splitlines()[-3:]
    for command in commands:
        ran = invoke(*command.partition("mixsearch ")[2].split())
        assert ran.exit_code in (0, 1 if " topic " in command else 0), ran.output
    assert {path.name for path in tmp_path.glob("*.csv")} == {"reviews.csv", "wine.csv", "links.csv"}


@pytest.mark.parametrize("arguments", [("zzyzx", *SMALL), ("--packages", "no_such_package")])
def test_without_words_or_documents_the_demo_ends_with_code_1(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = invoke("demo", *arguments, "--output", str(tmp_path / "new"))
    assert result.exit_code == 1
    assert result.stderr
    assert "zzyzx" in arguments or not list(tmp_path.iterdir())


def test_the_package_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["mixsearch", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("mixsearch", run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"mixsearch {mixsearch.__version__}\n"


def test_without_its_packages_the_command_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.startswith("mixsearch.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(module, raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith("The command line needs typer and rich: pip install")

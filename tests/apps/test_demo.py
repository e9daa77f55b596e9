"""`mixsearch demo`, and how the command line starts."""

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


def test_the_demo_shows_topics_and_a_gaussian_and_draws_them(tmp_path: Path) -> None:
    shown = invoke("demo", "Logger", "logegr", "event loop", *SMALL, "--output", str(tmp_path))
    assert shown.exit_code == 0, shown.output
    panel = shown.output.partition("─ Logger ")[2].partition(" ms ")[0]
    assert "handler" in panel
    assert panel.count("logging.") >= 3
    assert "Nearest: logger" in shown.output
    assert shown.output.partition("─ event loop ")[2].partition(" ms ")[0].count("asyncio.") >= 3
    assert "Warning" not in shown.output
    lines = shown.output.splitlines()
    sample, refined, oracle = (
        float(next(line for line in lines if start in line).split()[-1])
        for start in ("the labelled sample itself", "the search, refined", "from every label")
    )
    assert refined < 1.05 * oracle < 0.1 * sample
    for name in ("topic.png", "gaussian.png", "landscape.png"):
        assert imread(tmp_path / name).std() > 0.05
    assert {path.name for path in tmp_path.glob("*.csv")} == {"reviews.csv", "wine.csv", "links.csv"}


@pytest.mark.parametrize(
    "arguments", [("zzyzx", *SMALL), ("--packages", "colorsys"), ("--packages", "no_such_package")]
)
def test_without_words_or_documents_the_demo_ends_with_code_1(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = invoke("demo", *arguments, "--output", str(tmp_path / "new"))
    assert result.exit_code == 1
    assert result.stderr
    assert not list(tmp_path.iterdir())


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

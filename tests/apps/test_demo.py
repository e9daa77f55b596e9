import runpy
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner, Result

import mixsearch
from mixsearch.cli import main
from mixsearch.cli.app import app
from mixsearch.core.separation import verdict
from mixsearch.datasets import DocstringCorpus

# Later versions of Python warn of any fork while another thread runs, as one does in the test runner's workers.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]

PACKAGES = "asyncio,email,http,logging,multiprocessing,unittest,urllib,xml"
SMALL = ("--packages", PACKAGES, "--n-components", "10")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "160"})


def sentences(text: str) -> str:
    return " ".join(text.split())


def forget_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the modules of the command line be imported again."""
    for module in [name for name in sys.modules if name.startswith("mixsearch.cli.")]:
        monkeypatch.delitem(sys.modules, module)
        monkeypatch.delattr(module, raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "pictures"


@pytest.fixture(scope="module")
def shown(folder: Path) -> Result:
    """One run of the demo, with a word that is unknown and words that belong together."""
    return invoke("demo", "Logger", "logegr", "event loop", *SMALL, "--n-words", "5", "--output", str(folder))


@pytest.fixture
def rivers_and_money(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of two topics of the same weight that share no word."""
    rng = np.random.default_rng(0)
    rivers = ["river", "water", "shore", "boat", "fish", "stream"]
    money = ["money", "loan", "credit", "account", "deposit", "cash"]
    texts = [" ".join(rng.choice(rivers if i % 2 else money, size=12)) for i in range(600)]
    corpus = DocstringCorpus(names=[f"texts.number{i}" for i in range(600)], texts=texts)
    monkeypatch.setattr("mixsearch.cli._docstrings.load_docstrings", lambda packages, on_progress: corpus)
    monkeypatch.setattr("mixsearch.cli._demo_topics._MAX_DF", 1.0)


def test_the_demo_says_what_it_read_counted_and_fitted(shown: Result) -> None:
    assert shown.exit_code == 0, shown.output
    said = sentences(shown.output)
    assert "docstrings in" in said
    assert "non-zero counts" in said
    assert "Fitted 10 topics" in said
    for package in PACKAGES.split(","):
        assert package in said


def test_each_word_is_shown_with_its_topic_its_separation_and_its_documents(shown: Result) -> None:
    panel = sentences(shown.output.partition("─ logger ")[2].partition(" ms ")[0])
    assert "handler" in panel
    assert "% of the corpus" in panel
    assert "separation" in panel
    assert panel.count("logging.") >= 3


def test_several_words_are_used_together_where_they_are_quoted(shown: Result) -> None:
    panel = shown.output.partition("─ event loop ")[2].partition(" ms ")[0]
    assert panel.count("asyncio.") >= 3


def test_an_unknown_word_gets_its_sentence_and_the_demo_goes_on(shown: Result) -> None:
    assert "'logegr' is not among the" in shown.output
    assert "Nearest: logger" in shown.output
    assert "─ event loop " in shown.output


def test_no_raw_warning_is_printed(shown: Result) -> None:
    assert "Warning" not in shown.output


def test_the_gaussian_is_found_nearly_as_well_as_with_every_label(shown: Result) -> None:
    lines = shown.output.splitlines()
    estimates = (
        "the labelled sample itself",
        "the search, from that one label",
        "the search, refined",
        "from every label",
    )
    sample, search, refined, oracle = (
        float(next(line for line in lines if start in line).split()[-1]) for start in estimates
    )
    assert search < 2 * oracle
    assert search < 0.1 * sample
    assert refined < 1.05 * oracle


@pytest.mark.parametrize("name", ["topics.png", "gaussian.png"])
def test_the_pictures_are_written_where_the_demo_says(shown: Result, folder: Path, name: str) -> None:
    assert str(folder / name) in shown.output
    image = imread(folder / name)
    assert min(image.shape[:2]) > 300
    assert max(image.shape[:2]) < 4000
    assert image.std() > 0.05


def test_without_a_known_word_the_demo_ends_with_code_1(tmp_path: Path) -> None:
    result = invoke("demo", "zzyzx", *SMALL, "--output", str(tmp_path / "new"))
    assert result.exit_code == 1
    assert "'zzyzx' is not among the" in result.output
    assert "None of the words occurs" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("rivers_and_money")
def test_a_weak_hint_is_told_in_words_with_what_else_it_could_mean(tmp_path: Path) -> None:
    result = invoke("demo", "river money", "--n-components", "2", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert verdict(1.0) in result.output
    assert "weak hint" in result.output
    other = result.output.partition("it could also mean")[2].splitlines()[0]
    assert ("river" in other) != ("money" in other)
    assert "Warning" not in result.output


@pytest.mark.usefixtures("rivers_and_money")
def test_without_matplotlib_the_demo_shows_all_but_the_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.delitem(sys.modules, "mixsearch.plots", raising=False)
    result = invoke("demo", "boat", "--n-components", "2", "--output", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "pip install 'mixsearch[cli]'" in result.output
    assert not list(tmp_path.iterdir())


def test_too_few_docstrings_are_an_error_of_one_sentence(tmp_path: Path) -> None:
    result = invoke("demo", "--packages", "colorsys", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "no word occurs in at least 10 of them" in sentences(result.stderr)


def test_an_unknown_package_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    result = invoke("demo", "--packages", "no_such_package", "--output", str(tmp_path))
    assert result.exit_code == 1
    assert "No Python source found for the package 'no_such_package'" in sentences(result.stderr)


def test_a_folder_that_cannot_be_made_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = invoke("demo", "--output", str(file / "pictures"))
    assert result.exit_code == 1
    assert "Cannot create the folder" in result.stderr
    assert "--output" in result.stderr


def test_the_version_is_shown() -> None:
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output == f"mixsearch {mixsearch.__version__}\n"


def test_the_help_shows_an_example() -> None:
    assert "mixsearch demo socket" in invoke("--help").output
    assert "--n-components" in invoke("demo", "--help").output


def test_the_package_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["mixsearch", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("mixsearch", run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"mixsearch {mixsearch.__version__}\n"


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages_the_command_line_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forget_commands(monkeypatch)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "rich.console", raising=False)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err == "The command line needs typer and rich: pip install 'mixsearch[cli]'\n"


def test_another_missing_module_is_not_mistaken_for_those(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    forget_commands(monkeypatch)
    monkeypatch.setitem(sys.modules, "mixsearch.cli._commands", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the details go there
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().err
    assert "mixsearch.cli._commands" in said
    assert "pip install" not in said

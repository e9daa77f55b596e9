"""Every example of the gallery runs, and ends with a picture."""

import runpy
from pathlib import Path

import pytest
from matplotlib.figure import Figure

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(path))
    assert isinstance(names["figure"], Figure)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_is_a_screen_long(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = lines[1]
    assert lines[:3] == ['"""', heading, "=" * len(heading)]
    assert "?" in "\n".join(lines).split('"""')[1]
    assert len(lines) <= 70


def test_there_are_enough_examples():
    assert len(EXAMPLES) == 12

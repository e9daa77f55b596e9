"""`mixsearch doctor` describes an installation, and says how to get what it lacks."""

import json
from importlib import metadata

import pytest
from typer.testing import CliRunner

import mixsearch
from mixsearch.cli.app import app

REQUIRES = [
    "numpy>=1.26",
    "planted>=2.1,<4",
    "matplotlib>=3.8; extra == 'plot'",
    "matplotlib>=3.8; extra == 'web'",
    "deep>=1; extra == 'web'",
    "deep>=1; extra == 'all'",
]


@pytest.fixture
def installed(monkeypatch):
    """Packages that are installed, with their versions; tests change it."""
    versions = {"numpy": "2.0.1", "planted": "2.10.0rc1", "matplotlib": "3.10.1", "deep": "1.0"}

    def look_up(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(metadata, "version", look_up)
    return versions


def invoke(*arguments):
    return CliRunner().invoke(app, ["doctor", *arguments], env={"COLUMNS": "200"})


@pytest.mark.usefixtures("installed")
def test_it_describes_the_machine_and_every_extra():
    result = invoke()
    assert result.exit_code == 0, result.output
    lines = {line.partition(" ")[0]: line.partition(" ")[2].strip() for line in result.stdout.splitlines()}
    assert lines["mixsearch"].startswith(mixsearch.__version__)
    assert "CPython" in lines["Python"]
    assert {"system", "cores", "BLAS"} <= set(lines)
    assert lines["required"] == "numpy 2.0.1, planted 2.10.0rc1"
    assert lines["web"] == "matplotlib 3.10.1, deep 1.0"
    assert "all" not in lines
    found = json.loads(invoke("--json").stdout)
    assert found["packages"]["plot"] == [{"name": "matplotlib", "version": "3.10.1", "minimum": "3.8", "usable": True}]


def test_a_required_package_that_is_missing_or_too_old_is_an_error(installed):
    installed["planted"] = "2.0.9"
    del installed["deep"]
    result = invoke()
    assert result.exit_code == 1
    assert "planted 2.0.9, needed: 2.1: pip install --upgrade 'mixsearch'" in result.stdout
    assert "deep is missing, needed: 1: pip install --upgrade 'mixsearch[web]'" in result.stdout

"""`mixsearch doctor` describes an installation, and says how to get what it lacks."""

import json
from importlib import metadata

import pytest
from tests.apps.cli import invoke

import mixsearch

REQUIRES = ["numpy>=1.26", "deep>=1,<4; extra == 'web'", "lost>=1; extra == 'web'", "deep>=1; extra == 'all'"]


@pytest.fixture(autouse=True)
def _installed(monkeypatch):
    """Two of three packages that are needed are installed."""
    versions = {"numpy": "2.0.1", "deep": "2.10.0rc1"}

    def look_up(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(metadata, "version", look_up)


def test_it_describes_the_machine_and_every_extra():
    result = invoke("doctor", COLUMNS="200")
    assert result.exit_code == 0, result.output
    lines = {line.partition(" ")[0]: line.partition(" ")[2].strip() for line in result.stdout.splitlines()}
    assert lines["mixsearch"].startswith(mixsearch.__version__)
    assert "CPython" in lines["Python"]
    assert {"system", "cores", "BLAS"} <= set(lines)
    assert lines["required"] == "numpy 2.0.1"
    assert lines["web"] == "lost missing: pip install 'mixsearch[web]'"
    assert "all" not in lines
    assert json.loads(invoke("doctor", "--json").stdout)["packages"]["web"] == {"deep": "2.10.0rc1", "lost": None}

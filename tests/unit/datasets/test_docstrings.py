"""Docstrings of installed packages as a corpus: read from their sources, without running them."""

import pytest
from tests.coded import raises

from mixsearch.datasets import load_docstrings

SOURCE = '''"""Everything that is known about rivers."""

class River:
    """Water that runs down to the sea."""

    def flow(self):
        """Let the water run for one day."""

    def __len__(self):
        """The way from source to mouth."""

class _Bed:
    """The ground below the running water."""

async def listen():
    """Wait until the water can be heard."""

def short():
    """Let water run."""

def again():
    """Let the water run for one day."""
'''
FLOW = 'def flow():\n    """Let the water of {} run for one day."""\n'


@pytest.fixture
def write_package(tmp_path, monkeypatch):
    def write(package, source_of_file):
        for name, source in {"__init__.py": "", **source_of_file}.items():
            path = tmp_path / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)

    return write


def test_public_docstrings_are_found_in_source_order_once_each_if_they_are_long_enough(write_package):
    write_package("rivers", {"water.py": SOURCE})
    corpus = load_docstrings(["rivers"], n_jobs=1)
    names = ["rivers.water", "rivers.water.River", "rivers.water.River.flow", "rivers.water.listen"]
    assert corpus.names == names
    assert corpus.texts[2] == "Let the water run for one day."


@pytest.mark.parametrize("file", ["tests/water.py", "water_test.py", "_vendor/pip/water.py"])
def test_tests_and_vendored_copies_are_skipped(write_package, file):
    write_package("rivers", {file: FLOW})
    assert len(load_docstrings(["rivers"], n_jobs=1)) == 0


@pytest.mark.parametrize("source", ["def (:\n", "# coding: no-such-coding\n", "raise SystemExit('was run')\n"])
def test_a_file_that_cannot_be_parsed_is_skipped_and_none_is_run(write_package, source):
    write_package("rivers", {"__init__.py": source, "water.py": FLOW})
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers.water.flow"]


@pytest.mark.parametrize("package", ["no_such_package_anywhere", "math"])
def test_a_package_without_source_is_named(package):
    with raises("package_missing", package=package):
        load_docstrings([package])


# Later versions of Python warn of any fork while another thread runs, as one does in the test runner's workers.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_corpus_does_not_depend_on_the_number_of_processes(write_package):
    write_package("rivers", {f"part{i:02d}.py": FLOW.replace("{}", f"valley {i}") for i in range(60)})
    alone, reports = load_docstrings(["rivers"], n_jobs=1), []
    assert len(alone) == 60
    assert load_docstrings(["rivers"], n_jobs=2, on_progress=lambda *each: reports.append(each)) == alone
    assert reports == sorted(set(reports))
    assert reports[-1] == (61, 61)

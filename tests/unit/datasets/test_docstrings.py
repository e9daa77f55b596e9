import multiprocessing
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from mixsearch.datasets import _docstrings
from mixsearch.datasets._docstrings import DocstringCorpus, load_docstrings
from mixsearch.errors import SearchError

WritePackage = Callable[[str, dict[str, str]], None]

# Later versions of Python warn of any fork while another thread runs, as one does in the test runner's workers.
ignores_fork_warning = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def write_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WritePackage:
    def write(package: str, source_of_file: dict[str, str]) -> None:
        for name, source in {"__init__.py": "", **source_of_file}.items():
            path = tmp_path / package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)

    return write


def function(name: str, text: str) -> str:
    return f'def {name}():\n    """{text}"""\n'


def numbered_modules(n_modules: int) -> dict[str, str]:
    return {
        f"part{i:02d}.py": function("measure", f"Measure the river in valley number {i}.") for i in range(n_modules)
    }


def test_modules_classes_functions_methods_and_properties_are_found_in_source_order(
    write_package: WritePackage,
) -> None:
    source = '''"""Everything that is known about rivers."""

class River:
    """Water that runs down to the sea.

    Examples:
        the Danube
    """

    def flow(self):
        """Let the water run for one day."""

    @property
    def length(self):
        """The way from source to mouth."""

async def listen():
    """Wait until the water can be heard."""
'''
    write_package("rivers", {"water.py": source})
    corpus = load_docstrings(["rivers"], n_jobs=1)
    assert corpus.names == [
        "rivers.water",
        "rivers.water.River",
        "rivers.water.River.flow",
        "rivers.water.River.length",
        "rivers.water.listen",
    ]
    assert corpus.texts == [
        "Everything that is known about rivers.",
        "Water that runs down to the sea.\n\nExamples:\n    the Danube",
        "Let the water run for one day.",
        "The way from source to mouth.",
        "Wait until the water can be heard.",
    ]


def test_the_length_of_a_corpus_is_its_number_of_texts() -> None:
    assert len(DocstringCorpus(names=["a", "b"], texts=["one", "two"])) == 2


def test_a_package_file_is_named_after_its_folder(write_package: WritePackage) -> None:
    write_package("rivers", {"delta/__init__.py": '"""Where a river meets the sea."""'})
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers.delta"]


def test_a_module_of_one_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brook.py").write_text(function("babble", "Make the sound of small water."), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_docstrings(["brook"], n_jobs=1).names == ["brook.babble"]


def test_definitions_inside_branches_are_found(write_package: WritePackage) -> None:
    source = """
try:
    import fast
except ImportError:
    def flow():
        '''Let the water run without help.'''
else:
    if fast:
        def flow():
            '''Let the water run very fast indeed.'''
"""
    write_package("rivers", {"water.py": source})
    corpus = load_docstrings(["rivers"], n_jobs=1)
    assert corpus.texts == ["Let the water run without help.", "Let the water run very fast indeed."]


@pytest.mark.parametrize(
    "file",
    [
        "tests/water.py",
        "test/water.py",
        "test_water.py",
        "water_test.py",
        "conftest.py",
        "externals/water.py",
        "_vendor/pip/water.py",
        "site-packages/water.py",
        "idlelib/water.py",
        "lib2to3/water.py",
    ],
)
def test_tests_and_vendored_copies_are_skipped(write_package: WritePackage, file: str) -> None:
    write_package("rivers", {file: function("flow", "Let the water run for one day.")})
    assert len(load_docstrings(["rivers"], n_jobs=1)) == 0


def test_a_folder_above_the_package_does_not_make_it_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tests" / "rivers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""Everything that is known about rivers."""', encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers"]


def test_private_names_are_skipped_with_all_they_hold(write_package: WritePackage) -> None:
    source = '''
class _Bed:
    """The ground below the running water."""
    def dig(self):
        """Make the ground deeper than before."""

class River:
    def __len__(self):
        """The way from source to mouth."""

def _flow():
    """Let the water run for one day."""
    def inner():
        """Never seen from outside the function."""
'''
    write_package("rivers", {"water.py": source})
    assert len(load_docstrings(["rivers"], n_jobs=1)) == 0


def test_public_names_of_a_private_module_are_kept_without_its_own_docstring(write_package: WritePackage) -> None:
    source = '"""Where the real work is done."""\n' + function("flow", "Let the water run for one day.")
    write_package("rivers", {"_base.py": source})
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers._base.flow"]


def test_a_repeated_text_is_kept_once_under_its_first_name(write_package: WritePackage) -> None:
    source = function("flow", "Let the water run for one day.")
    write_package("rivers", {"b.py": source, "a.py": source})
    write_package("lakes", {"c.py": source})
    assert load_docstrings(["rivers", "lakes", "rivers"], n_jobs=1).names == ["lakes.c.flow"]


@pytest.mark.parametrize(
    "text", ["Let water run.", "%(alpha)s %(beta)s %(gamma)s %(delta)s %(epsilon)s", "1 2 3 4 5 6 7"]
)
def test_short_texts_and_templates_without_words_are_skipped(write_package: WritePackage, text: str) -> None:
    write_package("rivers", {"water.py": function("flow", text)})
    assert len(load_docstrings(["rivers"], n_jobs=1)) == 0


def test_a_template_with_words_around_its_placeholders_is_kept(write_package: WritePackage) -> None:
    write_package("rivers", {"water.py": function("flow", "Let the water of {name} run for one day.")})
    assert load_docstrings(["rivers"], n_jobs=1).texts == ["Let the water of {name} run for one day."]


@pytest.mark.parametrize("source", ["def (:\n", "print 'old'\n", "a = '\0'\n", "# coding: no-such-coding\n"])
def test_an_unparsable_file_is_skipped(write_package: WritePackage, source: str) -> None:
    write_package("rivers", {"broken.py": source, "water.py": function("flow", "Let the water run for one day.")})
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers.water.flow"]


def test_an_invalid_escape_in_the_source_does_not_warn(write_package: WritePackage) -> None:
    write_package("rivers", {"water.py": function("flow", r"Let the water run along \d days.")})
    assert load_docstrings(["rivers"], n_jobs=1).texts == [r"Let the water run along \d days."]


def test_nothing_is_imported_or_run(write_package: WritePackage, tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'was_run')!r}, 'w').close()\nraise SystemExit('was run')\n"
    source = trap + function("flow", "Let the water run for one day.")
    write_package("rivers", {"__init__.py": trap, "water.py": source})
    assert load_docstrings(["rivers"], n_jobs=1).names == ["rivers.water.flow"]
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize("package", ["no_such_package_anywhere", "math", ""])
def test_a_package_without_source_is_named_with_what_to_do(package: str) -> None:
    message = rf"No Python source found for the package '{package}'. Install it in this environment, or omit it"
    with pytest.raises(SearchError, match=message):
        load_docstrings([package])


def test_a_submodule_is_answered_with_the_package_to_pass() -> None:
    with pytest.raises(SearchError, match=r"'email\.message' is not a top-level package. Pass 'email'"):
        load_docstrings(["email.message"])


def test_a_single_string_is_answered_with_the_list_to_pass() -> None:
    with pytest.raises(TypeError, match=r"packages must be a sequence of names, .* Pass \['email'\]"):
        load_docstrings("email")


@pytest.mark.parametrize("n_jobs", [0, -2])
def test_a_number_of_processes_below_one_is_an_error(n_jobs: int) -> None:
    with pytest.raises(ValueError, match=rf"n_jobs must be a positive integer, or None .*, got {n_jobs}"):
        load_docstrings(["email"], n_jobs=n_jobs)


@ignores_fork_warning
@pytest.mark.parametrize("n_jobs", [2, -1, None])
def test_the_corpus_does_not_depend_on_the_number_of_processes(write_package: WritePackage, n_jobs: int | None) -> None:
    write_package("rivers", numbered_modules(60))
    alone = load_docstrings(["rivers"], n_jobs=1)
    assert len(alone) == 60
    assert load_docstrings(["rivers"], n_jobs=n_jobs) == alone


def test_the_corpus_does_not_depend_on_the_order_of_packages(write_package: WritePackage) -> None:
    write_package("rivers", numbered_modules(3))
    write_package("lakes", {"water.py": function("rest", "Let the water stand for one day.")})
    assert load_docstrings(["rivers", "lakes"], n_jobs=1) == load_docstrings(["lakes", "rivers"], n_jobs=1)


@ignores_fork_warning
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_rises_to_the_number_of_files(write_package: WritePackage, n_jobs: int) -> None:
    write_package("rivers", numbered_modules(60))
    reports: list[tuple[int, int]] = []
    load_docstrings(["rivers"], n_jobs=n_jobs, on_progress=lambda done, total: reports.append((done, total)))
    assert len(reports) > 1
    assert reports == sorted(set(reports))
    assert {total for _, total in reports} == {61}
    assert reports[-1] == (61, 61)


@ignores_fork_warning
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_the_progress_report_reaches_the_caller_and_leaves_no_process(
    write_package: WritePackage, n_jobs: int
) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyError(f"stopped at {done} of {total}")

    write_package("rivers", numbered_modules(60))
    before = set(multiprocessing.active_children())  # other tests may have a cluster
    with pytest.raises(KeyError, match="stopped at"):
        load_docstrings(["rivers"], n_jobs=n_jobs, on_progress=stop)
    assert set(multiprocessing.active_children()) <= before


def test_a_process_that_ends_early_is_answered_with_what_to_do(
    write_package: WritePackage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_executor(*_: object, **__: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(_docstrings, "ProcessPoolExecutor", broken_executor)
    write_package("rivers", numbered_modules(60))
    with pytest.raises(RuntimeError, match=r"One of 2 processes ended early. .* or pass n_jobs=1"):
        load_docstrings(["rivers"], n_jobs=2)


def test_the_default_is_the_standard_library_and_the_default_packages_that_are_installed(
    write_package: WritePackage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package("stdlib", {"clock.py": function("tick", "Wait until one second is over.")})
    write_package("stdlib/site-packages/other", {"water.py": function("flow", "Let no water run from here.")})
    write_package("rivers", {"water.py": function("flow", "Let the water run for one day.")})
    (tmp_path / "stdlib" / "__init__.py").unlink()
    monkeypatch.setattr(_docstrings.sysconfig, "get_path", lambda _: str(tmp_path / "stdlib"))
    monkeypatch.setattr(_docstrings, "DEFAULT_PACKAGES", ("rivers", "no_such_package_anywhere"))
    assert load_docstrings(n_jobs=1).names == ["clock.tick", "rivers.water.flow"]


def test_a_known_docstring_of_the_standard_library_is_found() -> None:
    corpus = load_docstrings(["email"], n_jobs=1)
    text = corpus.texts[corpus.names.index("email.message.Message.get_payload")]
    assert text.startswith("Return a reference to the payload.")


def test_a_module_frozen_into_the_interpreter_is_read_from_its_source() -> None:
    assert "os.makedirs" in load_docstrings(["os"], n_jobs=1).names

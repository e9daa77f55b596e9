"""Read a real text corpus that every installation already has: the docstrings of its Python packages."""

import ast
import gc
import importlib.util
import os
import re
import sysconfig
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path

from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.machine import available_cores

DEFAULT_PACKAGES = (
    "joblib",
    "matplotlib",
    "networkx",
    "numpy",
    "pandas",
    "scipy",
    "skimage",
    "sklearn",
    "statsmodels",
    "sympy",
)

_TEST_NAMES = frozenset({"test", "tests", "conftest"})
_SKIPPED_STANDARD_MODULES = frozenset({"__pycache__", "idlelib", "lib2to3"})
# The last four are copies inside scipy.
_VENDORED_NAMES = frozenset(
    {"extern", "externals", "vendor", "vendored", "_vendor", "_vendored", "_bundled", "third_party"}
    | {"array_api_compat", "array_api_extra", "cobyqa", "pyprima"}
)
_SKIPPED_NAMES = _TEST_NAMES | _SKIPPED_STANDARD_MODULES | _VENDORED_NAMES

# Placeholders of docstring templates: %(name)s, {name}, ${name}. They do not count as words.
_PLACEHOLDER = re.compile(r"%\(\w*\)s|\$?\{\w*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MIN_WORDS = 5

# Small enough that a chunk of long files does not leave the other workers idle at the end.
_FILES_PER_CHUNK = 16
# Starting more workers costs more than it saves.
_MAX_DEFAULT_WORKERS = 8

# What the parser raises for invalid source.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.If, ast.Try, ast.ExceptHandler, ast.With)


class WorkerDiedError(SearchError, RuntimeError):
    """A worker process ended before its files were read."""

    code = "worker_died"


@dataclass(frozen=True)
class DocstringCorpus:
    """Docstrings and the names they document, in the same order.

    Attributes
    ----------
    names : list of str
        Qualified names, such as ``email.message.EmailMessage.set_content``.
    texts : list of str
        The docstrings without indentation, each text once.
    """

    names: list[str]
    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, order=True)
class _SourceFile:
    module: tuple[str, ...]
    path: Path


def load_docstrings(
    packages: Sequence[str] | None = None,
    *,
    n_jobs: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> DocstringCorpus:
    """Read the docstrings of installed packages, without downloading, importing or running anything.

    Parameters
    ----------
    packages : sequence of str, optional
        Top-level packages or modules, such as ``["email", "numpy"]``. By default the standard library and the
        installed ones of ``DEFAULT_PACKAGES``.
    n_jobs : int, optional
        The number of processes that parse files; 1 uses this process only. None or -1 for one per core, up to eight.
    on_progress : callable, optional
        Called in this process as ``on_progress(done_files, total_files)`` when more files are done.

    Returns
    -------
    DocstringCorpus
        Docstrings of public modules, classes, functions and methods, sorted by module, then in source order. Tests,
        vendored copies, templates, texts of fewer than five words and repeated texts are skipped.

    Raises
    ------
    TypeError
        If `packages` is a single string.
    SearchError
        If a package has no Python source here, or a submodule is named.
    ArgumentError
        If `n_jobs` is not a number of processes.
    WorkerDiedError
        If a process ends before its files are read.

    Notes
    -----
    The order does not depend on `n_jobs` or on the order of `packages`; the texts depend on the installed versions.
    If processes are spawned (Windows, macOS), a script must call this under ``if __name__ == "__main__":``.

    Examples
    --------
    >>> corpus = load_docstrings(["email"], n_jobs=1)
    >>> corpus.texts[corpus.names.index("email.message_from_file")].splitlines()[0]
    'Read a file and parse its contents into a Message object model.'
    """
    n_workers = _count_workers(n_jobs)
    files = _default_files() if packages is None else _requested_files(packages)
    return _remove_repeats(_read_files(sorted(set(files)), n_workers, on_progress))


def _count_workers(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == -1:
        return min(available_cores(), _MAX_DEFAULT_WORKERS)
    if n_jobs < 1:
        raise ArgumentError(
            "{argument} must be a positive integer, or None for one process per core, got {value!r}.",
            argument=Option("n_jobs"),
            value=n_jobs,
        )
    return n_jobs


def _default_files() -> list[_SourceFile]:
    standard_library = _walk_files(Path(sysconfig.get_path("stdlib")), ())
    return [*standard_library, *(file for package in DEFAULT_PACKAGES for file in _find_package_files(package))]


def _requested_files(packages: Sequence[str]) -> list[_SourceFile]:
    if isinstance(packages, str):
        raise TypeError(f"packages must be a sequence of names, got the string {packages!r}. Pass [{packages!r}].")
    return [file for package in packages for file in _find_requested_files(package)]


def _find_requested_files(package: str) -> list[_SourceFile]:
    top, dot, _ = package.partition(".")
    if dot:
        # Finding a submodule would import its parents.
        raise SearchError(
            "{package!r} is not a top-level package. Pass {top!r}.", code="not_top_level", package=package, top=top
        )
    files = _find_package_files(package)
    if not files:
        raise SearchError(
            "No Python source found for the package {package!r}. Install it in this environment, or omit it.",
            code="package_missing",
            package=package,
        )
    return files


def _find_package_files(package: str) -> list[_SourceFile]:
    spec = _find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        folders = [Path(folder) for folder in spec.submodule_search_locations]
        return [file for folder in folders for file in _walk_files(folder, (package,))]
    path = _find_module_path(spec)
    return [_SourceFile((package,), path)] if path.suffix == ".py" and path.is_file() else []


def _find_spec(package: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(package)
    except ValueError:  # An empty name, or a running module that was never found by name, such as __main__.
        return None


def _find_module_path(spec: ModuleSpec) -> Path:
    if (
        spec.origin == "frozen"
    ):  # Modules such as os are built into the interpreter; their source is in the standard library.
        return Path(sysconfig.get_path("stdlib"), f"{spec.name}.py")
    return Path(spec.origin or "")


def _walk_files(folder: Path, prefix: tuple[str, ...]) -> Iterator[_SourceFile]:
    for parent, folders, file_names in os.walk(folder):
        folders[:] = [name for name in folders if _is_kept(name)]
        package = prefix + Path(parent).relative_to(folder).parts
        for name in file_names:
            stem, extension = os.path.splitext(name)
            if extension == ".py" and _is_kept(stem):
                yield _SourceFile(package if stem == "__init__" else (*package, stem), Path(parent, name))


def _is_kept(name: str) -> bool:
    # Folders that are not packages, such as site-packages, have names that are not identifiers.
    is_test = name.lstrip("_").startswith("test_") or name.endswith("_test")
    return name.isidentifier() and name not in _SKIPPED_NAMES and not is_test


def _read_files(
    files: list[_SourceFile], n_workers: int, on_progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, str]]:
    chunks = [files[start : start + _FILES_PER_CHUNK] for start in range(0, len(files), _FILES_PER_CHUNK)]
    n_done = 0
    # An error in on_progress must end the processes now, not when its traceback is forgotten.
    with closing(_read_chunks(chunks, n_workers)) as results:
        for chunk, entries in zip(chunks, results, strict=True):
            n_done += len(chunk)
            if on_progress is not None:
                on_progress(n_done, len(files))
            yield from entries


def _read_chunks(chunks: list[list[_SourceFile]], n_workers: int) -> Generator[list[tuple[str, str]], None, None]:
    n_workers = min(n_workers, len(chunks))
    if n_workers <= 1:
        yield from map(_read_chunk, chunks)
        return
    try:
        # Syntax trees have no cycles: searching them for garbage takes a third of the time and finds nothing.
        with ProcessPoolExecutor(n_workers, initializer=gc.disable) as executor:
            yield from executor.map(_read_chunk, chunks)
    except BrokenProcessPool as error:
        raise WorkerDiedError(
            "One of {n_workers} processes ended early. In a script, call load_docstrings under "
            "'if __name__ == \"__main__\":', or pass {argument}=1.",
            n_workers=n_workers,
            argument=Option("n_jobs"),
        ) from error


def _read_chunk(files: list[_SourceFile]) -> list[tuple[str, str]]:
    # Invalid escapes in other packages are no concern of the reader of their docstrings.
    with warnings.catch_warnings(action="ignore"):
        return [entry for file in files for entry in _read_file(file)]


def _read_file(file: _SourceFile) -> list[tuple[str, str]]:
    try:
        tree = ast.parse(file.path.read_bytes())
    except _UNREADABLE:
        return []
    return [(name, text) for name, text in _public_docstrings(tree, file.module) if _has_words(text)]


def _public_docstrings(tree: ast.Module, module: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    name = ".".join(module)
    # A private module often holds the public classes of its package, so only its own docstring is private.
    if not module[-1].startswith("_"):
        yield name, ast.get_docstring(tree) or ""
    yield from _member_docstrings(ast.iter_child_nodes(tree), name)


def _member_docstrings(nodes: Iterable[ast.AST], owner: str) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, _BRANCHES):
            yield from _member_docstrings(ast.iter_child_nodes(node), owner)
        elif isinstance(node, _DEFINITIONS) and not node.name.startswith("_"):
            name = f"{owner}.{node.name}"
            yield name, ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                yield from _member_docstrings(node.body, name)


def _has_words(text: str) -> bool:
    return len(_WORD.findall(_PLACEHOLDER.sub(" ", text))) >= _MIN_WORDS


def _remove_repeats(entries: Iterable[tuple[str, str]]) -> DocstringCorpus:
    name_of_text: dict[str, str] = {}
    for name, text in entries:
        name_of_text.setdefault(text, name)
    return DocstringCorpus(names=list(name_of_text.values()), texts=list(name_of_text))

"""A real text corpus that every installation already has: the docstrings of its Python packages."""

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

from mixsearch.errors import SearchError

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
_UNUSED_PARTS_OF_THE_STANDARD_LIBRARY = frozenset({"__pycache__", "idlelib", "lib2to3"})
# The last four are copies that scipy keeps under their own names.
_VENDORED_NAMES = frozenset(
    {"extern", "externals", "vendor", "vendored", "_vendor", "_vendored", "_bundled", "third_party"}
    | {"array_api_compat", "array_api_extra", "cobyqa", "pyprima"}
)
_LEFT_OUT = _TEST_NAMES | _UNUSED_PARTS_OF_THE_STANDARD_LIBRARY | _VENDORED_NAMES

# What docstring templates fill in later: %(name)s, {name}, ${name}. It is not prose, so it does not count as words.
_PLACEHOLDER = re.compile(r"%\(\w*\)s|\$?\{\w*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 5

# Small enough that a chunk of long files does not leave the other workers idle at the end.
_FILES_PER_CHUNK = 16
# Starting more workers costs more than the fraction of a second they would save.
_MOST_DEFAULT_WORKERS = 8

# All that the parser raises for source that it cannot take.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.If, ast.Try, ast.ExceptHandler, ast.With)


@dataclass(frozen=True)
class DocstringCorpus:
    """Docstrings and the names they document, in the same order.

    Attributes
    ----------
    names : list of str
        Qualified names, such as ``email.message.EmailMessage.set_content``.
    texts : list of str
        The docstrings without their indentation; no text occurs twice.
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
        Top-level packages or modules, such as ``["email", "numpy"]``. By default the standard library and those of
        ``DEFAULT_PACKAGES`` that are installed.
    n_jobs : int, optional
        Processes that parse files; 1 stays in this process. None or -1 is one for each core, up to eight.
    on_progress : callable, optional
        Called here as ``on_progress(done_files, total_files)`` whenever more files are done.

    Returns
    -------
    DocstringCorpus
        Docstrings of public modules, classes, functions and methods, sorted by module, then in source order. Tests,
        vendored copies, templates, texts of fewer than five words and repeated texts are left out.

    Raises
    ------
    TypeError
        If `packages` is a single string.
    SearchError
        If a package has no Python source here, or is named by a submodule.
    ValueError
        If `n_jobs` is not a number of processes.
    RuntimeError
        If a process ends before its files are read.

    Notes
    -----
    The order does not depend on `n_jobs` or on the order of `packages`; the texts depend on the installed versions.
    Where processes are spawned (Windows, macOS), a script calls this under ``if __name__ == "__main__":``.

    Examples
    --------
    >>> corpus = load_docstrings(["email"], n_jobs=1)
    >>> corpus.texts[corpus.names.index("email.message_from_file")].splitlines()[0]
    'Read a file and parse its contents into a Message object model.'
    """
    n_workers = _count_workers(n_jobs)
    files = _default_files() if packages is None else _requested_files(packages)
    return _without_repeats(_read_files(sorted(set(files)), n_workers, on_progress))


def _count_workers(n_jobs: int | None) -> int:
    if n_jobs is None or n_jobs == -1:
        return min(os.cpu_count() or 1, _MOST_DEFAULT_WORKERS)
    if n_jobs < 1:
        raise ValueError(
            f"Found n_jobs={n_jobs}, needed at least 1: pass a number of processes, or None for all cores."
        )
    return n_jobs


def _default_files() -> list[_SourceFile]:
    standard_library = _files_below(Path(sysconfig.get_path("stdlib")), ())
    return [*standard_library, *(file for package in DEFAULT_PACKAGES for file in _files_of_package(package))]


def _requested_files(packages: Sequence[str]) -> list[_SourceFile]:
    if isinstance(packages, str):
        raise TypeError(f"Found packages={packages!r}, needed a sequence of names: pass [{packages!r}].")
    return [file for package in packages for file in _files_of_requested_package(package)]


def _files_of_requested_package(package: str) -> list[_SourceFile]:
    top, dot, _ = package.partition(".")
    if dot:
        # Finding a submodule would import its parents.
        raise SearchError(f"Found {package!r} in packages, needed the name of a top-level package: pass {top!r}.")
    files = _files_of_package(package)
    if not files:
        raise SearchError(
            f"Found no Python source for {package!r}, needed an installed package written in Python: "
            "install it in this environment, or leave it out of packages."
        )
    return files


def _files_of_package(package: str) -> list[_SourceFile]:
    spec = _find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        folders = [Path(folder) for folder in spec.submodule_search_locations]
        return [file for folder in folders for file in _files_below(folder, (package,))]
    path = _path_of_module(spec)
    return [_SourceFile((package,), path)] if path.suffix == ".py" and path.is_file() else []


def _find_spec(package: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(package)
    except ValueError:  # An empty name, or a running module that was never found by name, such as __main__.
        return None


def _path_of_module(spec: ModuleSpec) -> Path:
    if spec.origin == "frozen":  # Modules such as os are built into the interpreter, with their source beside it.
        return Path(sysconfig.get_path("stdlib"), f"{spec.name}.py")
    return Path(spec.origin or "")


def _files_below(folder: Path, prefix: tuple[str, ...]) -> Iterator[_SourceFile]:
    for parent, folders, file_names in os.walk(folder):
        folders[:] = [name for name in folders if _is_kept(name)]
        package = prefix + Path(parent).relative_to(folder).parts
        for name in file_names:
            stem, extension = os.path.splitext(name)
            if extension == ".py" and _is_kept(stem):
                yield _SourceFile(package if stem == "__init__" else (*package, stem), Path(parent, name))


def _is_kept(name: str) -> bool:
    # Folders that are no packages, site-packages among them, have names that no import could spell.
    is_test = name.lstrip("_").startswith("test_") or name.endswith("_test")
    return name.isidentifier() and name not in _LEFT_OUT and not is_test


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
        raise RuntimeError(
            f"Found that one of {n_workers} processes ended early, needed all of them: call load_docstrings under "
            "'if __name__ == \"__main__\":' in a script, or pass n_jobs=1."
        ) from error


def _read_chunk(files: list[_SourceFile]) -> list[tuple[str, str]]:
    # Old escapes in other people's source are not news for whoever reads their docstrings.
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
    return len(_WORD.findall(_PLACEHOLDER.sub(" ", text))) >= _FEWEST_WORDS


def _without_repeats(entries: Iterable[tuple[str, str]]) -> DocstringCorpus:
    name_of_text: dict[str, str] = {}
    for name, text in entries:
        name_of_text.setdefault(text, name)
    return DocstringCorpus(names=list(name_of_text.values()), texts=list(name_of_text))

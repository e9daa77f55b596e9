"""Read a real text corpus that every installation already has: the docstrings of its Python packages."""

import ast
import gc
import importlib.util
import os
import re
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mixsearch.errors import SearchError
from mixsearch.machine import available_cores

DEFAULT_PACKAGES = ("joblib", "matplotlib", "networkx", "numpy", "pandas", "scipy", "skimage", "sklearn", "sympy")
# Tests, caches, and copies of other packages, of which the last four are inside scipy.
_SKIPPED_NAMES = frozenset(
    {"test", "tests", "conftest", "__pycache__", "idlelib", "lib2to3"}
    | {"extern", "externals", "vendor", "vendored", "_vendor", "_vendored", "_bundled", "third_party"}
    | {"array_api_compat", "array_api_extra", "cobyqa", "pyprima"}
)
# Placeholders of docstring templates: %(name)s, {name}, ${name}. They do not count as words.
_PLACEHOLDER = re.compile(r"%\(\w*\)s|\$?\{\w*\}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_MIN_WORDS = 5
# Small enough that a chunk of long files does not leave the other workers idle at the end.
_FILES_PER_CHUNK = 16
# Starting more workers costs more than it saves.
_MAX_WORKERS = 8
# What the parser raises for invalid source.
_UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.If, ast.Try, ast.ExceptHandler, ast.With)
# The parts of the name of a module, and its file.
_Source = tuple[tuple[str, ...], Path]


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
        Top-level packages, such as ``["email", "numpy"]``. By default the standard library and the installed ones of
        ``DEFAULT_PACKAGES``.
    n_jobs : int, optional
        The number of processes that parse files; 1 uses this process only. By default one per core, up to eight.
    on_progress : callable, optional
        Called in this process as ``on_progress(done_files, total_files)`` when more files are done.

    Returns
    -------
    DocstringCorpus
        Docstrings of public modules, classes, functions and methods, sorted by module, then in source order. Tests,
        vendored copies, templates, texts of fewer than five words and repeated texts are skipped.

    Raises
    ------
    SearchError
        If a package has no Python source here.

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
    if packages is None:
        found = [_walk_files(Path(sysconfig.get_path("stdlib")), ()), *map(_find_files, DEFAULT_PACKAGES)]
    else:
        found = [_find_files(package) for package in packages]
        for package, files in zip(packages, found, strict=True):
            if not files:
                raise SearchError(
                    "No Python source found for the package {package!r}. Install it in this environment, or omit it.",
                    code="package_missing",
                    package=package,
                )
    name_of_text: dict[str, str] = {}
    sources = sorted({file for files in found for file in files})
    for name, text in _read_files(sources, n_jobs or min(available_cores(), _MAX_WORKERS), on_progress):
        name_of_text.setdefault(text, name)
    return DocstringCorpus(names=list(name_of_text.values()), texts=list(name_of_text))


def _find_files(package: str) -> list[_Source]:
    """Return the source files of a package, or none."""
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return [file for folder in folders for file in _walk_files(Path(folder), (package,))]


def _walk_files(folder: Path, prefix: tuple[str, ...]) -> list[_Source]:
    found = []
    for parent, folders, file_names in os.walk(folder):
        folders[:] = filter(_is_read, folders)
        package = prefix + Path(parent).relative_to(folder).parts
        for name in file_names:
            stem, extension = os.path.splitext(name)
            if extension == ".py" and _is_read(stem):
                found.append((package if stem == "__init__" else (*package, stem), Path(parent, name)))
    return found


def _is_read(name: str) -> bool:
    # Folders that are not packages, such as site-packages, have names that are not identifiers.
    is_test = name.lstrip("_").startswith("test_") or name.endswith("_test")
    return name.isidentifier() and name not in _SKIPPED_NAMES and not is_test


def _read_files(
    files: list[_Source], n_workers: int, on_progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, str]]:
    """Yield names and docstrings of files, which processes parse in chunks."""
    chunks = [files[start : start + _FILES_PER_CHUNK] for start in range(0, len(files), _FILES_PER_CHUNK)]
    # Syntax trees have no cycles: searching them for garbage takes a third of the time and finds nothing.
    with ProcessPoolExecutor(n_workers, initializer=gc.disable) as executor:
        results = executor.map(_read_chunk, chunks) if min(n_workers, len(chunks)) > 1 else map(_read_chunk, chunks)
        for number, entries in enumerate(results, 1):
            if on_progress is not None:
                on_progress(min(number * _FILES_PER_CHUNK, len(files)), len(files))
            yield from entries


def _read_chunk(files: list[_Source]) -> list[tuple[str, str]]:
    # The reader of docstrings cannot mend invalid escapes in other packages.
    with warnings.catch_warnings(action="ignore"):
        return [entry for file in files for entry in _read_file(*file)]


def _read_file(module: tuple[str, ...], path: Path) -> list[tuple[str, str]]:
    try:
        tree = ast.parse(path.read_bytes())
    except _UNREADABLE:
        return []
    named = _list_docstrings(tree, module)
    return [(name, text) for name, text in named if len(_WORD.findall(_PLACEHOLDER.sub(" ", text))) >= _MIN_WORDS]


def _list_docstrings(tree: ast.Module, module: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    name = ".".join(module)
    # A private module often holds the public classes of its package, so only its own docstring is private.
    if not module[-1].startswith("_"):
        yield name, ast.get_docstring(tree) or ""
    yield from _list_members(ast.iter_child_nodes(tree), name)


def _list_members(nodes: Iterable[ast.AST], owner: str) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, _BRANCHES):
            yield from _list_members(ast.iter_child_nodes(node), owner)
        elif isinstance(node, _DEFINITIONS) and not node.name.startswith("_"):
            name = f"{owner}.{node.name}"
            yield name, ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                yield from _list_members(node.body, name)

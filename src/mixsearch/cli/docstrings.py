"""The docstrings of the installed packages as a corpus: to read, to export and to index."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from mixsearch.datasets.docstrings import DEFAULT_PACKAGES, DocstringCorpus, load_docstrings
from mixsearch.errors import Option, SearchError
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.build import build_index

Result = TypeVar("Result")


def read_docstrings(console: Console, packages: Sequence[str] | None) -> DocstringCorpus:
    """Read the docstrings with a progress bar, and print how many there are of each package."""
    columns = (TextColumn("  Reading files"), BarColumn(), MofNCompleteColumn())
    # Without a refresh thread, because the files are read by forked processes.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as progress:
        bar = progress.add_task("", total=None)

        def on_progress(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total, refresh=True)

        corpus, seconds = measure(lambda: load_docstrings(packages, on_progress=on_progress))
    print_line(console, f"Read [bold]{len(corpus):,}[/] docstrings in {seconds:.1f} s")
    print_line(console, f"[dim]{_count_by_package(corpus.names, packages)}[/]", indent=4)
    return corpus


def export_docstrings(console: Console, path: Path, packages: Sequence[str] | None) -> None:
    """Write the docstrings as JSON lines, and print the command that indexes them."""
    try:
        _write_docstrings(console, path, packages)
    except OSError as error:
        raise SearchError(
            "Cannot write '{path}': {reason}. Choose another file with {argument}.",
            code="cannot_write",
            path=str(path),
            reason=error.strerror or str(error),
            argument=Option("export"),
        ) from error
    command = f"{name_program()} index {path} --text text --id name --stop-words en"
    print_line(console, f"Wrote {escape(str(path))}; next: [bold]{escape(command)}[/]")


def index_docstrings(console: Console, folder: Path) -> Path:
    """Index the docstrings in a folder, and return the path of the index."""
    texts = folder / "docstrings.jsonl"
    _write_docstrings(console, texts, None)
    # The defaults of `mixsearch index`.
    reading = CorpusOptions(text="text", id="name", stop_words="en")
    built, seconds = measure(lambda: build_index(texts, folder / "docstrings.index", reading=reading))
    print_line(console, f"Indexed [bold]{built.n_words:,}[/] words in {seconds:.1f} s")
    return built.path


def name_program() -> str:
    """Return the name of this program, or its path if the shell would not find it."""
    if shutil.which("mixsearch"):
        return "mixsearch"
    return f"{sys.executable} -m mixsearch" if sys.argv[0].endswith("__main__.py") else sys.argv[0]


def measure(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of a call and the seconds it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def print_line(console: Console, line: str, indent: int = 2) -> None:
    """Print a line that stays indented if it is wrapped."""
    console.print(Padding(line, (0, 0, 0, indent), expand=False))


def _write_docstrings(console: Console, path: Path, packages: Sequence[str] | None) -> None:
    corpus = read_docstrings(console, packages)
    with path.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"name": name, "text": text}) + "\n"
            for name, text in zip(corpus.names, corpus.texts, strict=True)
        )


def _count_by_package(names: Iterable[str], packages: Sequence[str] | None) -> str:
    known = DEFAULT_PACKAGES if packages is None else packages
    tops = (name.partition(".")[0] for name in names)
    counts = Counter(top if top in known else "standard library" for top in tops)
    return ", ".join(f"{package} {count:,}" for package, count in counts.most_common())

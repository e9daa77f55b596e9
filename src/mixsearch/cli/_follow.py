"""Watch a folder, and add what appears in it to an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import sleep

from mixsearch.cli._console import describe, print_error, stderr_console
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.index import Added, add_documents, open_index
from mixsearch.text import CorpusOptions

# Path, size and time of each file: a file that is still being written changes.
_Files = dict[Path, tuple[int, int]]


def follow(
    index: Path,
    source: Sequence[str],
    reading: CorpusOptions | None,
    interval: float,
    on_added: Callable[[Added], None],
) -> None:
    """Add new files of a folder to an index until the process is stopped.

    Documents with ids, such as text files, are added if the index does not have them. Without ids, files that are
    there at the start count as known.
    """
    folder = Path(source[0])
    if len(source) != 1 or not folder.is_dir():
        raise ArgumentError("{argument} needs one folder as SOURCE.", code="no_folder", argument=Option("follow"))
    has_names = open_index(index).has_names
    known = {} if has_names else _list_files(folder)
    last = _list_files(folder)
    stderr_console().print(f"Watching {folder}. Stop with Ctrl-C.")
    while True:
        files = _list_files(folder)
        # Twice the same: nobody is writing to it any more.
        complete = [path for path, state in files.items() if last.get(path) == state and known.get(path) != state]
        if complete:
            try:
                on_added(
                    add_documents(index, folder if has_names else list(map(str, complete)), reading, existing="skip")
                )
            except SearchError as error:
                print_error(describe(error))
            known |= {path: files[path] for path in complete}
        last = files
        sleep(interval)


def _list_files(folder: Path) -> _Files:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            stat = path.stat()
            found[path] = (stat.st_size, stat.st_mtime_ns)
    return found

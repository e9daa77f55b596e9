"""What to do about a path that is not an index: make one of the file, or open one with a similar name."""

from __future__ import annotations

import shlex
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from mixsearch.errors import SearchError, StorageError

# Indexes with a similar name that an error lists.
_MAX_LISTED = 3


def add_next_step(error: SearchError) -> SearchError:
    """Return an error about the path of an index with the next step, if there is one; any other as it is."""
    if error.code == "not_a_folder":
        path = Path(str(error.fields["path"]))
        if _has_documents(path):
            command = f"mixsearch index {shlex.quote(str(path))}"
            return error.append("To make an index of the file: {command}", command=command)
    if error.code in ("folder_missing", "folder_empty"):
        nearest = _find_nearest(Path(str(error.fields["path"])))
        if nearest:
            return error.append("Did you mean {nearest}?", nearest=" or ".join(f"'{each}'" for each in nearest))
    return error


def _has_documents(path: Path) -> bool:
    """Return whether a file holds rows or texts, by its first bytes and its name."""
    from mixsearch.data.files.detection import detect_format  # other commands need not wait for it

    with suppress(SearchError, OSError):
        detect_format(path)
        return path.stat().st_size > 0
    return False


def _find_nearest(path: Path) -> list[Path]:
    """Return the indexes next to a path, those with the most similar names first."""
    from mixsearch.storage import MANIFEST_NAME

    try:
        found = [each for each in path.parent.iterdir() if each != path and (each / MANIFEST_NAME).exists()]
    except OSError:
        return []
    found.sort(key=lambda each: (-SequenceMatcher(None, path.name, each.name).ratio(), each.name))
    return list(islice(filter(_is_index, found), _MAX_LISTED))


def _is_index(folder: Path) -> bool:
    from mixsearch.topics import open_search

    with suppress(StorageError):
        open_search(folder)
        return True
    return False

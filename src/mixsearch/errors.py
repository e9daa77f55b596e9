"""What can go wrong in a search, one class per cause, and how the user is warned."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_HEARD: ContextVar[list[Warning] | None] = ContextVar("heard", default=None)


class SearchError(ValueError):
    """Data or a hint from which no component can be found. Every other error here is one of these."""


class HintError(SearchError):
    """A hint that cannot be used: zero, of the wrong length, given twice or not at all."""


class UnknownWordError(HintError):
    """A `word` of the hint is not in the vocabulary; `suggestions` are words that are spelt alike."""

    def __init__(self, message: str, word: str | None = None, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.word = word
        self.suggestions = tuple(suggestions)


class RankError(SearchError):
    """The data show fewer directions than the components asked for need."""


class NoMassError(SearchError):
    """The component found has weight zero, so its center cannot be told."""


class ClusterError(SearchError):
    """A Dask cluster that cannot do the work: out of reach, without workers, or of another version."""


class StorageError(SearchError):
    """A folder on disk that cannot be written or read. Every error of `mixsearch.storage` is one of these."""


class DiskError(StorageError):
    """The operating system refused: the disk is full, the folder is not ours to write, the device fails."""


class MissingFolderError(StorageError):
    """Nothing is stored at the path."""


class UnfinishedFolderError(StorageError):
    """A first write was begun at the path and has not finished."""


class ForeignFolderError(StorageError):
    """What is at the path was not written by this package, or is of another kind."""


class DamagedFolderError(StorageError):
    """A stored file is missing, cut short or changed."""


class NewerFolderError(StorageError):
    """The folder was written in a format that this version does not know yet."""


class FolderExistsError(StorageError):
    """Writing would replace what is stored, which nobody asked for."""


class BusyFolderError(StorageError):
    """Another writer holds the folder."""


class SkippedWordsWarning(UserWarning):
    """Some words of the hint are not in the vocabulary, and the search went on with the others.

    `suggestions` has each of them, with the words that are spelt alike.
    """

    def __init__(self, message: str, suggestions: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.suggestions = dict(suggestions or {})


class WeakHintWarning(UserWarning):
    """The hint does not single out one component: the runner-up answers it about as well."""


class FewerComponentsWarning(UserWarning):
    """The data support fewer components than were asked for, and the fit went on with those."""


class DroppedDocumentsWarning(UserWarning):
    """Some documents were too short to enter the moments."""


class HintIgnoredWarning(UserWarning):
    """Labels were given to `fit`, but none of them marks a known member."""


class UnlikelyMixtureWarning(UserWarning):
    """The moments of the samples do not fit a mixture of so many components."""


class NotRefinedWarning(UserWarning):
    """Likelihood steps led away from the component found, and the moment estimate stands."""


class SharedComponentWarning(UserWarning):
    """Hints that should mean different components mean the same one."""


@contextmanager
def warnings_heard() -> Iterator[list[Warning]]:
    """Collect what the package warns of in this thread.

    Python's own way to catch warnings is of the whole process: two threads would restore each other's.
    """
    heard: list[Warning] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn whoever listens in this thread; else at the line that called the package, however deep the cause was."""
    heard = _HEARD.get()
    if heard is not None:
        heard.append(message if isinstance(message, Warning) else category(message))
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mixsearch":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

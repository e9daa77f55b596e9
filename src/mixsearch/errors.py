"""Errors and warnings of the package: each has a code and its facts as fields, and its sentence is made from them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

_COLLECTED: ContextVar[list[SearchWarning] | None] = ContextVar("collected", default=None)


class Option(str):
    """The name of an argument as Python spells it, alone or with a value: "narrower", "narrower=1".

    The command line may spell it otherwise.
    """

    __slots__ = ()


class Coded(Exception):
    """Base of errors and warnings: a code for programs, fields with the facts, a sentence for people."""

    code = "error"
    sentence = ""  # of an error that always says the same

    def __init__(self, sentence: str = "", /, *, code: str | None = None, **fields: Any) -> None:
        self._template = sentence or self.sentence
        self.fields = fields
        if code is not None:
            self.code = code
        super().__init__(self.describe())

    def describe(self, spell: Callable[[str], str] = str) -> str:
        """Return the sentence, with the names of arguments as an interface spells them.

        Parameters
        ----------
        spell : callable
            From the name of an argument in Python to its name elsewhere.

        Returns
        -------
        str
        """
        if not self.fields:
            return self._template
        spelt = {name: spell(fact) if isinstance(fact, Option) else fact for name, fact in self.fields.items()}
        return self._template.format(**spelt)

    def append(self, sentence: str, /, **fields: Any) -> Self:
        """Return the same error or warning with another sentence at its end.

        Parameters
        ----------
        sentence : str
            A template of `str.format` over the fields.
        **fields
            More facts.

        Returns
        -------
        Coded
            A new object of the same class, with the same code.
        """
        template = self._template if self.fields else self._template.replace("{", "{{").replace("}", "}}")
        return type(self)(f"{template} {sentence}", code=self.code, **self.fields, **fields)

    def as_dict(self) -> dict[str, Any]:
        """Return `code`, `message` and `fields`, ready for JSON.

        Returns
        -------
        dict
            Fields hold only str, int, float, bool, None, lists and dicts. A number that is not finite becomes None.

        Examples
        --------
        >>> SearchError("{n} rows, but {needed} needed.", code="too_few_rows", n=2, needed=3).as_dict()
        {'code': 'too_few_rows', 'message': '2 rows, but 3 needed.', 'fields': {'n': 2, 'needed': 3}}
        """
        return {"code": self.code, "message": str(self), "fields": _make_plain(self.fields)}


def _make_plain(value: Any) -> Any:
    """Return a value as JSON can hold it; one of another kind as its text."""
    if isinstance(value, Mapping):
        return {str(key): _make_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_make_plain(each) for each in value]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays, without importing it
        return _make_plain(value.tolist())
    return str(value)


class SearchError(Coded, ValueError):
    """Data or a hint from which no component can be found. Every other error here is one of these."""

    code = "cannot_search"


class ArgumentError(SearchError):
    """An argument has a value that is not allowed."""

    code = "bad_argument"


class AuditError(SearchError):
    """Judgements from which nothing can be estimated: of unknown rows, contradictory, or none."""

    code = "bad_judgement"


class BinaryFileError(SearchError):
    """A file is binary, and not in a format with texts or tables that can be read."""

    code = "binary_file"


class HintError(SearchError):
    """A hint cannot be used: it is zero, has the wrong length, or was given twice or not at all."""

    code = "bad_hint"


class UnknownWordError(HintError):
    """A word of the hint is not in the vocabulary."""

    code = "unknown_word"

    @property
    def word(self) -> str | None:
        """The word, if one word is the cause."""
        return self.fields.get("word")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Words of the vocabulary with a similar spelling."""
        return tuple(self.fields.get("suggestions", ()))


class RankError(SearchError):
    """The data show fewer directions than the requested components need."""

    code = "rank_too_low"


class NoMassError(SearchError):
    """The component found has weight zero, so its center is undetermined."""

    code = "no_mass"


class ClusterError(SearchError):
    """A Dask cluster is out of reach, has no workers, or runs another version."""

    code = "cluster_failed"


class StorageError(SearchError):
    """A folder on disk cannot be written or read. Every error of `mixsearch.io.folder` is one of these."""

    code = "broken_index"


class DiskError(StorageError):
    """The operating system refused: the disk is full, the folder is not writable, or the device fails."""

    code = "disk_failed"


class MissingFolderError(StorageError):
    """Nothing is stored at the path."""

    code = "folder_missing"
    sentence = "Nothing is stored in '{path}'. Check the path."


class ForeignFolderError(StorageError):
    """The folder was not written by this package, or contains another kind of data."""

    code = "folder_foreign"
    sentence = "'{path}' holds something that mixsearch did not write. Check the path."


class DamagedFolderError(StorageError):
    """A stored file is missing, truncated or changed."""

    code = "folder_damaged"


class OlderFolderError(StorageError):
    """The folder was written in a format older than this version reads."""

    code = "folder_older"
    sentence = "'{path}' was written by mixsearch {written_by}, an earlier version. Build the index again."


class NewerFolderError(StorageError):
    """The folder was written in a format newer than this version reads."""

    code = "folder_newer"
    sentence = (
        "'{path}' was written by mixsearch {written_by}, a later version. Upgrade mixsearch, or build the index again."
    )


class FolderExistsError(StorageError):
    """Writing would replace a stored folder, and `overwrite` was not given."""

    code = "folder_exists"
    sentence = "'{path}' already holds an index. Choose another folder, or set {option} to replace it."


class BusyFolderError(StorageError):
    """Another process is writing to the folder."""

    code = "folder_busy"
    sentence = "Another process is writing to '{path}'. Wait for it, or choose another folder."


class SearchWarning(Coded, UserWarning):
    """Something about the data, the hint or the answer that the user should know. Every warning is one of these."""

    code = "note"


class WeakHintWarning(SearchWarning):
    """The hint does not single out one component: the runner-up fits it about as well."""

    code = "weak_hint"


class DoubtfulExamplesWarning(SearchWarning):
    """Some examples do not look like members of the component found."""

    code = "examples_disagree"


class OutliersWarning(SearchWarning):
    """Some samples lie far from all others, and were left out of the fit."""

    code = "outliers"


class GraphWarning(SearchWarning):
    """Some links of a graph were left out or changed: self-loops, repeated ones, those of one direction."""

    code = "graph_changed"


class TextAmongNumbersWarning(SearchWarning):
    """A column of text is read as numbers; some of its values are none, and count as missing."""

    code = "text_among_numbers"


class RepeatedIdsWarning(SearchWarning):
    """Some ids name several rows or documents, and stand for all of them."""

    code = "repeated_ids"


class DroppedDocumentsWarning(SearchWarning):
    """Some documents were too short to enter the moments."""

    code = "dropped_documents"


class UnlikelyMixtureWarning(SearchWarning):
    """The moments of the samples do not fit a mixture with this number of components."""

    code = "unlikely_mixture"


class SharedComponentWarning(SearchWarning):
    """Hints for different components found the same one."""

    code = "shared_component"


@contextmanager
def collect_warnings() -> Iterator[list[SearchWarning]]:
    """Collect the warnings that the package issues in this thread.

    `warnings.catch_warnings` acts on the whole process: two threads would restore each other's filters.
    """
    collected: list[SearchWarning] = []
    token = _COLLECTED.set(collected)
    try:
        yield collected
    finally:
        _COLLECTED.reset(token)


def warn_user(warning: SearchWarning) -> None:
    """Issue a warning: to `collect_warnings` if active in this thread, else at the line that called the package."""
    collected = _COLLECTED.get()
    if collected is not None:
        collected.append(warning)
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mixsearch":
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)

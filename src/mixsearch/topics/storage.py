"""A fitted corpus in a folder: written in segments of documents, opened without reading what is not needed.

The files: `frame/` has the arrays of the frame, `words` the words by column, and each segment `by_document/` and
`by_word/` (sparse counts), `placed/` (documents in the frame) and `rows` and `copies` of its documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import even_slices
from mixsearch.errors import SearchError
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.io.parquet import TEXT
from mixsearch.topics.fitted_corpus import FittedCorpus, Placed, Segment, TopicFrame

WORDS, SEGMENTS, GROWTH = "words", "segments", "growth"
BY_DOCUMENT, BY_WORD = "by_document", "by_word"
# Counts and their places are numbered by 32 bits.
MAX_NONZEROS = 2**31 - 1
# Counts that are moved from rows to columns together.
BLOCK_NONZEROS = 4_000_000
# Indices of up to this many counts are compared with their bounds at once; those of more before the first search.
MAX_CHECKED = 1 << 20
# Refit from here on: half as many changed documents as were fitted, or one word in twenty more than expected that the
# index does not know.
MAX_CHANGED, MAX_NEW_WORDS = 0.5, 0.05


# ---- Writing --------------------------------------------------------------------------------------------------------


def name_segment(number: int) -> str:
    """Return the group of files of a segment."""
    return f"segment_{number}"


def write_frame(out: FolderWriter, frame: TopicFrame) -> None:
    """Write what a fit knows of all documents together."""
    for field in fields(frame):
        out.save(f"frame/{field.name}", getattr(frame, field.name))


def write_segment(out: FolderWriter, name: str, segment: Segment) -> None:
    """Write documents that are in memory."""
    CountWriter(out, f"{name}/{BY_DOCUMENT}").append(segment.by_document)
    CountWriter(out, f"{name}/{BY_WORD}").append(segment.by_word)
    for array, values in segment.placed._asdict().items():
        out.save(f"{name}/placed/{array}", values)
    write_rows(out, name, segment.rows, segment.copy_of)


def write_rows(out: FolderWriter, name: str, rows: Array, copy_of: Array) -> None:
    """Write the rows of documents in the input, and which of them nearly repeat others."""
    out.save(f"{name}/rows", np.asarray(rows, dtype=np.int64))
    out.save(f"{name}/copies", np.asarray(copy_of, dtype=np.int32))


class CountWriter:
    """Writes sparse rows or columns, piece by piece."""

    def __init__(self, out: FolderWriter, group: str) -> None:
        self._out, self._group, self.n_nonzeros = out, group, 0
        for name, values in (("data", np.zeros(0, np.float32)), ("indices", np.zeros(0, np.int32))):
            out.save(f"{group}/{name}", values)
        out.save(f"{group}/indptr", np.zeros(1, np.int32))

    def append(self, counts: sp.csr_array | sp.csc_array) -> None:
        """Add rows of a csr_array, or columns of a csc_array."""
        if self.n_nonzeros + counts.nnz > MAX_NONZEROS:
            raise SearchError(
                "The documents have more than {maximum:,} non-zero counts, the most that one segment of an index can "
                "hold. Index some of them, and add the others in several steps.",
                code="too_many_counts",
                maximum=MAX_NONZEROS,
            )
        self._out.save(f"{self._group}/data", counts.data.astype(np.float32, copy=False))
        self._out.save(f"{self._group}/indices", counts.indices.astype(np.int32, copy=False))
        self._out.save(f"{self._group}/indptr", (self.n_nonzeros + counts.indptr[1:]).astype(np.int32))
        self.n_nonzeros += counts.nnz

    def open(self, shape: tuple[int, int]) -> sp.csr_array:
        """Map the rows that were written."""
        counts: sp.csr_array = _open_sparse(sp.csr_array, lambda name: self._out.read(f"{self._group}/{name}"), shape)
        return counts


def write_by_word(out: FolderWriter, name: str, parts: Sequence[sp.csr_array]) -> None:
    """Write counts by document, whose columns follow each other in several parts, word by word."""
    writer = CountWriter(out, f"{name}/{BY_WORD}")
    for counts in parts:
        for columns in even_slices(counts.shape[1], 1 + counts.nnz // BLOCK_NONZEROS):
            writer.append(sp.csc_array(counts[:, columns]))


# ---- Opening --------------------------------------------------------------------------------------------------------


def open_corpus(folder: Folder) -> FittedCorpus:
    """Open a fitted corpus: its arrays are mapped, and read when they are used."""
    try:
        names: list[str] = list(folder.facts[SEGMENTS])
        frame = TopicFrame(**{field.name: folder[f"frame/{field.name}"] for field in fields(TopicFrame)})
        _check_shapes(folder, names)
        segments = [_open_segment(folder, name) for name in names]
        texts = folder.texts(WORDS)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise damage_error(
            "'{path}' is damaged: its arrays do not fit together ({error}).", path=str(folder.path), error=repr(error)
        ) from error
    corpus = FittedCorpus(lambda: texts.collect((TEXT,))[TEXT].head(corpus.n_words).to_list(), frame, segments)
    if sum(segment.by_word.nnz for segment in segments) <= MAX_CHECKED:
        check_indices(folder, corpus)
    if len(texts) < corpus.n_words:
        raise damage_error(
            "'{path}' is damaged: it has {n_found:,} words for {n_words:,} columns.",
            path=str(folder.path),
            n_found=len(texts),
            n_words=corpus.n_words,
        )
    return corpus


def check_indices(folder: Folder, corpus: FittedCorpus) -> None:
    """Raise unless all indices and coordinates are within bounds: compiled code trusts them."""
    for segment in corpus.segments:
        n, d = segment.by_document.shape
        nearest, a = np.asarray(segment.placed.nearest), len(corpus.frame.anchors)
        for indices, n_columns in ((segment.by_document.indices, d), (segment.by_word.indices, n), (nearest, a)):
            if indices.size and indices.view(np.uint32).max() >= n_columns:  # a negative one is large without its sign
                raise damage_error("'{path}' is damaged: an index is out of range.", path=str(folder.path))
        units = segment.placed.coordinates
        if units.size and not -1.01 <= units.min() <= units.max() <= 1.01:  # nor if one is not a number
            raise damage_error("'{path}' is damaged: its coordinates are not of length 1.", path=str(folder.path))


def _open_segment(folder: Folder, name: str) -> Segment:
    n, d = len(folder[f"{name}/rows"]), len(folder["frame/idf"])
    n_words = len(folder[f"{name}/{BY_WORD}/indptr"]) - 1
    return Segment(
        by_document=_open_sparse(sp.csr_array, lambda part: folder[f"{name}/{BY_DOCUMENT}/{part}"], (n, d)),
        by_word=_open_sparse(sp.csc_array, lambda part: folder[f"{name}/{BY_WORD}/{part}"], (n, n_words)),
        placed=Placed(*(folder[f"{name}/placed/{array}"] for array in Placed._fields)),
        copy_of=folder[f"{name}/copies"],
        rows=folder[f"{name}/rows"],
    )


def _open_sparse(kind: Any, read: Callable[[str], Array], shape: tuple[int, int]) -> Any:
    """Return mapped counts. SciPy reads nothing of them: pointers and indices have one type."""
    counts = kind((read("data"), read("indices"), read("indptr")), shape=shape, copy=False)
    counts.has_sorted_indices = counts.has_canonical_format = True
    return counts


def _check_shapes(folder: Folder, names: Sequence[str]) -> None:
    """Raise unless shapes and types agree and pointers rise: compiled code trusts them."""
    for name, shape, kind in _list_shapes(folder, names):
        array = folder[name]
        if array.shape != shape or array.dtype.kind != kind:
            raise ValueError(f"{name} holds {array.dtype} of the shape {array.shape}, not {shape}")
    for name in names:
        for group in (BY_DOCUMENT, BY_WORD):
            starts = folder[f"{name}/{group}/indptr"]
            if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
                raise ValueError(f"the pointers of {name}/{group} do not rise")


def _list_shapes(folder: Folder, names: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Yield all arrays with their shapes and kinds of values."""
    d, k = folder["frame/basis"].shape
    a = len(folder["frame/anchors"])
    shapes: dict[str, tuple[int, ...]] = {
        "basis": (d, k),
        "values": (k,),
        "center": (k,),
        "broad_center": (min(len(folder["frame/broad_center"]), k),),
        "anchors": (a, k),
        "reach": (a, a),
    }
    yield from ((f"frame/{field.name}", shapes.get(field.name, (d,)), "f") for field in fields(TopicFrame))
    for name in names:
        n, m = folder[f"{name}/placed/nearest"].shape
        yield from ((f"{name}/rows", (n,), "i"), (f"{name}/copies", (n,), "i"))
        yield from ((f"{name}/placed/{each}", (n,), "f") for each in ("lengths", "norms", "broad_norms"))
        yield from ((f"{name}/placed/coordinates", (n, k), "f"), (f"{name}/placed/nearness", (n, m), "f"))
        yield f"{name}/placed/nearest", (n, m), "i"
        for group, length in ((BY_DOCUMENT, n), (BY_WORD, len(folder[f"{name}/{BY_WORD}/indptr"]) - 1)):
            n_nonzeros = int(folder[f"{name}/{group}/indptr"][-1])
            yield f"{name}/{group}/indptr", (length + 1,), "i"
            yield f"{name}/{group}/indices", (n_nonzeros,), "i"
            yield f"{name}/{group}/data", (n_nonzeros,), "f"


# ---- Changing -------------------------------------------------------------------------------------------------------


def take_documents(segment: Segment, is_left: Array) -> Segment:
    """Return the documents of a segment that a mask marks, (n,)."""
    rows = np.flatnonzero(is_left)
    X = segment.by_word
    inside = is_left[X.indices]
    starts = np.concatenate([[0], np.cumsum(inside, dtype=np.int32)])[X.indptr]
    indices = (np.cumsum(is_left, dtype=np.int32) - 1)[X.indices[inside]]
    # Of near copies, the first one that is left is what the others repeat.
    _, firsts, numbers = np.unique(segment.copy_of[rows], return_index=True, return_inverse=True)
    return Segment(
        by_document=segment.by_document[rows],
        by_word=sp.csc_array((X.data[inside], indices, starts), shape=(len(rows), X.shape[1])),
        placed=Placed(*(values[rows] for values in segment.placed)),
        copy_of=firsts[numbers].astype(np.int32),
        rows=segment.rows[rows],
    )


def join_segments(segments: Sequence[Segment]) -> Segment:
    """Return the documents of several segments as one."""
    n_words = max(segment.by_word.shape[1] for segment in segments)
    firsts = np.cumsum([0, *(len(segment.rows) for segment in segments)])
    copies = [segment.copy_of + np.int32(first) for segment, first in zip(segments, firsts, strict=False)]
    return Segment(
        by_document=sp.csr_array(sp.vstack([segment.by_document for segment in segments], "csr")),
        by_word=sp.csc_array(sp.vstack([_widen(segment.by_word, n_words) for segment in segments], "csc")),
        placed=Placed(*map(np.concatenate, zip(*(segment.placed for segment in segments), strict=True))),
        copy_of=np.concatenate(copies),
        rows=np.concatenate([segment.rows for segment in segments]),
    )


def _widen(counts: sp.csc_array, n_words: int) -> sp.csc_array:
    """Return counts with empty columns for further words."""
    starts = np.append(counts.indptr, np.full(n_words - counts.shape[1], counts.indptr[-1]))
    return sp.csc_array((counts.data, counts.indices, starts), shape=(counts.shape[0], n_words))


@dataclass(frozen=True)
class Growth:
    """Changes of an index since it was fitted.

    Parameters
    ----------
    n_fitted : int
        The number of documents of the fit.
    n_added, n_removed : int
        The number of documents that were added and removed since.
    new_words, expected_new : float
        The share of words of the added texts that the index did not know, and that in documents like those of the fit.
    """

    n_fitted: int
    n_added: int = 0
    n_removed: int = 0
    new_words: float = 0.0
    expected_new: float = 0.0

    @property
    def reason(self) -> Literal["new_words", "changed"] | None:
        """The reason to fit the index again; None if there is no need."""
        if self.new_words - self.expected_new > MAX_NEW_WORDS:
            return "new_words"
        return "changed" if self.n_added + self.n_removed > MAX_CHANGED * max(self.n_fitted, 1) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields and `reason`, for JSON.

        Returns
        -------
        dict
        """
        return {**asdict(self), "reason": self.reason}


def read_growth(folder: Folder) -> Growth:
    """Read how an index has changed."""
    try:
        growth = Growth(**folder.facts[GROWTH])
        _ = growth.reason  # its fields are numbers
    except (KeyError, TypeError) as error:
        raise damage_error("'{path}' is damaged: its growth is unknown.", path=str(folder.path)) from error
    return growth

"""Segments of a stored corpus: documents that were written together. The first ones are those of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks, Layout
from mixsearch.io.folder import Folder, FolderWriter
from mixsearch.topics.documents import PlacedChunk

# Paths of the sparse counts, by document and by word.
BY_DOCUMENT, BY_WORD = "documents/counts", "words/counts"
_SPARSE_PARTS = ("data", "indices", "indptr")
# Names of files. Fields of `PlacedChunk` have the same names.
DOCUMENTS = ("lengths", "pair_weights", "triple_weights", "tfidf_lengths", "rows")
# Non-zero counts of a segment at most: SciPy widens the indices of more to 64 bits, in a copy of all of them.
MAX_NONZEROS = 2**31 - 1
_FACT = "segments"
# Names of the segments of a fit after the first, which has none. Those of added documents are others.
_FITTED = "fit_"


def place_in(segment: str, name: str) -> str:
    """Return the name of an array of a segment, or of a group of them."""
    return f"{segment}/{name}" if segment else name


def name_fitted(index: int) -> str:
    """Return the name of a segment of a fit."""
    return f"{_FITTED}{index}" if index else ""


def fits_segment(n_nonzeros: int) -> bool:
    """Return whether a segment can hold this many non-zero counts."""
    return n_nonzeros <= MAX_NONZEROS


class SegmentLimits(NamedTuple):
    """The sizes of segments: a number of non-zero counts at which to start another one, and the maximum."""

    enough: int
    maximum: int


def limit_segments(n_nonzeros: int) -> SegmentLimits:
    """Return how many non-zero counts the segments of a corpus have. If there are several, they are equally large."""
    n_segments = -(-n_nonzeros // MAX_NONZEROS)
    return SegmentLimits(-(-n_nonzeros // n_segments) if n_segments > 1 else MAX_NONZEROS, MAX_NONZEROS)


class Segment(NamedTuple):
    """Documents of a corpus that were written together."""

    name: str
    n_documents: int
    mass: float
    first: int = 0

    def place(self, name: str) -> str:
        """Return the name of an array of this segment, or of a group of them."""
        return place_in(self.name, name)

    @property
    def is_fitted(self) -> bool:
        """Whether its documents are those of the fit, not added later."""
        return not self.name or self.name.startswith(_FITTED)


def read_segments(folder: Folder) -> list[Segment]:
    """Return the segments of a folder, in the order of their documents."""
    stored = folder.facts.get(_FACT) or [("", len(folder["documents/lengths"]), 1.0)]
    firsts = accumulate((n_documents for _, n_documents, _ in stored), initial=0)
    return [Segment(name, n, mass, first) for (name, n, mass), first in zip(stored, firsts, strict=False)]


def write_segments(out: FolderWriter, segments: Sequence[Segment]) -> None:
    """Write which segments a folder has."""
    out.facts[_FACT] = [(segment.name, segment.n_documents, segment.mass) for segment in segments]


def open_counts(folder: Folder, segment: Segment, n_words: int) -> tuple[sp.csr_array, sp.csc_array]:
    """Return the counts of a segment by document and by word, mapped from the files."""
    shape = (segment.n_documents, n_words)
    by_document, by_word = (
        sparse_from(kind, [folder[segment.place(f"{group}/{part}")] for part in _SPARSE_PARTS], shape)
        for group, kind in ((BY_DOCUMENT, sp.csr_array), (BY_WORD, sp.csc_array))
    )
    return by_document, by_word


def open_segment(folder: Folder, segment: Segment, n_words: int) -> PlacedChunk:
    """Return the documents of a segment, mapped from the files, with weights that sum to one."""
    by_document, by_word = open_counts(folder, segment, n_words)
    arrays: dict[str, Any] = {name: folder[segment.place(f"documents/{name}")] for name in ("projected", *DOCUMENTS)}
    return PlacedChunk(segment.first, by_document=by_document, by_word=by_word, **arrays)


def join_segments(segments: Sequence[Segment], chunks: Sequence[PlacedChunk]) -> Chunks[PlacedChunk]:
    """Return all documents of a corpus, with weights that sum to one."""
    n, d = sum(segment.n_documents for segment in segments), chunks[0].by_document.shape[1]
    layout = Layout(n, d, chunks[0].by_document.dtype, is_sparse=True)
    if len(chunks) == 1:
        return Chunks(layout, (chunks[0],))
    total = sum(segment.mass for segment in segments)
    shares = [segment.mass / total for segment in segments]
    scaled = (each.scale_weights(share) for each, share in zip(chunks, shares, strict=True))
    return Chunks(layout, tuple(scaled))


def store_chunk(out: FolderWriter, documents: PlacedChunk, segment: str = "") -> None:
    """Write documents that are in memory as a segment."""
    for group, counts in ((BY_DOCUMENT, documents.by_document), (BY_WORD, documents.by_word)):
        # Columns and rows fit 32 bits, whatever joining segments has made of them.
        parts = {"data": counts.data, "indices": counts.indices.astype(np.int32, copy=False), "indptr": counts.indptr}
        for part, values in parts.items():
            out.save(place_in(segment, f"{group}/{part}"), values)
    out.save(place_in(segment, "documents/projected"), documents.projected)
    store_arrays(out, documents, segment)


def store_arrays(out: FolderWriter, documents: PlacedChunk, segment: str = "") -> None:
    """Write the lengths, weights and rows of documents."""
    for name in DOCUMENTS:
        out.save(place_in(segment, f"documents/{name}"), getattr(documents, name))


def sparse_from(kind: Any, parts: list[Array], shape: tuple[int, int]) -> Any:
    """Return a sparse array over parts that are known to be sorted, so that nothing is read to check them."""
    data, indices, starts = parts
    if int(starts[-1]) <= np.iinfo(indices.dtype).max:
        # SciPy widens the narrower of the two, and would read and copy all indices.
        starts = starts.astype(indices.dtype, copy=False)
    counts = kind((data, indices, starts), shape=shape, copy=False)
    counts.has_sorted_indices = counts.has_canonical_format = True
    return counts


def count_by_word(chunks: Sequence[PlacedChunk]) -> Array:
    """Return the number of documents that contain each word, (d,)."""
    return np.asarray(np.sum([np.diff(each.by_word.indptr) for each in chunks], axis=0, dtype=np.int64))

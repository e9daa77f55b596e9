"""A fitted corpus: documents as unit tf-idf vectors, and their coordinates in the frame of the second moment.

The second moment is the paper's A (section 3.2): the mean over documents of xx', for pairs of different words only. Its
eigenvectors are the frame; each document has coordinates in it, and a few anchor documents that it is nearest to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.moments import multiply_gram, rescale, symmetric_operator
from mixsearch.core.rows import CACHED_ROWS, row_slices, split_rows, sum_chunks
from mixsearch.core.validation import as_search_errors
from mixsearch.errors import HintError, SearchError
from mixsearch.machine import n_cores, one_blas_thread
from mixsearch.topics.tuning import TUNING

# Eigenvectors whose residual is this part of their eigenvalue rank documents as exact ones do.
_EIGEN_TOL, _BLOCK = 1e-2, 20
_TINY = 1e-12
# Products of three larger counts are beyond the precision of sums.
MAX_COUNT = 2**31 - 1
# Documents that are multiplied together: their coordinates fit into the cache of a core.
CHUNK_DOCUMENTS = 8_192

# From a name, a shape and a type to an array, for instance on disk.
Allocate = Callable[[str, tuple[int, ...], Any], Array]


@dataclass(frozen=True)
class TopicFrame:
    """What a fit knows of all documents together. It stays when documents are added or removed."""

    idf: Array  # of each feature, (d,)
    mean: Array  # of unit tf-idf vectors, (d,)
    deviation: Array  # of unit tf-idf vectors, (d,)
    basis: Array  # eigenvectors V of the second moment, (d, k)
    values: Array  # its eigenvalues, (k,), falling
    center: Array  # mean of coordinates, (k,)
    broad_center: Array  # mean of broad coordinates, (b,)
    anchors: Array  # scaled coordinates of anchors, of length 1, (a, k)
    reach: Array  # PageRank from each anchor at each other one, (a, a)

    @property
    def scale(self) -> Array:
        """Factors of coordinates for broad likeness: powers of the eigenvalues, (k,)."""
        return np.asarray((self.values / self.values[0]) ** TUNING.power, dtype=np.float32)


class Placed(NamedTuple):
    """Documents in a frame."""

    lengths: Array  # Euclidean lengths of tf-idf vectors, (n,); 0 without features
    coordinates: Array  # V'x of tf-idf vectors x, scaled to length 1, (n, k)
    norms: Array  # what V'x of unit tf-idf vectors has for a length, (n,)
    broad_norms: Array  # what the leading coordinates have for a length, after they are scaled, (n,)
    nearest: Array  # anchors of each document, (n, m)
    nearness: Array  # their weights, which sum to one, (n, m)


@dataclass(frozen=True)
class Segment:
    """Documents that were written together."""

    by_document: sp.csr_array  # damped counts of features, (n, d)
    by_word: sp.csc_array  # damped counts of all words, features first, (n, D)
    placed: Placed
    copy_of: Array  # the earliest document of the segment that each one nearly repeats, or itself, (n,)
    rows: Array  # of the input, (n,)


def check_counts(X: Any, min_documents: int = 0) -> sp.csr_array:
    """Check word counts, and store each word of a document once."""
    from sklearn.utils.validation import check_array  # which a search for words need not wait for

    with as_search_errors():
        dtypes = [np.float64, np.float32, np.int32, np.int64]
        checked = check_array(X, accept_sparse="csr", dtype=dtypes, ensure_min_samples=max(min_documents, 1))
    counts = sp.csr_array(checked)
    if counts.nnz < 2**31 and counts.indices.dtype != np.int32:  # half of the bytes that every search reads
        places = (counts.indices.astype(np.int32), counts.indptr.astype(np.int32))
        counts = sp.csr_array((counts.data, *places), shape=counts.shape)
    if not counts.has_canonical_format or np.any(np.abs(counts.data) < _TINY):
        counts = counts.copy()
        counts.sum_duplicates()
        counts.data[np.abs(counts.data) < _TINY] = 0
        counts.eliminate_zeros()
    low, high = counts.data.min(initial=0), counts.data.max(initial=0)
    if low < 0 or high > MAX_COUNT:
        raise SearchError(
            "Negative values in data: word counts must be from 0 to {maximum:,}, got {value:g}."
            if low < 0
            else "Word counts must be from 0 to {maximum:,}, got {value:g}.",
            code="bad_counts",
            maximum=MAX_COUNT,
            value=float(low if low < 0 else high),
        )
    n = int(np.count_nonzero(np.diff(counts.indptr)))
    if n < min_documents:
        raise SearchError("A corpus needs at least 2 documents with words, got {n}.", code="too_few_documents", n=n)
    return counts


def damp_counts(counts: Any) -> sp.csr_array:
    """Return log2(1 + c) of word counts: real text repeats words more often than the model allows."""
    X = sp.csr_array(counts)
    return sp.csr_array((np.log2(1.0 + X.data).astype(np.float32), X.indices, X.indptr), shape=X.shape)


def recover_counts(damped: Any) -> sp.csr_array:
    """Return word counts before they were damped."""
    X = sp.csr_array(damped)
    return sp.csr_array((np.rint(np.exp2(X.data.astype(np.float64)) - 1), X.indices, X.indptr), shape=X.shape)


def fit_corpus(
    counts: sp.csr_array,
    n_components: int = TUNING.n_components,
    *,
    seed: int = 0,
    on_pass: Callable[[int], None] | None = None,
    allocate: Allocate = lambda _, shape, dtype: np.empty(shape, dtype),
) -> tuple[TopicFrame, Placed]:
    """Fit the frame of damped counts of features, and place all documents in it."""
    # 1) unit tf-idf vectors: their mean and deviation
    (n, d), pieces = counts.shape, split_rows(counts)
    frequency = sum_chunks(lambda piece: np.bincount(piece[1].indices, minlength=d), pieces)
    idf = np.log((1 + n) / (1 + frequency)) + 1
    lengths = np.concatenate([_measure(X, idf) for _, X in pieces])
    inverse = _invert(lengths)
    sums = sum_chunks(lambda piece: _sum_squares(piece[1], inverse[piece[0]]), pieces)
    mean, square = idf * sums[0] / n, idf**2 * sums[1] / n
    # 2) eigenvectors of their second moment, over pairs of different words
    products = symmetric_operator(d, np.dtype(np.float32), lambda Q: multiply_gram(pieces, Q, inverse**2 / n))
    second = rescale(products, scale=1.0, metric=idf, diagonal=square, direction=np.zeros(d))
    k = min(n_components, d, max(n - 1, 1))
    with one_blas_thread:
        values, vectors, _ = top_eigenpairs(
            second, k, seed=seed, tol=_EIGEN_TOL, block=_BLOCK, n_threads=n_cores(), on_application=on_pass
        )
    k = max(int(np.count_nonzero(values > _TINY)), 1)
    frame = TopicFrame(
        idf=idf.astype(np.float32),
        mean=mean.astype(np.float32),
        deviation=np.sqrt(np.maximum(square - mean**2, _TINY)).astype(np.float32),
        basis=np.ascontiguousarray(vectors[:, :k], dtype=np.float32),
        values=np.maximum(values[:k], _TINY),
        center=np.zeros(k, np.float32),
        broad_center=np.zeros(min(k, TUNING.n_broad), np.float32),
        anchors=np.zeros((0, k), np.float32),
        reach=np.zeros((0, 0), np.float32),
    )
    # 3) anchors: some documents, for the neighbourhood of all others
    chosen = np.sort(
        np.random.default_rng(seed).permutation(np.flatnonzero(lengths))[: max(min(TUNING.n_anchors, n // 4), 1)]
    )
    anchors = [
        place_documents(frame, X[chosen[(chosen >= rows.start) & (chosen < rows.stop)] - rows.start])
        for rows, X in pieces
    ]
    frame = replace(frame, anchors=to_units(np.concatenate([each.coordinates for each in anchors]) * frame.scale)[0])
    # 4) all documents in the frame, and how the anchors reach each other through documents
    placed = _allocate_placed(frame, n, allocate)
    a, b = len(frame.anchors), len(frame.broad_center)
    center, broad_center, links = np.zeros(k), np.zeros(b), np.zeros((a, a))
    for rows, X in pieces:
        chunk = place_documents(frame, X)
        for array, values in zip(placed, chunk, strict=True):
            array[rows] = values
        center += chunk.coordinates.sum(axis=0)
        broad_center += (_invert(chunk.broad_norms) @ chunk.coordinates[:, :b]) * frame.scale[:b]
        A = join_anchors(chunk.nearest, chunk.nearness, a)
        links += (A.T @ A).toarray()
    centers = {"center": (center / n).astype(np.float32), "broad_center": (broad_center / n).astype(np.float32)}
    return replace(frame, **centers, reach=_compute_reach(links)), placed


def _compute_reach(links: Array) -> Array:
    """Compute PageRank between anchors, whose links are the documents that they share, (a, a) symmetric.

    From the distribution p over anchors it is (1 - s) (I - s P')^(-1) p, with P the links as a walk.
    """
    step = links / np.maximum(links.sum(axis=1, keepdims=True), _TINY)
    stay = TUNING.stay
    return np.asarray((1 - stay) * np.linalg.inv(np.eye(len(links)) - stay * step.T), dtype=np.float32)


def join_anchors(nearest: Array, nearness: Array, n_anchors: int) -> sp.csr_array:
    """Return the weights of anchors in each document as a sparse matrix, (n, a)."""
    n, m = nearest.shape
    starts = np.arange(0, n * m + 1, m, dtype=np.int32 if n * m < 2**31 else np.int64)
    return sp.csr_array((nearness.ravel(), nearest.ravel(), starts), shape=(n, n_anchors))


def place_documents(frame: TopicFrame, counts: sp.csr_array) -> Placed:
    """Place documents of damped counts of features in a frame: row by row, those of the fit and any others."""
    placed = _allocate_placed(frame, counts.shape[0], lambda _, shape, dtype: np.empty(shape, dtype))
    weighted = frame.idf[:, None] * frame.basis
    for rows in row_slices(counts.shape[0]):
        X = counts[rows]
        placed.lengths[rows] = lengths = _measure(X, frame.idf)
        units, placed.norms[rows] = to_units((X @ weighted) * _invert(lengths)[:, None])
        placed.coordinates[rows] = units
        placed.broad_norms[rows] = to_broad(frame, units)[1]
        if len(frame.anchors):
            placed.nearest[rows], placed.nearness[rows] = find_anchors(frame, units)
    return placed


def to_units(vectors: Array) -> tuple[Array, Array]:
    """Scale vectors to length 1; return them, (n, k), and their lengths, (n,). Zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors * _invert(lengths)[:, None], lengths


def to_broad(frame: TopicFrame, units: Array) -> tuple[Array, Array]:
    """Scale the leading coordinates, and to length 1; return them, (n, b), and their lengths before, (n,)."""
    b = len(frame.broad_center)
    return to_units(units[:, :b] * frame.scale[:b])


def find_anchors(frame: TopicFrame, units: Array) -> tuple[Array, Array]:
    """Return the nearest anchors of documents and their weights, by the cosine of scaled coordinates, (n, m)."""
    m = min(TUNING.n_nearest, len(frame.anchors))
    nearest, weights = np.empty((len(units), m), np.int32), np.empty((len(units), m), np.float32)
    for rows in row_slices(len(units), CACHED_ROWS):
        cosines = to_units(units[rows] * frame.scale)[0] @ frame.anchors.T
        nearest[rows] = np.argpartition(cosines, -m, axis=1)[:, -m:]
        weights[rows] = np.maximum(np.take_along_axis(cosines, nearest[rows], axis=1), 1e-6)
    return nearest, weights / weights.sum(axis=1, keepdims=True)


def _measure(counts: sp.csr_array, idf: Array) -> Array:
    """Return the Euclidean lengths of tf-idf vectors, (n,)."""
    squares = sp.csr_array((counts.data**2, counts.indices, counts.indptr), shape=counts.shape)
    return np.asarray(np.sqrt(squares @ (idf**2).astype(np.float32)))


def _invert(lengths: Array) -> Array:
    return np.asarray(1 / np.where(lengths > 0, lengths, np.inf), dtype=np.float32)


def _sum_squares(counts: sp.csr_array, inverse: Array) -> Array:
    """Return the sums of counts over lengths, and of their squares, (2, d)."""
    squares = sp.csr_array((counts.data**2, counts.indices, counts.indptr), shape=counts.shape)
    return np.stack([counts.T @ inverse, squares.T @ inverse**2]).astype(np.float64)


def _allocate_placed(frame: TopicFrame, n: int, allocate: Allocate) -> Placed:
    m = min(TUNING.n_nearest, len(frame.anchors))
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "lengths": ((n,), np.float32),
        "coordinates": ((n, len(frame.values)), np.float32),
        "norms": ((n,), np.float32),
        "broad_norms": ((n,), np.float32),
        "nearest": ((n, m), np.int32),
        "nearness": ((n, m), np.float32),
    }
    return Placed(**{name: allocate(name, *each) for name, each in shapes.items()})


class Vectors(NamedTuple):
    """Documents as unit vectors."""

    tfidf: sp.csr_array  # (q, d)
    coordinates: Array  # in the frame, scaled to length 1, (q, k)
    norms: Array  # their lengths before, (q,)
    broad: Array  # the leading coordinates, scaled and of length 1, (q, b)
    anchors: sp.csr_array  # the weights of the nearest anchors, (q, a)


class FittedCorpus:
    """The words and documents of a corpus, and the frame that was fitted to them.

    Parameters
    ----------
    words : sequence of str, or callable, optional
        The words of the columns, features first; or what reads them.
    frame : TopicFrame
        The frame.
    segments : sequence of Segment
        The documents of the fit, then those added.
    """

    def __init__(
        self, words: Sequence[str] | Callable[[], Sequence[str]] | None, frame: TopicFrame, segments: Sequence[Segment]
    ) -> None:
        self._words, self.frame, self.segments = words, frame, tuple(segments)
        ends = np.cumsum([each.by_document.shape[0] for each in self.segments])
        self._slices = [
            slice(int(end) - each.by_document.shape[0], int(end)) for end, each in zip(ends, self.segments, strict=True)
        ]
        self.n_documents = int(ends[-1])
        self.n_features = len(frame.idf)
        self.n_words = max(each.by_word.shape[1] for each in self.segments)

    @classmethod
    def fit(
        cls,
        counts: Any,
        words: Sequence[str] | None = None,
        *,
        n_components: int = TUNING.n_components,
        n_features: int | None = None,
        copy_of: Array | None = None,
        seed: int = 0,
    ) -> FittedCorpus:
        """Fit a corpus to the counts of all words in memory, of which the first `n_features` are features."""
        damped = damp_counts(counts)
        n, d = damped.shape
        features = damped if n_features in (None, d) else sp.csr_array(damped[:, :n_features])
        frame, placed = fit_corpus(features, n_components, seed=seed)
        every = np.arange(n)
        segment = Segment(features, sp.csc_array(damped), placed, every if copy_of is None else copy_of, every)
        return cls(words, frame, [segment])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_words": list(self.words)}  # a pickle has no folder to read from

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of the columns, features first; the numbers of the columns without a vocabulary."""
        if self._words is None:
            return [str(column) for column in range(self.n_words)]
        return self._words() if callable(self._words) else self._words

    @cached_property
    def document_frequency(self) -> Array:
        """The number of documents that contain each word, (D,)."""
        total = np.zeros(self.n_words, dtype=np.int64)
        for segment in self.segments:
            counted = np.diff(segment.by_word.indptr)
            total[: len(counted)] += counted
        return total

    def compute_idf(self, columns: Array) -> Array:
        """Compute the inverse document frequency of some words, features or not, (q,)."""
        n = self.n_documents
        idf = np.log((1 + n) / (1 + self.document_frequency[columns])) + 1
        is_feature = columns < self.n_features
        idf[is_feature] = self.frame.idf[columns[is_feature]]
        return np.asarray(idf)

    @cached_property
    def lengths(self) -> Array:
        """The lengths of the documents as tf-idf vectors, (n,); 0 for one without features."""
        return self._join(lambda segment: segment.placed.lengths)

    @cached_property
    def rows(self) -> Array:
        """The rows of the documents in the input, (n,)."""
        return self._join(lambda segment: segment.rows)

    @cached_property
    def copy_of(self) -> Array:
        """The earliest document that each one nearly repeats, or itself, (n,)."""
        return np.concatenate([s.copy_of + rows.start for s, rows in zip(self.segments, self._slices, strict=True)])

    @cached_property
    def copy_rank(self) -> Array:
        """How many earlier documents each one nearly repeats, (n,)."""
        rank = np.zeros(self.n_documents)
        copies = np.flatnonzero(self.copy_of != np.arange(self.n_documents))
        order = copies[np.argsort(self.copy_of[copies], kind="stable")]
        _, first, sizes = np.unique(self.copy_of[order], return_index=True, return_counts=True)
        rank[order] = 1 + np.arange(len(order)) - np.repeat(first, sizes)
        return rank

    @cached_property
    def anchors(self) -> sp.csr_array:
        """The weights of anchors in each document, (n, a); rows sum to one."""
        nearest = self._join(lambda segment: segment.placed.nearest)
        nearness = self._join(lambda segment: segment.placed.nearness)
        return join_anchors(nearest, nearness, len(self.frame.anchors))

    @cached_property
    def anchor_mass(self) -> Array:
        """How many documents each anchor stands for, (a,)."""
        return np.asarray(self.anchors.sum(axis=0))

    @cached_property
    def sample(self) -> Vectors:
        """Documents at even steps that stand for all, as unit vectors."""
        documents = np.flatnonzero(self.lengths)
        return self.take_vectors(documents[:: -(-len(documents) // TUNING.max_documents) or 1])

    def split_rows(self) -> list[tuple[Segment, slice, slice]]:
        """Return all documents in chunks: segments, the rows in them, and the documents of the corpus."""
        return [
            (segment, rows, slice(documents.start + rows.start, documents.start + rows.stop))
            for segment, documents in zip(self.segments, self._slices, strict=True)
            for rows in row_slices(segment.by_document.shape[0], CHUNK_DOCUMENTS)
        ]

    def _join(self, get: Callable[[Segment], Array]) -> Array:
        parts = [np.asarray(get(segment)) for segment in self.segments]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def find_rows(self, rows: Sequence[int]) -> Array:
        """Return the documents of rows of the input, as indices in the corpus."""
        given = np.asarray(rows).reshape(-1)
        if len(given) and given.dtype.kind not in "iu":
            raise HintError("Rows of documents must be integers, got {row!r}.", code="bad_row", row=given.tolist()[0])
        wanted = given.astype(np.int64)
        indices = np.minimum(np.searchsorted(self.rows, wanted), self.n_documents - 1)
        missing = wanted[self.rows[indices] != wanted]
        if len(missing):
            raise HintError(
                "There is no document in row {row}: rows are numbered from 0 to {last:,}.",
                code="unknown_row",
                row=int(missing[0]),
                last=int(self.rows[-1]),
            )
        return indices

    def find_documents(self, word: int) -> tuple[Array, Array]:
        """Return the documents that contain a word, rising, and its damped counts there."""
        documents, counts = [], []
        for segment, rows in zip(self.segments, self._slices, strict=True):
            X = segment.by_word
            if word < X.shape[1]:
                part = slice(X.indptr[word], X.indptr[word + 1])
                documents.append(np.asarray(X.indices[part], dtype=np.intp) + rows.start)
                counts.append(np.asarray(X.data[part]))
        return np.concatenate(documents), np.concatenate(counts)

    def take_vectors(self, documents: Array) -> Vectors:
        """Return some documents, which rise, as unit vectors."""
        coordinates, norms = self.take_coordinates(documents)
        broad = to_broad(self.frame, coordinates)[0]
        return Vectors(self.take(documents), coordinates, norms, broad, self.anchors[documents])

    def place(self, counts: sp.csr_array) -> Vectors:
        """Return other documents, of damped counts of features, as unit vectors."""
        placed = place_documents(self.frame, counts)
        tfidf = weigh_rows(counts, self.frame.idf, placed.lengths)
        broad = to_broad(self.frame, placed.coordinates)[0]
        anchors = join_anchors(placed.nearest, placed.nearness, len(self.frame.anchors))
        return Vectors(tfidf, placed.coordinates, placed.norms, broad, anchors)

    def take(self, documents: Array) -> sp.csr_array:
        """Return unit tf-idf vectors of some documents, (q, d)."""
        parts = [segment.by_document[indices] for segment, indices, _ in self.split_documents(documents)]
        X = parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts, "csr"))
        return weigh_rows(X, self.frame.idf, self.lengths[documents])

    def take_coordinates(self, documents: Array) -> tuple[Array, Array]:
        """Return the coordinates of some documents, (q, k), and their lengths before they were scaled, (q,)."""
        placed = [(segment.placed, indices) for segment, indices, _ in self.split_documents(documents)]
        coordinates = np.concatenate([part.coordinates[indices] for part, indices in placed])
        return coordinates, np.concatenate([part.norms[indices] for part, indices in placed])

    def read_counts(self, X: Any) -> sp.csr_array:
        """Check the word counts of other documents, and return the damped ones of features, (q, d)."""
        counts = check_counts(X)
        if counts.shape[1] not in (self.n_features, self.n_words):
            raise SearchError(
                "The documents have {n_columns:,} columns, but the fit had {n_words:,} words.",
                code="wrong_columns",
                n_columns=counts.shape[1],
                n_words=self.n_words,
            )
        return damp_counts(counts[:, : self.n_features])

    def split_documents(self, documents: Array) -> list[tuple[Segment, Array, slice]]:
        """Return each segment with those of some documents, which rise, that it has: their indices and positions."""
        ends = np.searchsorted(documents, [rows.stop for rows in self._slices])
        starts = [0, *ends[:-1].tolist()]
        return [
            (segment, documents[start:end] - rows.start, slice(start, int(end)))
            for segment, rows, start, end in zip(self.segments, self._slices, starts, ends, strict=True)
        ]


def weigh_rows(X: sp.csr_array, idf: Array, lengths: Array) -> sp.csr_array:
    """Multiply sparse rows by weights of columns, and divide them by their lengths; those of length 0 are empty."""
    factors = np.repeat(_invert(lengths), np.diff(X.indptr))
    return sp.csr_array((X.data * idf[X.indices] * factors, X.indices, X.indptr), shape=X.shape)

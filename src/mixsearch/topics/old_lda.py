"""The moments and the fit of LDA as this package's topic search uses them, with stored documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import NormalDist
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix, Sparse
from mixsearch.core.eigen import as_operator, top_eigenpairs
from mixsearch.core.extraction import Candidates, all_components
from mixsearch.core.frame import Frame, count_above, frame_from_eigenpairs
from mixsearch.core.jackknife import jackknife
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    multiply_gram_chunks,
    rescale,
    sum_cubes,
    symmetric_operator,
    symmetrize,
    weighted_gram,
)
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    Layout,
    RowChunks,
    add_all,
    chunk_rows,
    even_slices,
    group_indices,
    leave_one_out,
    row_slices,
    sum_chunks,
    sums_by_group,
)
from mixsearch.core.spectrum import MAX_APPLICATIONS, TOL, Spectrum
from mixsearch.errors import DamagedFolderError, HintError, Option, SearchError
from mixsearch.machine import n_cores, one_blas_thread

Counts = TypeVar("Counts", sp.csr_array, sp.csc_array)
# From the lengths of documents to their weights, (n,) -> (n,).
Weighting = Callable[[Array], Array]
# The weight of a document in all averages.
WEIGHTINGS: dict[str, Weighting] = {"length": np.array, "uniform": np.ones_like}


@dataclass(frozen=True)
class DocumentChunk(Chunk):
    """Documents that are long enough for a fit."""

    by_document: sp.csr_array  # counts, (n, d)
    lengths: Array  # (n,)
    rows: Array  # rows of the documents in the user's matrix, (n,)
    # The same counts on disk, if reading all of `by_document` would fill the memory.
    stored: RowChunks | None = field(default=None, kw_only=True)

    @property
    def counts(self) -> RowChunks:
        """The counts in chunks, for a pass over all of them."""
        return chunk_rows(self.by_document) if self.stored is None else self.stored

    def read_documents(self, rows: Array | slice) -> sp.csr_array:
        """Return the counts of some documents."""
        return check_indices(self.by_document[rows])


def check_indices(counts: Counts) -> Counts:
    """Return sparse counts after a check of their indices: compiled code follows them, also those of a damaged file."""
    bound = sum(counts.shape) - (len(counts.indptr) - 1)  # the columns of counts by row, the rows of counts by column
    # Negative numbers are large ones without their sign.
    if counts.nnz and counts.indices.view(f"u{counts.indices.itemsize}").max() >= bound:
        raise DamagedFolderError(
            "The counts of the corpus are damaged: an index is out of range. Restore the folder from a copy, or write "
            "it again with {option}.",
            option=Option("overwrite=True"),
        )
    return counts


@dataclass(frozen=True)
class WordCountChunk(DocumentChunk):
    """Documents before a fit."""

    by_word: sp.csc_array  # counts column by column: a word finds its documents


@dataclass(frozen=True)
class TopicChunk(DocumentChunk):
    """Documents of a fitted corpus."""

    by_word: sp.csc_array  # counts column by column
    pair_weights: Array  # ω / (l(l-1)), (n,), with l the length; ω / l² for the plug-in
    triple_weights: Array  # ω / (l(l-1)(l-2)), (n,); ω / l³ for the plug-in

    def take(self, indices: Any) -> Self:
        """Return the chunk with only some of its rows."""
        # Rows of counts by word are picked by compiled code that follows their indices.
        check_indices(self.by_word)
        return super().take(indices)

    projected: Array  # Y, (n, k): whitened counts W'c, not divided by the length

    def read_words(self, columns: Array) -> sp.csc_array:
        """Return the counts of some words."""
        return check_indices(self.by_word[:, columns])

    def document_weights(self, distinct: bool) -> Array:
        """Return ω, the weight of each document in all averages. All weights of the corpus sum to one."""
        n_pairs = self.lengths * (self.lengths - 1) if distinct else self.lengths**2
        return np.asarray(self.pair_weights * n_pairs)

    def scale_weights(self, factor: float) -> Self:
        """Return the same documents with all weights times a factor."""
        return replace(self, pair_weights=self.pair_weights * factor, triple_weights=self.triple_weights * factor)


def corpus_in_memory(
    by_document: sp.csr_array,
    by_word: sp.csc_array | None = None,
    rows: Array | None = None,
    stored: RowChunks | None = None,
) -> Chunks[WordCountChunk]:
    """Return a corpus in the memory of this process, or mapped into it, as one chunk."""
    n, d = by_document.shape
    counts = chunk_rows(by_document) if stored is None else stored
    chunk = WordCountChunk(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc() if by_word is None else by_word,
        lengths=_document_lengths(counts),
        rows=np.arange(n) if rows is None else rows,
        stored=stored,
    )
    return Chunks(Layout(n, d, counts.dtype, is_sparse=True), (chunk,))


def join_corpora(corpora: Sequence[Chunks[WordCountChunk]]) -> Chunks[WordCountChunk]:
    """Return corpora that follow each other as one, without a copy."""
    if len(corpora) == 1:
        return corpora[0]
    *firsts, n = accumulate((each.n_rows for each in corpora), initial=0)
    numbered = (replace(each.chunk, first=first) for each, first in zip(corpora, firsts, strict=True))
    return Chunks(corpora[0].layout._replace(n_rows=n), tuple(numbered))


def _document_lengths(counts: RowChunks) -> Array:
    return np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.enumerate()])


class DocumentWeights(NamedTuple):
    """How documents are weighted in all averages."""

    weighting: Weighting
    total: float  # the sum over all documents, before weights are scaled to sum to one
    distinct: bool  # words are paired with other words only

    def compute(self, lengths: Array) -> tuple[Array, Array, Array]:
        """Return ω, and ω for each of a document's pairs and triples of words, (n,)."""
        weights = self.weighting(lengths) / self.total
        by_pair = weights / (lengths * (lengths - 1) if self.distinct else lengths**2)
        return weights, by_pair, by_pair / (lengths - 2 if self.distinct else lengths)


def weight_documents(chunks: Chunks[WordCountChunk], weighting: Weighting, *, distinct: bool) -> DocumentWeights:
    """Return the weights of the documents of a corpus."""
    return DocumentWeights(weighting, chunks.sum(_sum_weights, weighting), distinct)


def _sum_weights(chunk: WordCountChunk, weighting: Weighting) -> Any:
    return float(weighting(chunk.lengths).sum())


@dataclass(frozen=True)
class HintedChunk(TopicChunk):
    """Documents with their scores under a hint v."""

    hint_counts: Sparse  # counts of the words of the hint, (n, q)
    hint_scores: Array  # ⟨c, v⟩, (n,)
    sampled_scores: (
        Array  # (n,): the same; if a sample stands for all matching documents, scaled up there and 0 elsewhere
    )


def match_documents(
    chunks: Chunks[TopicChunk], columns: Array | slice, values: Array, max_documents: int | None
) -> Chunks[HintedChunk]:
    """Score documents under a hint over words."""
    scored = chunks.map(_score_hint, columns, values)
    if max_documents is None:
        return scored
    counts = scored.gather(lambda chunk: (chunk.first, int(np.count_nonzero(chunk.hint_scores))))
    n_matching = sum(n for _, n in counts)
    return scored if n_matching <= max_documents else scored.map(_sample_matching, max_documents, n_matching, counts)


def _score_hint(chunk: TopicChunk, columns: Array | slice, values: Array) -> HintedChunk:
    hint_counts: Sparse = check_indices(chunk.by_document) if isinstance(columns, slice) else chunk.read_words(columns)
    scores = np.asarray(hint_counts @ values)
    shared = {each.name: getattr(chunk, each.name) for each in fields(TopicChunk)}
    return HintedChunk(**shared, hint_counts=hint_counts, hint_scores=scores, sampled_scores=scores)


def _sample_matching(
    chunk: HintedChunk, max_documents: int, n_matching: int, counts: list[tuple[int, int]]
) -> HintedChunk:
    """Score evenly spaced documents only, of all that match; `counts` are the first row and the matches of chunks."""
    n_before = sum(n for first, n in counts if first < chunk.first)
    rows = np.flatnonzero(chunk.hint_scores != 0)  # five times as fast as of numbers
    steps = np.linspace(0, n_matching - 1, max_documents).astype(np.intp) - n_before
    sampled = rows[steps[(steps >= 0) & (steps < len(rows))]]
    scores = np.zeros_like(chunk.hint_scores)
    scores[sampled] = chunk.hint_scores[sampled] * (n_matching / max_documents)
    return replace(chunk, sampled_scores=scores)


# Words that represent all in a sum of squares, which it changes by about a thousandth.
MAX_DIAGONAL_WORDS = 10_000
# Row i belongs to fold i mod 3. Directions from two thirds of the samples resolve weaker topics than those from a half.
N_FOLDS = 3
# Directions to test at first, the rounding error relative to the largest value, and the probability of a false alarm.
FEW_DIRECTIONS, MIN_VALUE, FALSE_ALARM = 25, 1e-10, 0.002
# Documents with the words of a hint are summed in this many chunks, however many cores there are: then they do not
# change the sums. Fewer than the second number are summed before another thread has started.
N_CHUNKS, THREADED_DOCUMENTS = 4, 500
# Vectors that one pass over the counts serves: more passes than with k + 10 of them, but less time in all. At this
# residual of the eigenvectors, relative to each eigenvalue, rankings of documents no longer change.
BLOCK, EIGEN_TOL = 20, 1e-2
# Directions beyond the signal space that are looked at; none is left out that matters if the first is weaker than this
# fraction of the last topic. Noise reaches up to 1.5 times as far as down, a topic six times or more.
MAX_LEFT_OUT, MIN_NEXT, MIN_NOISE_RATIO = 10, 0.1, 3.0
# Up to this many directions are tested for "auto". Text has hundreds that keep a little on other documents; if one
# keeps at least half of its eigenvalue v'Av = λ, λvv' brings the sum of those before it nearer to A.
MAX_TOPICS, MIN_HELD = 200, 0.5
# "auto" compares this many contractions, for sums α₀ in this range; the first fit takes any.
N_CONTRACTIONS, ALPHA0_RANGE, N_STEPS, FIRST_ALPHA0 = 6, (1e-2, 1e2), 25, 1.0
# Two matrices in the plane that share the eigenvector W'm always commute.
MIN_IDENTIFIED = 3
# Words that a sweep draws topics for at a time stay in cache. The words of a count above the second number are drawn
# together, which takes longer for small ones.
SWEPT_WORDS, MAX_SINGLE = 32_000, 20
# The least probability of a word, and share of a topic: products of two are normal numbers in single precision.
MIN_PROBABILITY = 1e-18


@dataclass(frozen=True)
class Tuning:
    """Gibbs sampling. Chosen on generated corpora by benchmarks/refinement.py, reported on those of other seeds."""

    n_sweeps: int = 48
    held: float = 1 / 6  # share of the sweeps in which topics stay those of the moments,
    dropped: float = 1 / 6  # and share of those after them that are not averaged
    min_weight: float = 0.1  # that a topic starts with, relative to an even one
    smoothing: float = 1e-4  # weight of the corpus in the topics at the start: no word is impossible
    beta_range: tuple[float, float] = (0.01, 1.0)  # of the Dirichlet parameter of words in topics
    share_iter: int = 50  # iterations that find the shares of topics in a document


TUNING = Tuning()

# From a shape and a dtype to an array that holds the projected documents, for instance on disk.
Allocate = Callable[[tuple[int, int], Any], Array]

# ---- Moments (paper, section 3.2) -----------------------------------------------------------------------------------


class WordAverages(NamedTuple):
    """Averages over three different words x1, x2 and x3 of a document, under a hint v, in the frame."""

    first: Array  # W'E[x1], (k,)
    pairs: Array  # W'E[x1x2']W, (k, k)
    triples: Array  # W'E[⟨x3, v⟩x1x2']W, (k, k)
    crossed: Array  # W'E[⟨x2, v⟩x1], (k,)
    score: float  # E[⟨x1, v⟩]

    def moments(self, alpha0: float) -> tuple[Array, Array, Array]:
        """Compute W'm, W'AW and W'BW.

        Notes
        -----
        Theorem 10: m = α₀E[x1], A = α₀(α₀+1)E[x1x2'] - mm' and B = α₀(α₀+1)(α₀+2)/2 E[⟨x3, v⟩x1x2']
        - α₀(α₀+1)/2 (⟨m, v⟩E[x1x2'] + E[⟨x3, v⟩x1]m' + mE[⟨x3, v⟩x2]') + ⟨m, v⟩mm'.
        """
        two, three = alpha0 * (alpha0 + 1), alpha0 * (alpha0 + 1) * (alpha0 + 2)
        m, score = alpha0 * self.first, alpha0 * self.score
        outer, crossed = np.outer(m, m), np.outer(self.crossed, m)
        B = three / 2 * self.triples - two / 2 * (score * self.pairs + crossed + crossed.T) + score * outer
        return m, two * self.pairs - outer, B


class HintedSums(NamedTuple):
    """Sums over documents, each times its score under a hint."""

    n_matching: int  # documents with a score other than 0
    triples: Array  # Σ triple weight ⟨c, v⟩yy', (k, k)
    crossed: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    repeats: Array  # Σ triple weight ⟨c, v⟩c, (d,); empty for the plug-in


class GroupSums(NamedTuple):
    """Weighted sums over the documents of a group of the jackknife, with words that repeat."""

    weight: float  # Σ ω
    first: Array  # Σ ω y / l, (k,)
    pairs: Array  # Σ pair weight yy', (k, k)
    triples: Array  # Σ triple weight ⟨c, v⟩yy', less the pairs of words of the hint with themselves, (k, k)
    crossed: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    score: float  # Σ ω⟨x1, v⟩
    pair_repeats: Array  # Σ pair weight c, (d,); empty for the plug-in
    triple_repeats: Array  # Σ triple weight (⟨c, v⟩ - 2v) c, (d,); empty for the plug-in


@dataclass(frozen=True)
class RowLengths:
    """Lengths of the rows of V D^(-1/2), computed when they are first needed."""

    frame: Frame

    @cached_property
    def squares(self) -> Array:
        """Their squares, (d,)."""
        V, values = self.frame.basis, self.frame.values.astype(self.frame.basis.dtype)
        return np.concatenate([V[rows] ** 2 @ (1 / values) for rows in row_slices(len(V))])


@dataclass(frozen=True, slots=True)
class TopicFamily:
    """The fitted moments of a corpus.

    Notes
    -----
    Averages run over different words of a document, a correction of the paper: with counts c of l words, pairs are
    (cc' - diag(c)) / (l(l-1)), and triples, * elementwise, (⟨c, v⟩cc' - (c*v)c' - c(c*v)' - ⟨c, v⟩diag(c) +
    2diag(c*v)) / (l(l-1)(l-2)). The first terms are sums over Y; the others are subtracted by the sums over words
    `own_pairs`, `own_triples` and `own_crossed`.
    """

    frame: Frame
    alpha0: float
    mean: Array  # W'm, (k,)
    word_mean: Array  # E[x1], (d,): the corpus as one distribution over words
    distinct: bool  # different words only; otherwise the plug-in of the paper, which counts words with themselves
    own_pairs: Array  # Σ pair weight x c, (d,): pairs of a word with itself
    own_triples: Array  # Σ triple weight x c, (d,): triples of a word with itself
    own_crossed: Array  # Σ triple weight x c y', (d, k): triples of a word with itself and another word
    document_frequency: Array  # the number of documents that contain each word, (d,)
    n_applications: int  # passes over the counts that the eigenvectors took
    row_lengths: RowLengths  # with all components of the fit, also if this has fewer
    chunks: Chunks[Any]  # of `TopicChunk`
    # Directions outside the frame that stand out from the noise, if any.
    left_out: Frame | None = field(default=None, kw_only=True)

    @property
    def n_components(self) -> int:
        """The number of topics of the fit."""
        return self.frame.n_components

    def hinted(self, hint: Any, max_documents: int | None = None) -> Hinted:
        """Contract the third moment with a hint over words, or with a hint c in the frame: that of the words v = Wc."""
        _, _, B = self.average_words(hint, max_documents).moments(self.alpha0)
        return Hinted(B, self.mean, hint if isinstance(hint, np.ndarray) else self.project(hint))

    def average_words(self, hint: Any, max_documents: int | None = None) -> WordAverages:
        """Average over different words of a document, under a hint over words or in the frame, (k,)."""
        first = self.mean / self.alpha0
        # A is the identity in the frame.
        pairs = (np.eye(len(first)) + np.outer(self.mean, self.mean)) / (self.alpha0 * (self.alpha0 + 1))
        if isinstance(hint, np.ndarray):
            return WordAverages(first, pairs, self._contract_in_frame(hint), pairs @ hint, float(first @ hint))
        triples, crossed = self._contract(hint, max_documents)
        return WordAverages(first, pairs, triples, crossed, float(self.word_mean[hint.columns] @ hint.values))

    def _contract_in_frame(self, hint: Array) -> Array:
        """Compute W'E[⟨x3, v⟩x1x2']W for v = Wc, (k, k)."""

        def sum_chunk(chunk: TopicChunk) -> Any:
            scores = chunk.triple_weights * (chunk.projected @ hint)
            return weighted_gram(chunk.projected, scores, n_threads=n_cores())

        triples = self.chunks.sum(sum_chunk)
        if self.distinct:
            W = self.whitening_rows(slice(None))
            v = W @ hint
            cross = (W * v[:, None]).T @ self.own_crossed
            triples = triples - cross - cross.T
            triples -= self.whiten_diagonal(self.own_crossed @ hint - 2 * v * self.own_triples)
        return np.asarray(triples)

    def _contract(self, hint: Any, max_documents: int | None) -> tuple[Array, Array]:
        """Compute W'E[⟨x3, v⟩x1x2']W, (k, k), and W'E[⟨x2, v⟩x1], (k,), from the documents with words of the hint."""
        distinct, columns, values = self.distinct, hint.columns, hint.values

        def sum_chunk(chunk: HintedChunk) -> HintedSums:
            matching, dtype = np.flatnonzero(chunk.sampled_scores != 0), chunk.by_document.dtype

            def sum_rows(part: slice) -> HintedSums:
                rows = matching[part]
                Y, scores = chunk.projected[rows], chunk.sampled_scores[rows]
                by_triple = chunk.triple_weights[rows] * scores
                repeats = chunk.read_documents(rows).T @ by_triple.astype(dtype) if distinct else np.zeros(0)
                crossed = np.asarray(Y.T @ (chunk.pair_weights[rows] * scores))
                return HintedSums(len(rows), weighted_gram(Y, by_triple), crossed, np.asarray(repeats))

            n_threads = n_cores() if len(matching) > THREADED_DOCUMENTS else 1
            return sum_chunks(sum_rows, even_slices(len(matching), N_CHUNKS), n_threads)

        n_matching, triples, crossed, repeats = self._match(columns, values, max_documents).sum(sum_chunk)
        if not n_matching:
            raise HintError(
                "No document matches the hint: none contains its words, or their weights cancel.",
                code="no_matching_documents",
            )
        if distinct:
            W = self.whitening_rows(columns)
            weighted = W * values[:, None]
            cross = weighted.T @ self.own_crossed[columns]
            triples -= cross + cross.T + self.whiten_diagonal(repeats)
            triples += 2 * (weighted * self.own_triples[columns, None]).T @ W
            crossed -= weighted.T @ self.own_pairs[columns]
        return triples, crossed

    def _match(self, columns: Array | slice, values: Array, max_documents: int | None) -> Chunks[HintedChunk]:
        # No more documents than this can contain its words, so there is no need to count them.
        is_rare = max_documents is not None and self.document_frequency[columns].sum() <= max_documents
        return match_documents(self.chunks, columns, values, None if is_rare else max_documents)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q), to (q, q, q).

        Notes
        -----
        For v = Wc, where A is the identity, B = α₀(α₀+1)(α₀+2)/2 W'E[⟨x3, v⟩x1x2']W - (cm' + mc' + ⟨m, c⟩I) / 2
        - ⟨m, c⟩mm' / 2 with W'm for m.
        """

        def sum_chunk(chunk: TopicChunk) -> Any:
            Y = chunk.projected @ basis
            return sum_cubes(Y, Y, chunk.triple_weights)

        a0, m = self.alpha0, self.mean @ basis
        with one_blas_thread:
            triples = self.chunks.sum(sum_chunk)
            if self.distinct:
                W = self.whitening_rows(slice(None)) @ basis
                repeats = self.own_crossed @ basis - 2 / 3 * W * self.own_triples[:, None]
                triples = triples - symmetrize(sum_cubes(W, repeats, np.ones(len(W))))
        lower = symmetrize(np.multiply.outer(basis.T @ basis, m)) + np.multiply.outer(np.outer(m, m), m)
        return np.asarray(a0 * (a0 + 1) * (a0 + 2) / 2 * triples - lower / 2)

    def leave_one_out(self, hint: Any, max_documents: int | None = None) -> Replicates:
        """Compute the moments of all documents but one group, for each group in turn."""
        moments = (averages.moments(self.alpha0) for averages in self.replicate_averages(hint, max_documents))
        mean, second, hinted = map(np.array, zip(*moments, strict=True))
        return Replicates(second, hinted, mean)

    def replicate_averages(self, hint: Any, max_documents: int | None = None) -> list[WordAverages]:
        """Average over the words of all documents but one group, for each group in turn."""
        distinct, in_frame = self.distinct, isinstance(hint, np.ndarray)
        columns: Array | slice = slice(None) if in_frame else hint.columns
        W = self.whitening_rows(columns)
        values = np.asarray(W @ hint if in_frame else hint.values)
        weighted = W * values[:, None]
        # Groups of documents are picked faster from counts by document.
        matched = self._match(columns, values, max_documents).map(
            lambda chunk: replace(chunk, hint_counts=sp.csr_array(chunk.hint_counts))
        )

        def sum_triples(chunk: HintedChunk, group: slice) -> tuple[Array, Array]:
            """Only documents with words of the hint contribute."""
            rows = np.arange(len(chunk.lengths))[group][np.flatnonzero(np.diff(chunk.hint_counts[group].indptr))]
            Y, weights = chunk.projected[rows].astype(np.float64, copy=False), chunk.triple_weights[rows]
            by_triple = weights * chunk.sampled_scores[rows]
            triples = np.asarray((Y * by_triple[:, None]).T @ Y)
            if not distinct:
                return triples, np.zeros(0)
            counts = chunk.hint_counts[rows]
            repeats = np.asarray(chunk.read_documents(rows).T @ by_triple)
            repeats[columns] -= 2 * values * (counts.T @ weights)
            cross = np.asarray(counts @ weighted).T @ (Y * weights[:, None])
            return triples - cross - cross.T, repeats

        def sum_group(chunk: HintedChunk, rows: slice) -> GroupSums:
            Y, by_pair = chunk.projected[rows].astype(np.float64, copy=False), chunk.pair_weights[rows]
            weights = chunk.document_weights(distinct)[rows]
            per_word = weights / chunk.lengths[rows]
            triples, triple_repeats = sum_triples(chunk, rows)
            return GroupSums(
                weight=float(weights.sum()),
                first=Y.T @ per_word,
                pairs=(Y * by_pair[:, None]).T @ Y,
                triples=triples,
                crossed=Y.T @ (by_pair * chunk.sampled_scores[rows]),
                score=float(per_word @ chunk.hint_scores[rows]),
                pair_repeats=np.asarray(chunk.read_documents(rows).T @ by_pair) if distinct else np.zeros(0),
                triple_repeats=triple_repeats,
            )

        groups = []
        with one_blas_thread:
            sums: tuple[Any, ...] = sums_by_group(matched, sum_group)
            for group in map(GroupSums._make, zip(*sums, strict=True)):
                pairs, triples, crossed = group.pairs, group.triples, group.crossed
                if distinct:  # before groups are left out: one has few of the words, the others together nearly all
                    pairs = pairs - self.whiten_diagonal(group.pair_repeats)
                    triples = triples - self.whiten_diagonal(group.triple_repeats)
                    crossed = crossed - weighted.T @ group.pair_repeats[columns]
                groups.append((group.weight, group.first, pairs, triples, crossed, group.score))
        fields = [np.array(field) for field in zip(*groups, strict=True)]
        remaining = zip(*(field.sum(axis=0) - field for field in fields), strict=True)
        return [WordAverages(*(total / weight for total in totals)) for weight, *totals in remaining]

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all documents but one group, (d, B), for a direction u in the frame, (k,)."""
        distinct, a0, v = self.distinct, self.alpha0, np.asarray(self.whitening_rows(slice(None)) @ direction)

        def sum_group(chunk: TopicChunk, rows: slice) -> Any:
            """Sum ω⟨x2, v⟩x1 and ωx1, (d, 2)."""
            counts, by_pair = chunk.read_documents(rows), chunk.pair_weights[rows]
            crossed = counts.T @ (by_pair * (counts @ v)) - distinct * v * (counts.T @ by_pair)
            per_word = chunk.document_weights(distinct)[rows] / chunk.lengths[rows]
            return np.column_stack([crossed, counts.T @ per_word])

        def sum_weights(chunk: TopicChunk, rows: slice) -> Any:
            return float(chunk.document_weights(distinct)[rows].sum())

        replicates = []
        with one_blas_thread:
            weights = leave_one_out(self.chunks, sum_weights)
            for sums, weight in zip(leave_one_out(self.chunks, sum_group), weights, strict=True):
                crossed, m = (sums / weight).T
                replicates.append(a0 * (a0 + 1) * crossed - a0**2 * m * (m @ v))
        return np.column_stack(replicates)

    def take(self, k: int) -> TopicFamily:
        """Return the same fit with the first topics only."""
        if k == self.n_components:
            return self  # and its samples of topics
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            own_crossed=self.own_crossed[:, :k],
            chunks=self.chunks.map(lambda chunk: replace(chunk, projected=chunk.projected[:, :k])),
        )

    def project(self, hint: Any) -> Array:
        """Return a hint over words in the frame, (k,)."""
        return self.frame.rows(hint.columns).project_hint(hint.values)

    def whitening_rows(self, words: Array | slice) -> Array:
        """Return rows of W, (q, k)."""
        scale = 1.0 if self.frame.metric is None else self.frame.metric[words, None]
        return self.frame.basis[words] * scale / np.sqrt(self.frame.values)

    def whiten_diagonal(self, weights: Array) -> Array:
        """Return W'diag(weights)W, (k, k). Of very many words, some represent all."""
        scaled = weights if self.frame.metric is None else weights * self.frame.metric**2
        V, root = self.frame.basis, np.sqrt(self.frame.values)
        n_words = np.count_nonzero(scaled)
        if n_words > 2 * MAX_DIAGONAL_WORDS:
            words, factors = sample_terms(np.abs(scaled) * self.row_lengths.squares, MAX_DIAGONAL_WORDS)
            V, scaled = V[words], scaled[words] * factors
        elif 0 < 2 * n_words < len(scaled):  # else picking rows costs more than it saves
            words = np.flatnonzero(scaled)
            V, scaled = V[words], scaled[words]
        return np.asarray(weighted_gram(V, scaled, precision=V.dtype, n_threads=n_cores()) / np.outer(root, root))

    @property
    def segments(self) -> tuple[Any, ...]:
        """All documents in one chunk or a few, if they are in this process."""
        if type(self.chunks) is Chunks:
            return self.chunks.pieces
        raise SearchError(
            "The {n_documents:,} documents of this fit are on a cluster, but this operation needs them in this "
            "process. Fit a corpus in memory, or build an index.",
            code="documents_on_cluster",
            n_documents=self.chunks.n_rows,
        )


# ---- The fit --------------------------------------------------------------------------------------------------------


def fit_topics(
    chunks: Chunks[WordCountChunk],
    n_components: int,
    *,
    alpha0: float,
    distinct: bool,
    weighting: Weighting,
    metric: float,
    seed: int,
    check_rest: bool = False,
    allocate: Allocate = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> TopicFamily:
    """Find the signal space of the topics and project the documents onto it.

    Eigenvectors are those of S A S with S = diag(p^(-metric)) and p the frequencies of words: counts are multinomial,
    so the noise of a word grows with p. S is undone on the way out.
    """
    weights = weight_documents(chunks, weighting, distinct=distinct)
    word_mean, own_pairs, own_triples, document_frequency = chunks.sum(sum_words, weights).T.copy()
    scale = scale_words(word_mean, metric)

    def multiply(chunk: WordCountChunk, Q: Array) -> Any:
        return multiply_gram_chunks(chunk.counts, Q, weights.compute(chunk.lengths)[1])

    second = rescale(
        _sum_products(chunks, multiply),
        scale=alpha0 * (alpha0 + 1),
        metric=scale,
        diagonal=scale**2 * own_pairs if distinct else np.zeros_like(scale),
        direction=alpha0 * scale * word_mean,
    )
    n_beyond = min(MAX_LEFT_OUT, len(scale) - n_components) if check_rest else 0
    # Real text has neither a gap in its spectrum to converge to nor equal eigenvalues, so a narrow block is enough.
    with one_blas_thread:
        values, vectors, n_applications = top_eigenpairs(
            second,
            n_components + n_beyond,
            n_converged=n_components,
            seed=seed,
            tol=EIGEN_TOL,
            block=BLOCK,
            n_threads=n_cores(),
            on_application=on_pass,
        )
    # Past the true rank the eigenvalues of A turn negative; the first one must not.
    k = max(count_above(values[:n_components]), 1)
    frame = replace(frame_from_eigenpairs(values[:k], vectors[:, :k]), metric=scale)
    beyond = Frame(vectors[:, k:], values[k:], scale)
    projected, own_crossed = chunks.map_sum(project_documents, weights, frame, allocate)
    return TopicFamily(
        frame=frame,
        alpha0=alpha0,
        mean=frame.whiten(alpha0 * word_mean),
        word_mean=word_mean,
        distinct=distinct,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=own_crossed,
        document_frequency=document_frequency.astype(np.int64),
        n_applications=n_applications,
        row_lengths=RowLengths(frame),
        chunks=projected,
        left_out=_find_left_out(second, beyond, float(frame.values[-1]), seed) if n_beyond else None,
    )


def scale_words(word_mean: Array, metric: float) -> Array:
    """Return the scale of each word, p^(-metric), (d,); 1 for words that never occur."""
    return np.where(word_mean > 0, word_mean, 1.0) ** -metric


def sum_words(chunk: WordCountChunk, weights: DocumentWeights) -> Any:
    """Sum counts as frequencies and with the weights of pairs and triples, and count the documents of words, (d, 4)."""
    by_document, by_pair, by_triple = weights.compute(chunk.lengths)
    columns = np.column_stack([by_document / chunk.lengths, by_pair, by_triple])
    return np.column_stack([_sum_rows(chunk.counts, columns), np.diff(chunk.by_word.indptr)])


def _sum_products(chunks: Chunks[WordCountChunk], multiply: Callable[..., Any]) -> Matrix:
    """Return the operator that sums `multiply(chunk, Q)`: one pass over the counts for a block of vectors."""
    n_features, dtype, *_ = chunks.layout[1:]
    return symmetric_operator(n_features, dtype, lambda Q: chunks.sum(multiply, np.ascontiguousarray(Q)))


def _sum_rows(counts: RowChunks, weights: Array) -> Array:
    """Compute X' weights, (d, q)."""

    def sum_chunk(chunk: tuple[int, slice]) -> Any:
        index, rows = chunk
        return np.asarray(counts.read(index).T @ weights[rows])

    return np.asarray(sum_chunks(sum_chunk, counts.enumerate(), n_cores()))


def _find_left_out(second: Matrix, beyond: Frame, last: float, seed: int) -> Frame | None:
    """Find directions beyond the signal space that stand out from the noise, which reaches as far up as down."""
    if beyond.values[0] < MIN_NEXT * last:
        return None
    with one_blas_thread:
        lowest = top_eigenpairs(-as_operator(second), 1, seed=seed, tol=0.1, max_applications=10, block=4)
    n = count_above(beyond.values, MIN_NOISE_RATIO * float(lowest.values[0]), precision=beyond.basis.dtype)
    return beyond.take(n) if n else None


def project_documents(
    chunk: WordCountChunk, weights: DocumentWeights, frame: Frame, allocate: Allocate
) -> tuple[TopicChunk, Array]:
    """Return the documents with their weights and whitened counts Y, and Σ triple weight x c y', (d, k)."""
    counts, V, roots = chunk.counts, frame.basis, np.sqrt(frame.values)
    scaled = V if frame.metric is None else V * frame.metric[:, None].astype(V.dtype)
    W = np.ascontiguousarray(scaled / roots.astype(V.dtype))
    projected = allocate((counts.shape[0], W.shape[1]), counts.dtype)
    _, by_pair, by_triple = weights.compute(chunk.lengths)

    def project_chunk(piece: tuple[int, slice]) -> Any:
        index, rows = piece
        X = counts.read(index)
        projected[rows] = Y = X @ W
        return np.asarray(X.T @ (Y * by_triple[rows, None].astype(Y.dtype)))

    crossed = sum_chunks(project_chunk, counts.enumerate(), n_cores())
    return TopicChunk(**vars(chunk), pair_weights=by_pair, triple_weights=by_triple, projected=projected), crossed


# ---- The sum of the Dirichlet parameters, and the number of topics --------------------------------------------------


def not_identified(n_components: int) -> SearchError:
    """Return the error that so few topics do not determine the sum of the Dirichlet parameters."""
    return SearchError(
        "{argument}='auto' needs at least {minimum} topics, and this fit has {n_components}: with fewer, every value "
        "fits. Pass {argument} as a number.",
        code="alpha0_not_identified",
        argument=Option("alpha0"),
        minimum=MIN_IDENTIFIED,
        n_components=n_components,
    )


def estimate_alpha0(family: TopicFamily) -> tuple[float, float]:
    """Estimate the sum of the Dirichlet parameters, with its standard error.

    Notes
    -----
    With the right α₀, and only then, the whitened B of all hints have the same eigenvectors: they commute. So α₀ is
    where the commutators of a few are smallest. Pairs alone do not determine it: m'A⁺m = α₀ for every α₀. Nor do two
    topics: all symmetric matrices with W'm as an eigenvector commute in the plane.
    """
    from scipy.optimize import minimize_scalar  # slow to import, and needed by few fits

    k = family.n_components
    if k < MIN_IDENTIFIED:
        raise not_identified(k)

    def measure_commutators(log: float, averages: list[WordAverages]) -> float:
        moments = [each.moments(float(np.exp(log))) for each in averages]
        values, vectors = np.linalg.eigh(moments[0][1])
        root = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))  # a wrong sum makes values negative
        whitened = [root.T @ B @ root for _, _, B in moments]
        products = np.array([one @ other for i, one in enumerate(whitened) for other in whitened[:i]])
        return float(np.log(np.sum((products - products.transpose(0, 2, 1)) ** 2) / np.sum(products**2)))

    def minimize(averages: list[WordAverages]) -> float:
        steps = np.log(np.geomspace(*ALPHA0_RANGE, N_STEPS))
        best = int(np.argmin([measure_commutators(step, averages) for step in steps]))
        bounds = (float(steps[max(best - 1, 0)]), float(steps[min(best + 1, N_STEPS - 1)]))
        return float(minimize_scalar(measure_commutators, bounds=bounds, args=(averages,), method="bounded").x)

    hints = np.linalg.qr(np.random.default_rng(0).standard_normal((k, k)))[0].T[:N_CONTRACTIONS]
    alpha0 = float(np.exp(minimize([family.average_words(hint) for hint in hints])))
    replicates = zip(*(family.replicate_averages(hint) for hint in hints), strict=True)
    return alpha0, alpha0 * float(jackknife(np.array([minimize(list(group)) for group in replicates])))


def topic_spectrum(
    chunks: Chunks[WordCountChunk],
    *,
    alpha0: float,
    distinct: bool,
    weighting: Weighting,
    metric: float,
    seed: int,
) -> Spectrum:
    """Count the topics: as many as directions that hold on other documents, and at least one."""
    weights = weight_documents(chunks, weighting, distinct=distinct)

    def square(X: sp.csr_array) -> sp.csr_array:
        """Count pairs of a word with itself: c of different words, c² of the plug-in."""
        return X if distinct else X.multiply(X).tocsr()

    def mask(chunk: WordCountChunk, fold: int) -> Array:
        return np.asarray(group_indices(chunk, len(chunk.lengths), N_FOLDS) == fold)

    def sum_folds(chunk: WordCountChunk) -> Any:
        """Sum words, and pairs of a word with itself, over each fold: (2, d, 3)."""
        by_document, by_pair, _ = weights.compute(chunk.lengths)
        masks, counts = np.column_stack([mask(chunk, fold) for fold in range(N_FOLDS)]), chunk.counts
        squares = replace(counts, read=lambda index: square(counts.read(index)))
        per_word = (by_document / chunk.lengths)[:, None] * masks
        return np.stack([_sum_rows(counts, per_word), _sum_rows(squares, by_pair[:, None] * masks)])

    def sum_weights(chunk: WordCountChunk) -> Any:
        return np.array([weights.compute(chunk.lengths[mask(chunk, i)])[0].sum() for i in range(N_FOLDS)])

    words, repeats = chunks.sum(sum_folds)
    fold_weights = chunks.sum(sum_weights)
    word_mean = words.sum(axis=1)
    units = scale_words(word_mean, metric)
    scale, mean = alpha0 * (alpha0 + 1), alpha0 * units * word_mean

    def second_moment_without(fold: int) -> Matrix:
        def multiply(chunk: WordCountChunk, Q: Array) -> Any:
            picked = ~mask(chunk, fold)
            return multiply_gram_chunks(_pick_rows(chunk.counts, picked), Q, weights.compute(chunk.lengths[picked])[1])

        outside = np.arange(N_FOLDS) != fold
        return rescale(
            _sum_products(chunks, multiply),
            scale=scale / float(fold_weights[outside].sum()),
            metric=units,
            diagonal=units**2 * repeats[:, outside].sum(axis=1),
            direction=mean,
        )

    def evaluate(directions: list[Array]) -> Array:
        """Sum v'Av, and its squares, over the documents of each fold for its directions v, (d, q)."""
        in_counts = [(units[:, None] * V).astype(chunks.layout.dtype) for V in directions]
        mean_squares = [(mean @ V) ** 2 for V in directions]

        def sum_fold(chunk: WordCountChunk, fold: int) -> Any:
            picked, V = mask(chunk, fold), in_counts[fold]
            by_document, by_pair, _ = weights.compute(chunk.lengths[picked])
            counts = _pick_rows(chunk.counts, picked)

            def sum_rows(part: tuple[int, slice]) -> Any:
                index, rows = part
                X = counts.read(index)
                pairs = np.asarray((X @ V) ** 2 - square(X) @ V**2, dtype=np.float64)
                values = scale * by_pair[rows, None] * pairs - by_document[rows, None] * mean_squares[fold]
                return np.stack([values.sum(axis=0), np.sum(values**2, axis=0)])

            return sum_chunks(sum_rows, counts.enumerate(), n_cores())

        total, squares = chunks.sum(lambda chunk: add_all([sum_fold(chunk, fold) for fold in range(N_FOLDS)]))
        return np.stack([total, np.maximum(squares - total**2 / chunks.n_rows, 0)])

    with one_blas_thread:
        return find_spectrum(
            second_moment_without,
            evaluate,
            max_directions(*chunks.shape, MAX_TOPICS),
            lambda k: max(k, 1),
            min_held=MIN_HELD,
            seed=seed,
            n_threads=n_cores(),
            block=BLOCK,
        )


def _pick_rows(counts: RowChunks, is_picked: Array) -> RowChunks:
    """Pick rows, read from their chunks."""
    picked = [np.flatnonzero(is_picked[rows]) for rows in counts.slices]
    ends = np.cumsum([0, *map(len, picked)])
    return replace(
        counts,
        slices=[slice(int(a), int(b)) for a, b in pairwise(ends)],
        read=lambda index: counts.read(index)[picked[index]],
        shape=(int(ends[-1]), counts.shape[1]),
        n_nonzeros=counts.n_nonzeros * int(ends[-1]) // max(counts.shape[0], 1),
    )


# ---- Refinement by Gibbs sampling -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampledChunk(Chunk):
    """Documents with one draw of their shares."""

    words: sp.csr_array  # every word is a stored value of its own, (n, d)
    frequent: sp.csr_array  # whole counts above `MAX_SINGLE`, whose words are drawn together, (n, d)
    shares: Array  # θ, (n, k)

    @classmethod
    def from_counts(cls, first: int, counts: sp.csr_array, shares: Array) -> SampledChunk:
        """Split the counts."""
        times = counts.data.astype(np.int64)
        single = np.where(times <= MAX_SINGLE, times, 0)
        indices, ends = np.repeat(counts.indices, single), np.append(0, np.cumsum(single))
        words = sp.csr_array((np.ones(len(indices), np.int8), indices, ends[counts.indptr]), counts.shape)
        frequent = sp.csr_array((times - single, counts.indices, counts.indptr), counts.shape, copy=True)
        frequent.eliminate_zeros()
        return cls(first, words, frequent, shares)


@dataclass(frozen=True, slots=True)
class Refined:
    """A component after EM."""

    center: Array  # (d,)
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration


@dataclass(frozen=True, slots=True)
class LdaTopic(Refined):
    """The posterior of a topic, with the others that compete for the words of documents. Its weight is the moments'."""

    errors: Array  # posterior standard deviations of `center`, (d,)
    topics: Array  # posterior means, (d, k), the topic of the hint first
    prior: Array  # α, (k,)

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """Estimate the share of the topic in any documents, (n,); 0 in those without words.

        Given the topics, the variational posterior is Dirichlet(γ): a word w is of topic i in proportion to
        exp(E log θᵢ)μᵢ(w), and γ is α plus the expected words of each topic.
        """
        from scipy.special import psi

        posterior = self.prior + lengths[:, None] * self.prior / self.prior.sum()
        chunks = chunk_rows(counts, SWEPT_WORDS)
        for index, rows in chunks.enumerate():
            X = chunks.read(index)
            documents, topics = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), self.topics[X.indices]
            for _ in range(TUNING.share_iter):
                expected = np.exp(psi(posterior[rows]))
                parts = X.data / np.einsum("zk,zk->z", expected[documents], topics)
                weighted = sp.csr_array((parts, X.indices, X.indptr), X.shape)
                posterior[rows] = self.prior + expected * (weighted @ self.topics)
        return np.where(lengths > 0, posterior[:, 0] / posterior.sum(axis=1), 0.0)


class SampledTopics(NamedTuple):
    """The posterior of all topics."""

    start: Array  # moment estimates, (d, k)
    topics: Array  # posterior means, (d, k)
    errors: Array  # posterior standard deviations, (d, k)
    prior: Array  # α, (k,)


# No hint enters, so one sample serves every search in a fit.
_samples: WeakKeyDictionary[Chunks[TopicChunk], dict[int, SampledTopics]] = WeakKeyDictionary()
_lock = Lock()


def refine_topic(family: TopicFamily, candidates: Candidates, n_sweeps: int) -> LdaTopic | None:
    """Return the posterior of the first of the candidates; None if sampling makes another topic of it."""
    with _lock:
        samples = _samples.setdefault(family.chunks, {})
        if n_sweeps not in samples:
            samples[n_sweeps] = sample_topics(family, n_sweeps)
    sampled, center = samples[n_sweeps], np.maximum(family.frame.unwhiten(candidates.points[:, 0]), 0)
    before, after = (np.argmax(center @ T / np.linalg.norm(T, axis=0)) for T in (sampled.start, sampled.topics))
    if before != after:
        return None
    order = np.append(after, np.delete(np.arange(family.n_components), after))
    return LdaTopic(
        center=sampled.topics[:, after].copy(),
        weight=float(candidates.weights[0]) / family.alpha0,
        objectives=(),
        errors=sampled.errors[:, after],
        topics=sampled.topics[:, order],
        prior=sampled.prior[order],
    )


def sample_topics(family: TopicFamily, n_sweeps: int) -> SampledTopics:
    """Sample the topics given all documents, from the moments of all topics.

    Notes
    -----
    One sweep of the Gibbs sampler draws the topic of each word given θ and μ, then θ ~ Dirichlet(α + words of each
    topic in the document) and μ ~ Dirichlet(β + counts of each word in the topic). In the first sweeps μ stays that of
    the moments: θ at the start is rough, and would lead it astray. α is that of the moments, and β that of topics as
    concentrated as theirs: E Σ μ(w)² = (β + 1) / (dβ + 1). The standard error is the deviation of the posterior, given
    the counts of a sweep and between sweeps. ρ, the part of the latter that is left in a mean over all sweeps, as its
    halves show, counts twice: sweeps vary less than the posterior, and their mean is not that of the posterior.
    """
    rng = np.random.default_rng(0)
    start, prior, chunks = _start_sampling(
        family, all_components(family.tensor(np.eye(family.n_components)), family.mean)
    )
    squares = float(np.mean(np.sum(start**2, axis=0)))
    beta = np.clip((1 - squares) / max(len(start) * squares - 1, MIN_PROBABILITY), *TUNING.beta_range)
    n_held = int(TUNING.held * n_sweeps)
    n_dropped = n_held + int(TUNING.dropped * (n_sweeps - n_held))
    topics, n_kept = start, n_sweeps - n_dropped
    halves, total_squares, variances = np.zeros((2, *start.shape)), np.zeros_like(start), np.zeros_like(start)
    for sweep in range(n_sweeps):
        chunks, counts = chunks.map_sum(sample_words, topics, prior, int(rng.integers(2**32)))
        if sweep < n_held:
            continue
        counts = counts + beta
        lengths = counts.sum(axis=0)
        if sweep >= n_dropped:
            mean = counts / lengths
            halves[2 * (sweep - n_dropped) // n_kept] += mean
            total_squares += mean**2
            variances += mean * (1 - mean) / (lengths + 1)
        topics = draw_dirichlet(rng, counts, axis=0)
    topics = halves.sum(axis=0) / n_kept
    between = np.maximum(total_squares / n_kept - topics**2, 0)
    gaps = (halves[1] - halves[0]) / n_kept if n_kept > 1 else np.zeros_like(start)
    rho = np.minimum(np.sum(gaps**2, axis=0) / np.maximum(between.sum(axis=0), MIN_PROBABILITY), 0.5)
    return SampledTopics(start, topics, np.sqrt(variances / n_kept + between * (1 + rho) / (1 - rho)), prior)


def _start_sampling(family: TopicFamily, candidates: Candidates) -> tuple[Array, Array, Chunks[SampledChunk]]:
    """Return the topics of the moment estimates, (d, k), α, (k,), and documents with linear estimates of shares."""
    if family.chunks.sum(lambda chunk: int(np.count_nonzero(chunk.by_document.data % 1))):
        raise SearchError(
            "{argument}=True needs whole counts, but the documents contain fractions. Fit the counts themselves.",
            code="needs_whole_counts",
            argument=Option("refine"),
        )
    weights = np.maximum(candidates.weights / candidates.weights.sum(), TUNING.min_weight / family.n_components)
    prior = family.alpha0 * weights / weights.sum()
    rough = np.maximum(family.frame.unwhiten(candidates.points).astype(np.float64), 0)
    topics = rough / np.maximum(rough.sum(axis=0), 1e-12) + TUNING.smoothing * (family.word_mean + 1e-9)[:, None]
    # The center of a topic with hardly any weight is too noisy to estimate shares from.
    directions = candidates.points * np.where(candidates.weights > 0, candidates.weights, 0)

    def start(chunk: TopicChunk) -> SampledChunk:
        linear = np.clip(chunk.projected.astype(np.float64) @ directions, 0, None) / chunk.lengths[:, None] + prior
        shares = linear / linear.sum(axis=1, keepdims=True)
        return SampledChunk.from_counts(chunk.first, check_indices(chunk.by_document), shares)

    return topics / topics.sum(axis=0), prior, family.chunks.map(start)


def sample_words(chunk: SampledChunk, topics: Array, prior: Array, seed: int) -> tuple[SampledChunk, Array]:
    """Draw the topic of each word and then the shares of each document; sum the words of each topic, (d, k)."""
    rng = np.random.default_rng([seed, chunk.first])
    by_document, by_word = np.zeros(chunk.shares.shape), np.zeros(topics.shape)
    blocks = chunk_rows(chunk.words, max(SWEPT_WORDS, topics.size // 4))
    for index, rows in blocks.enumerate():
        draw_topics(blocks.read(index), chunk.shares[rows], topics, rng, by_document[rows], by_word)
    if chunk.frequent.nnz:
        documents, words = chunk.frequent.nonzero()
        chances = chunk.shares[documents] * topics[words]
        drawn = rng.multinomial(chunk.frequent.data, chances / chances.sum(axis=1, keepdims=True))
        np.add.at(by_document, documents, drawn)
        np.add.at(by_word, words, drawn)
    return replace(chunk, shares=draw_dirichlet(rng, by_document + prior, axis=1)), by_word


def draw_topics(
    X: sp.csr_array, shares: Array, topics: Array, rng: np.random.Generator, by_document: Array, by_word: Array
) -> None:
    """Draw the topic of each word, and add it to the sums.

    In loops over topics, which are few: the draw is the number of topics up to which the chances sum to no more than a
    random part of all.
    """
    (n, k), d, lengths, words = shares.shape, len(topics), np.diff(X.indptr), X.indices.astype(np.intp)
    total, cumulative = np.zeros(len(words), np.float32), np.empty((k, len(words)), np.float32)
    for i, (share, topic) in enumerate(zip(shares.T.astype(np.float32), topics.T.astype(np.float32), strict=True)):
        total += np.repeat(share, lengths) * topic.take(words)
        cumulative[i] = total
    total *= rng.random(len(words), dtype=np.float32)
    drawn = np.zeros(len(words), np.min_scalar_type(k))
    for bound in cumulative[:-1]:
        drawn += bound <= total
    by_document += np.bincount(np.repeat(np.arange(n) * k, lengths) + drawn, minlength=n * k).reshape(n, k)
    words *= k
    words += drawn
    by_word += np.bincount(words, minlength=d * k).reshape(d, k)


def draw_dirichlet(rng: np.random.Generator, parameters: Array, *, axis: int) -> Array:
    """Draw distributions that sum to one along an axis."""
    drawn = rng.standard_gamma(parameters)
    return np.asarray(np.maximum(drawn / np.maximum(drawn.sum(axis=axis, keepdims=True), 1e-300), MIN_PROBABILITY))


def project_to_simplex(point: Array) -> Array:
    """Return the nearest probability vector, max(point - level, 0), (d,): drop entries below until the level stays."""
    positive, n_left = point, 0
    while len(positive) != n_left:
        n_left, level = len(positive), (positive.sum() - 1) / len(positive)
        positive = positive[positive > level]
    return np.asarray(np.maximum(point - level, 0))


def sample_terms(sizes: Array, n: int) -> tuple[Array, Array]:
    """Choose about n terms of a sum: the largest ones, and others at even steps.

    Notes
    -----
    A term is chosen with probability p = min(size / b, 1) and has the weight 1 / p; b follows from Σ p = n. Of the
    terms with p < 1, those are chosen at which the sum of p so far passes an integer and a half (systematic sampling):
    equal sums have equal samples.
    """
    nonzero = np.flatnonzero(sizes != 0)
    if len(nonzero) <= n:
        return nonzero, np.ones(len(nonzero))
    bound = float(sizes.sum()) / n
    is_large = sizes >= bound
    for _ in range(4):  # each step lowers the bound from above, and changes it little from here on
        bound = float(sizes[~is_large].sum()) / max(n - int(np.count_nonzero(is_large)), 1)
        is_large = sizes >= bound
    passed = np.floor(np.cumsum(np.where(is_large, 0.0, sizes / bound)) + 0.5)
    chosen = np.flatnonzero(is_large | (np.diff(passed, prepend=0.0) > 0))
    return chosen, np.maximum(bound / sizes[chosen], 1.0)


def find_spectrum(
    moment_without: Callable[[int], Matrix],
    evaluate: Callable[[list[Array]], Array],
    n_directions: int,
    count_components: Callable[[int], int],
    *,
    min_held: float,
    **solver: Any,
) -> Spectrum:
    """Find directions without one fold, evaluate them on it, for each fold in turn, and count those that hold.

    `evaluate` maps directions for each fold, (d, q), to the sums over its samples of their parts of v'Av and of the
    squares of these, (2, q). A direction found on some samples is independent of the others, where it estimates v'Av
    whatever the noise: so no distribution of the eigenvalues of noise is needed.
    """

    def test_directions(q: int) -> Spectrum:
        found, directions = np.zeros(q), []
        for fold in range(N_FOLDS):
            moment = as_operator(moment_without(fold))
            values, vectors, _ = top_eigenpairs(moment, q, tol=TOL, max_applications=MAX_APPLICATIONS, **solver)
            found += values / N_FOLDS
            directions.append(vectors)
        held_out, squares = evaluate(directions)
        errors = NormalDist().inv_cdf(1 - FALSE_ALARM / max(q, 1)) * np.sqrt(squares)
        thresholds = np.maximum.reduce([errors, min_held * found, np.full(q, MIN_VALUE * held_out.max(initial=0.0))])
        counts = held_out > thresholds
        return Spectrum(held_out, thresholds, counts, 0.0, count_components(int(np.count_nonzero(counts))))

    few = min(max(n_directions // 4, FEW_DIRECTIONS), n_directions)
    spectrum = test_directions(few)
    return spectrum if 2 * spectrum.n_signal <= few or few == n_directions else test_directions(n_directions)


def max_directions(n_samples: int, n_features: int, limit: int) -> int:
    """Return how many directions the samples of all folds but one can resolve."""
    return max(min(n_features, limit, n_samples * (N_FOLDS - 1) // N_FOLDS - 2), 0)

"""Moments of LDA topics: documents of words drawn from Σ θᵢμᵢ with θ Dirichlet(α₁..α_k), α₀ = Σ αᵢ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import weighted_gram
from mixsearch.data.chunks import ArraySum, even_slices, row_slices, sum_chunks
from mixsearch.data.partitions import LocalPartitions, Partitions, SegmentedPartitions, leave_one_out, sums_by_group
from mixsearch.data.reductions import sample_terms
from mixsearch.data.threads import n_cores, one_blas_thread
from mixsearch.errors import HintError, SearchError
from mixsearch.topics.documents import HintedPartition, TopicPartition, check_indices, match_documents
from mixsearch.topics.hint import WordHint
from mixsearch.topics.unit_vectors import MeanDocument

# Words that represent all in a sum of squares, which it changes by about a thousandth.
MAX_DIAGONAL_WORDS = 10_000
# Documents are summed in this many chunks, however many cores there are: then they do not change the sums.
N_CHUNKS = 4
# Fewer are summed before another thread has started.
THREADED_DOCUMENTS = 500


class GroupSums(NamedTuple):
    """Weighted sums over the documents of a group, with hint v and the whitening W of the frame."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    squares: Array  # Σ pair weight x yy', (k, k)
    own_pairs: Array  # Σ pair weight x c, (d,)
    triples: Array  # Σ triple weight ⟨c, v⟩yy', less the pairs of words of the hint with themselves, (k, k)
    own_triples: Array  # Σ triple weight (⟨c, v⟩ - 2v) c, (d,)
    crossed: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class DistinctSums(NamedTuple):
    """Weighted sums over documents, with hint v; x1, x2 and x3 are different words of a document."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    pairs: Array  # W'(Σ ωx1x2')W, (k, k)
    triples: Array  # W'(Σ ω⟨x3, v⟩x1x2')W, (k, k)
    crossed: Array  # W'Σ ω⟨x2, v⟩x1, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class PairSums(NamedTuple):
    """Weighted sums over the documents of a group, with hint v."""

    weight: float  # Σ ω
    mean: Array  # Σ ωx1, (d,)
    crossed: Array  # Σ ω⟨x2, v⟩x1, (d,)


class HintedWords(NamedTuple):
    """A hint v as the words that have a weight in it."""

    columns: Array | slice
    values: Array  # v of these words, (q,)
    weighted: Array  # rows of W, each times its v, (q, k)


def replicate_moments(family: TopicFamily, hint: WordHint | Array, max_documents: int | None = None) -> Replicates:
    """Compute the moments of all documents but one group, for each group in turn."""
    words, matched = _match(family, hint, max_documents)
    sums: tuple[Any, ...] = sums_by_group(matched, _group_sums, words, family.distinct)
    # Subtract before groups are left out: one group contains few of the words, the others together nearly all.
    groups = [_subtract_own(GroupSums(*group), words, family) for group in zip(*sums, strict=True)]
    by_group = [np.array(field) for field in zip(*groups, strict=True)]
    left = zip(*(field.sum(axis=0) - field for field in by_group), strict=True)
    moments = [_compute_moments(DistinctSums(*each), family.alpha0) for each in left]
    return Replicates(*map(np.array, zip(*moments, strict=True)))


def _match(
    family: TopicFamily, hint: WordHint | Array, max_documents: int | None
) -> tuple[HintedWords, Partitions[HintedPartition]]:
    if isinstance(hint, WordHint):
        weighted = family.whitening_rows(hint.columns) * hint.values[:, None]
        matched = family.match_documents(hint, max_documents).map(_sort_by_document)
        return HintedWords(hint.columns, hint.values, weighted), matched
    W = family.whitening_rows(slice(None))
    v = np.asarray(W @ hint)
    return HintedWords(slice(None), v, W * v[:, None]), match_documents(
        family.partitions, slice(None), v, max_documents
    )


def _sort_by_document(partition: HintedPartition) -> HintedPartition:
    """Groups of documents are picked faster from counts by document."""
    return replace(partition, hint_counts=sp.csr_array(partition.hint_counts))


def _group_sums(partition: HintedPartition, rows: slice, words: HintedWords, distinct: bool) -> GroupSums:
    counts, Y = partition.read_documents(rows), partition.projected[rows].astype(np.float64, copy=False)
    pair_weights, weights = partition.pair_weights[rows], partition.document_weights(distinct)[rows]
    per_word = weights / partition.lengths[rows]
    triples, own_triples = _triple_sums(partition, rows, words, distinct)
    return GroupSums(
        weight=float(weights.sum()),
        mean=Y.T @ per_word,
        squares=(Y * pair_weights[:, None]).T @ Y,
        own_pairs=np.asarray(counts.T @ pair_weights) if distinct else np.zeros(0),
        triples=triples,
        own_triples=own_triples,
        crossed=Y.T @ (pair_weights * partition.sampled_scores[rows]),
        mass=float(per_word @ partition.hint_scores[rows]),
    )


def _triple_sums(partition: HintedPartition, group: slice, words: HintedWords, distinct: bool) -> tuple[Array, Array]:
    """Return `triples` and `own_triples` of `GroupSums`. Only documents with words of the hint contribute."""
    rows = np.arange(len(partition.lengths))[group][np.flatnonzero(np.diff(partition.hint_counts[group].indptr))]
    Y, triple_weights = partition.projected[rows].astype(np.float64, copy=False), partition.triple_weights[rows]
    by_triple = triple_weights * partition.sampled_scores[rows]
    triples = np.asarray((Y * by_triple[:, None]).T @ Y)
    if not distinct:
        return triples, np.zeros(0)
    counts = partition.hint_counts[rows]
    own = np.asarray(partition.read_documents(rows).T @ by_triple)
    own[words.columns] -= 2 * words.values * (counts.T @ triple_weights)
    cross = np.asarray(counts @ words.weighted).T @ (Y * triple_weights[:, None])
    return triples - cross - cross.T, own


def _subtract_own(sums: GroupSums, words: HintedWords, family: TopicFamily) -> DistinctSums:
    """Subtract what pairs of a word with itself add."""
    pairs, triples, crossed = sums.squares, sums.triples, sums.crossed
    if family.distinct:
        pairs = pairs - family.whiten_diagonal(sums.own_pairs)
        triples = triples - family.whiten_diagonal(sums.own_triples)
        crossed = crossed - words.weighted.T @ sums.own_pairs[words.columns]
    return DistinctSums(sums.weight, sums.mean, pairs, triples, crossed, sums.mass)


def _compute_moments(sums: DistinctSums, alpha0: float) -> tuple[Array, Array, Array]:
    """Return W'AW, W'BW and W'm by the formulas of section 3.2; W is that of all documents."""
    a0, weight = alpha0, sums.weight
    m, pairs, triples = a0 * sums.mean / weight, sums.pairs / weight, sums.triples / weight
    mass, outer = a0 * sums.mass / weight, np.outer(m, m)
    crossed = np.outer(sums.crossed / weight, m)
    hinted = a0 * (a0 + 1) * (a0 + 2) / 2 * triples
    hinted -= a0 * (a0 + 1) / 2 * (mass * pairs + crossed + crossed.T)
    return a0 * (a0 + 1) * pairs - outer, hinted + mass * outer, m


def replicate_residuals(family: TopicFamily, direction: Array) -> Array:
    """Compute A W u of all documents but one group, (d, B), for a direction u in the frame, (k,)."""
    v = np.asarray(family.whitening_rows(slice(None)) @ direction)
    a0 = family.alpha0
    replicates = []
    for weight, total, crossed in leave_one_out(family.partitions, _pair_sums, v, family.distinct):
        m = a0 * total / weight
        replicates.append(a0 * (a0 + 1) * crossed / weight - m * (m @ v))
    return np.column_stack(replicates)


def _pair_sums(partition: TopicPartition, rows: slice, v: Array, distinct: bool) -> PairSums:
    counts, pair_weights = partition.read_documents(rows), partition.pair_weights[rows]
    weights = partition.document_weights(distinct)[rows]
    crossed = np.asarray(counts.T @ (pair_weights * (counts @ v)))
    if distinct:
        crossed -= v * (counts.T @ pair_weights)
    return PairSums(float(weights.sum()), np.asarray(counts.T @ (weights / partition.lengths[rows])), crossed)


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

    Averages run over different words of a document. Sums over all pairs and triples of words, which are fast, also
    count words with themselves; `own_pairs`, `own_triples` and `own_crossed` hold what those add, to be subtracted.
    """

    frame: Frame
    alpha0: float
    mean: Array  # W'm, (k,)
    word_mean: Array  # E[x1], (d,): the corpus as one distribution over words
    distinct: bool  # different words only; otherwise the plug-in, which counts words with themselves
    own_pairs: Array  # Σ pair weight x c, (d,): pairs of a word with itself
    own_triples: Array  # Σ triple weight x c, (d,): triples of a word with itself
    own_crossed: Array  # Σ triple weight x c y', (d, k): triples of a word with itself and another word
    document_frequency: Array  # the number of documents that contain each word, (d,)
    idf: Array  # of each word at the time of the fit, (d,)
    mean_document: MeanDocument  # means of all documents as unit vectors
    n_applications: int  # passes over the counts that the eigenvectors took
    row_lengths: RowLengths  # with all components of the fit, also if this has fewer
    partitions: Partitions[TopicPartition]
    left_out: Frame | None = None  # directions outside the frame that stand out from the noise, if some were found
    n_hints: ClassVar[int] = 1

    @property
    def n_components(self) -> int:
        """The number of topics of the fit."""
        return self.frame.n_components

    def hinted(self, hint: WordHint | Array, max_documents: int | None = None) -> Hinted:
        """Contract the third moment with a hint over words, or with a hint c in the frame: that of the words v = Wc.

        For words, only documents that contain one of them are read. If there are more than `max_documents`, that many
        at even steps represent all.
        """
        if not isinstance(hint, WordHint):
            return self._hinted_in_frame(self.partitions.reduce(sum_hinted, hint).total, hint)
        mass = self.alpha0 * float(self.word_mean[hint.columns] @ hint.values)
        return self._correct(*self._contract(hint, max_documents), mass, self.project(hint))

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q) -> (q, q, q), in one pass."""
        with one_blas_thread:
            return self.rotate(basis).full_tensor()

    def full_tensor(self) -> Array:
        """Contract the third moment with every coordinate of the frame, (k, k, k), in one pass."""
        thirds, hints = self.partitions.reduce(_tensor_sum).total, np.eye(len(self.mean))
        return np.stack([self._hinted_in_frame(third, c).matrix for third, c in zip(thirds, hints, strict=True)])

    def leave_one_out(self, hint: WordHint | Array, max_documents: int | None = None) -> Replicates:
        """Compute the moments of all documents but one group, for each group in turn."""
        with one_blas_thread:
            return replicate_moments(self, hint, max_documents)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all documents but one group, (d, B), up to vectors of the signal space."""
        with one_blas_thread:
            return replicate_residuals(self, direction)

    def take(self, n_components: int) -> TopicFamily:
        """Return the same fit with the first topics only."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            own_crossed=self.own_crossed[:, :k],
            partitions=self.partitions.map(_take_coordinates, k),
        )

    def thin(self, step: int) -> TopicFamily:
        """Return the same fit with every `step`-th document only. Their weights sum to one again."""
        if step == 1:
            return self
        kept = self.partitions.thin(step)
        kept = kept.map(_scale_weights, kept.reduce(_sum_weights, self.distinct).total).persist()
        sums = kept.reduce(_own_sums)
        return replace(
            self,
            own_pairs=sums.pairs,
            own_triples=sums.triples,
            own_crossed=sums.crossed,
            document_frequency=sums.document_frequency,
            partitions=kept,
        )

    def rotate(self, basis: Array) -> TopicFamily:
        """Return the same fit in the coordinates of orthonormal directions of its frame, (k, q): W becomes W basis."""
        rotated = self.frame.basis @ (basis / np.sqrt(self.frame.values)[:, None])
        return replace(
            self,
            frame=replace(self.frame, basis=rotated, values=np.ones(basis.shape[1])),
            mean=self.mean @ basis,
            own_crossed=self.own_crossed @ basis,
            partitions=self.partitions.map(_rotate_coordinates, basis),
        )

    def project(self, hint: WordHint) -> Array:
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

    def match_documents(self, hint: WordHint, max_documents: int | None) -> Partitions[HintedPartition]:
        """Score documents under a hint over words; at most `max_documents` represent all that match."""
        # No more documents than this can contain its words, so there is no need to count them.
        is_rare = max_documents is not None and self.document_frequency[hint.columns].sum() <= max_documents
        return match_documents(self.partitions, hint.columns, hint.values, None if is_rare else max_documents)

    @property
    def n_words(self) -> float:
        """The number of words of all documents together."""
        return float(self.partitions.reduce(_count_words).total)

    @property
    def segments(self) -> tuple[TopicPartition, ...]:
        """All documents in one partition or a few, if they are in this process."""
        if isinstance(self.partitions, LocalPartitions):
            return (self.partitions.partition,)
        if isinstance(self.partitions, SegmentedPartitions):
            return self.partitions.segments
        raise SearchError(
            "The {n_documents:,} documents of this fit are on a cluster, but this operation needs them in this "
            "process. Fit a corpus in memory, or build an index.",
            code="documents_on_cluster",
            n_documents=self.partitions.n_rows,
        )

    @property
    def local(self) -> TopicPartition:
        """All documents in one partition, if they are in this process."""
        segments = self.segments
        return segments[0] if len(segments) == 1 else TopicPartition.joined(list(segments))

    def _hinted_in_frame(self, third: Array, hint: Array) -> Hinted:
        return self._correct(*self._contract_in_frame(third, hint), float(self.mean @ hint), hint)

    def _contract(self, hint: WordHint, max_documents: int | None = None) -> tuple[Array, Array]:
        """Return W'E[⟨x3,v⟩x1x2']W, (k, k), and W'E[⟨x3,v⟩x1], (k,), over different words of a document.

        Notes
        -----
        A word is never counted with itself: with counts c, triples are
        ⟨c,v⟩cc' - (c*v)c' - c(c*v)' - ⟨c,v⟩diag(c) + 2diag(c*v), and pairs cc' - diag(c), * elementwise.
        """
        columns, values = hint.columns, hint.values
        n_matching, triple, pair, own = self.match_documents(hint, max_documents).reduce(_word_sums, self.distinct)
        if not n_matching:
            raise HintError(
                "No document matches the hint: none contains its words, or their weights cancel.",
                code="no_matching_documents",
            )
        if self.distinct:
            words = self.whitening_rows(columns) * values[:, None]
            crossed = words.T @ self.own_crossed[columns]
            triple -= crossed + crossed.T + self.whiten_diagonal(own)
            triple += 2 * (words * self.own_triples[columns, None]).T @ self.whitening_rows(columns)
            pair -= words.T @ self.own_pairs[columns]
        return triple, pair

    def _contract_in_frame(self, triple: Array, hint: Array) -> tuple[Array, Array]:
        """Contract with v = Wc, given Σ triple weight ⟨y, c⟩yy', (k, k); the rest follows from sums over words."""
        if self.distinct:
            W = self.whitening_rows(slice(None))
            v = W @ hint
            crossed = (W * v[:, None]).T @ self.own_crossed
            triple = triple - crossed - crossed.T
            triple -= self.whiten_diagonal(self.own_crossed @ hint - 2 * v * self.own_triples)
        pair = (hint + (self.mean @ hint) * self.mean) / (self.alpha0 * (self.alpha0 + 1))
        return triple, pair

    def _correct(self, triple: Array, pair: Array, mass: float, hint: Array) -> Hinted:
        """Compute the hinted moment from W'E[⟨x3,v⟩x1x2']W, W'E[⟨x3,v⟩x1] and ⟨m,v⟩.

        Notes
        -----
        With T and q the first two, B = a₀(a₀+1)(a₀+2)/2 T - a₀(a₀+1)/2 (⟨m,v⟩ E[x1x2'] + q m' + m q') + ⟨m,v⟩ mm'. In
        the frame E[x1x2'] becomes (I + W'm m'W) / (a₀(a₀+1)), since A becomes the identity.
        """
        a0, m = self.alpha0, self.mean
        outer, crossed = np.outer(m, m), np.outer(pair, m)
        matrix = a0 * (a0 + 1) * (a0 + 2) / 2 * triple
        matrix -= a0 * (a0 + 1) / 2 * (crossed + crossed.T)
        matrix += mass * outer - mass / 2 * (np.eye(len(m)) + outer)
        return Hinted(matrix, m, hint)


class HintedSums(NamedTuple):
    """Sums over documents, each times its score under a hint."""

    n_matching: int  # documents with a score other than 0
    triple: Array  # Σ triple weight ⟨c, v⟩yy', (k, k)
    pair: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    own: Array  # Σ triple weight ⟨c, v⟩c, (d,); empty for the plug-in


def _word_sums(partition: HintedPartition, distinct: bool) -> HintedSums:
    matching, dtype = np.flatnonzero(partition.sampled_scores != 0), partition.by_document.dtype

    def sum_rows(part: slice) -> HintedSums:
        rows = matching[part]
        Y, scores = partition.projected[rows], partition.sampled_scores[rows]
        by_triple = partition.triple_weights[rows] * scores
        return HintedSums(
            n_matching=len(rows),
            triple=weighted_gram(Y, by_triple),
            pair=np.asarray(Y.T @ (partition.pair_weights[rows] * scores)),
            own=np.asarray(partition.read_documents(rows).T @ by_triple.astype(dtype)) if distinct else np.zeros(0),
        )

    n_threads = n_cores() if len(matching) > THREADED_DOCUMENTS else 1
    return sum_chunks(sum_rows, even_slices(len(matching), N_CHUNKS), n_threads)


def sum_hinted(partition: TopicPartition, hint: Array) -> ArraySum:
    """Sum triple weight ⟨y, c⟩yy', (k, k)."""
    scores = partition.triple_weights * (partition.projected @ hint)
    return ArraySum(weighted_gram(partition.projected, scores, n_threads=n_cores()))


def _tensor_sum(partition: TopicPartition) -> ArraySum:
    """Sum triple weight ⟨y, c⟩yy' for every coordinate as the hint c, (k, k, k)."""
    Y, weights = partition.projected, partition.triple_weights
    return ArraySum(np.stack([weighted_gram(Y, weights * scores, n_threads=n_cores()) for scores in Y.T]))


class OwnSums(NamedTuple):
    """Sums over documents that the fields of `TopicFamily` hold."""

    pairs: Array  # (d,)
    triples: Array  # (d,)
    crossed: Array  # (d, k)
    document_frequency: Array  # (d,)


def _own_sums(partition: TopicPartition) -> OwnSums:
    counts, Y = check_indices(partition.by_document), partition.projected
    return OwnSums(
        pairs=np.asarray(counts.T @ partition.pair_weights),
        triples=np.asarray(counts.T @ partition.triple_weights),
        crossed=np.asarray(counts.T @ (Y * partition.triple_weights[:, None].astype(Y.dtype))),
        document_frequency=np.diff(partition.by_word.indptr),
    )


def _sum_weights(partition: TopicPartition, distinct: bool) -> ArraySum:
    return ArraySum(float(partition.document_weights(distinct).sum()))


def _scale_weights(partition: TopicPartition, total: float) -> TopicPartition:
    return partition.scale_weights(1 / total)


def _count_words(partition: TopicPartition) -> ArraySum:
    return ArraySum(float(partition.lengths.sum()))


def _take_coordinates(partition: TopicPartition, k: int) -> TopicPartition:
    return replace(partition, projected=partition.projected[:, :k])


def _rotate_coordinates(partition: TopicPartition, basis: Array) -> TopicPartition:
    return replace(partition, projected=partition.projected @ basis)

"""LDA topics: documents of words drawn from Σ θᵢμᵢ with θ Dirichlet(α₁..α_k), α₀ = Σ αᵢ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, count_above, frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import multiply_gram_chunks, rescale, symmetric_operator, weighted_gram
from mixsearch.data.chunks import ArraySum, RowChunks, sum_chunks
from mixsearch.data.partitions import LocalPartitions, Partitions
from mixsearch.data.threads import n_cores, one_blas_thread
from mixsearch.errors import HintError, SearchError
from mixsearch.topics._documents import CountPartition, HintedPartition, TopicPartition, Weighing, hear, total_say
from mixsearch.topics._hint import WordHint
from mixsearch.topics._replicates import replicate_outside, replicate_topics

# Vectors that one pass over the counts serves: more passes than with k + 10 of them, but less time in all.
BLOCK = 20


# Of the eigenvectors, as a part of each eigenvalue: rankings of documents are the same at a tenth of it.
TOLERANCE = 1e-2


Allocate = Callable[[tuple[int, int], Any], Array]


@dataclass(frozen=True, slots=True)
class TopicFamily:
    """All that a search among topics needs: the documents in shards, and the frame."""

    frame: Frame
    alpha0: float
    mean: Array  # W'm, (k,)
    word_mean: Array  # E[x1], (d,): the corpus as one distribution over words
    distinct: bool
    own_pairs: Array  # Σ pair weight x c, (d,): what a word's pairs with itself add up to
    own_triples: Array  # Σ triple weight x c, (d,): the same for its triples with itself
    own_crossed: Array  # Σ triple weight x c y', (d, k): and for those with itself and one other word
    holding: Array  # documents that hold each word, (d,)
    n_applications: int  # passes over the counts that the eigenvectors took
    partitions: Partitions[TopicPartition]
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
            return self._hinted_in_frame(self.partitions.reduce(_third, hint).total, hint)
        mass = self.alpha0 * float(self.word_mean[hint.columns] @ hint.values)
        return self._corrected(*self._contract(hint, max_documents), mass, self.project(hint))

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q) -> (q, q, q), in one pass."""
        return self.within(basis)._full_tensor()

    def leave_one_out(self, hint: WordHint | Array, max_documents: int | None = None) -> Replicates:
        """Compute the moments of all documents but one group, for each group in turn."""
        return replicate_topics(self, hint, max_documents)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all documents but one group, (d, B), up to vectors of the signal space."""
        return replicate_outside(self, direction)

    def thin(self, step: int) -> TopicFamily:
        """Return the same fit with every `step`-th document only, its weights scaled up."""
        return replace(self, partitions=self.partitions.thin(step))

    def _full_tensor(self) -> Array:
        thirds, hints = self.partitions.reduce(_all_thirds).total, np.eye(len(self.mean))
        return np.stack([self._hinted_in_frame(third, c).matrix for third, c in zip(thirds, hints, strict=True)])

    def _hinted_in_frame(self, third: Array, hint: Array) -> Hinted:
        return self._corrected(*self._contract_in_frame(third, hint), float(self.mean @ hint), hint)

    def _contract(self, hint: WordHint, max_documents: int | None = None) -> tuple[Array, Array]:
        """W'E[⟨x3,v⟩x1x2']W, (k, k), and W'E[⟨x3,v⟩x1], (k,), over different words of a document.

        Notes
        -----
        A word is never counted with itself: with counts c, triples are
        ⟨c,v⟩cc' - (c*v)c' - c(c*v)' - ⟨c,v⟩diag(c) + 2diag(c*v), and pairs cc' - diag(c), * elementwise.
        """
        columns, values = hint.columns, hint.values
        n_telling, triple, pair, own = self.hear(hint, max_documents).reduce(_contracted, self.distinct)
        if not n_telling:
            raise HintError("No document tells anything of the hint: none holds its words, or their weights cancel.")
        if self.distinct:
            words = self.whitener(columns) * values[:, None]
            crossed = words.T @ self.own_crossed[columns]
            triple -= crossed + crossed.T + self.diagonal(own)
            triple += 2 * (words * self.own_triples[columns, None]).T @ self.whitener(columns)
            pair -= words.T @ self.own_pairs[columns]
        return triple, pair

    def hear(self, hint: WordHint, max_documents: int | None) -> Partitions[HintedPartition]:
        """What documents tell of the words of a hint, so many of them at most."""
        # No more documents than that can hold its words: there is no need to count them.
        is_rare = max_documents is not None and self.holding[hint.columns].sum() <= max_documents
        return hear(self.partitions, hint.columns, hint.values, None if is_rare else max_documents)

    def _contract_in_frame(self, triple: Array, hint: Array) -> tuple[Array, Array]:
        """The same for v = Wc, from Σ triple weight ⟨y, c⟩yy', (k, k), and three sums over the words."""
        if self.distinct:
            W = self.whitener(slice(None))
            v = W @ hint
            crossed = (W * v[:, None]).T @ self.own_crossed
            triple = triple - crossed - crossed.T
            triple -= self.diagonal(self.own_crossed @ hint - 2 * v * self.own_triples)
        pair = (hint + (self.mean @ hint) * self.mean) / (self.alpha0 * (self.alpha0 + 1))
        return triple, pair

    def _corrected(self, triple: Array, pair: Array, mass: float, hint: Array) -> Hinted:
        """From W'E[⟨x3,v⟩x1x2']W, W'E[⟨x3,v⟩x1] and ⟨m,v⟩ to the hinted moment.

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

    def diagonal(self, weights: Array) -> Array:
        """W'diag(weights)W, (k, k)."""
        scaled = weights if self.frame.metric is None else weights * self.frame.metric**2
        held = np.flatnonzero(scaled)
        V, root = self.frame.basis, np.sqrt(self.frame.values)
        if 0 < 2 * len(held) < len(scaled):  # else picking rows costs more than it saves
            V, scaled = V[held], scaled[held]
        return np.asarray(weighted_gram(V, scaled, precision=V.dtype, n_threads=n_cores()) / np.outer(root, root))

    def whitener(self, words: Array | slice) -> Array:
        """Rows of W, (q, k)."""
        scale = 1.0 if self.frame.metric is None else self.frame.metric[words, None]
        return self.frame.basis[words] * scale / np.sqrt(self.frame.values)

    def project(self, hint: WordHint) -> Array:
        """The hint in the frame, (k,)."""
        plain = hint.values if self.frame.metric is None else hint.values / self.frame.metric[hint.columns]
        return np.asarray(np.sqrt(self.frame.values) * (plain @ self.frame.basis[hint.columns]))

    def take(self, n_components: int) -> TopicFamily:
        """The same fit with fewer topics."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            own_crossed=self.own_crossed[:, :k],
            partitions=self.partitions.map(_first_coordinates, k),
        )

    def within(self, basis: Array) -> TopicFamily:
        """The same fit in the coordinates of some orthonormal directions of its frame, (k, q): W becomes W basis."""
        turned = self.frame.basis @ (basis / np.sqrt(self.frame.values)[:, None])
        return replace(
            self,
            frame=replace(self.frame, basis=turned, values=np.ones(basis.shape[1])),
            mean=self.mean @ basis,
            own_crossed=self.own_crossed @ basis,
            partitions=self.partitions.map(_turned, basis),
        )

    @property
    def n_words(self) -> float:
        """Of all documents together."""
        return float(self.partitions.reduce(_n_words).total)

    @property
    def here(self) -> TopicPartition:
        """All documents, where they are in this process."""
        if isinstance(self.partitions, LocalPartitions):
            partition: TopicPartition = self.partitions.partition
            return partition
        raise SearchError(
            f"The {self.partitions.n_rows:,} documents of this fit are on a cluster, and what was asked for needs "
            "them in "
            "this process. Fit a corpus in memory, or an index."
        )


def _n_words(partition: TopicPartition) -> ArraySum:
    return ArraySum(float(partition.lengths.sum()))


class Contracted(NamedTuple):
    """Sums over documents, each times what it tells of a hint."""

    n_telling: int  # documents that tell anything
    triple: Array  # Σ triple weight ⟨c, v⟩yy', (k, k)
    pair: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    own: Array  # Σ triple weight ⟨c, v⟩c, (d,); nothing for the plug-in


def _contracted(partition: HintedPartition, distinct: bool) -> Contracted:
    rows = np.flatnonzero(partition.heard)
    Y, told = partition.projected[rows], partition.heard[rows]
    by_triple = partition.triple_weights[rows] * told
    return Contracted(
        n_telling=len(rows),
        triple=weighted_gram(Y, by_triple, n_threads=n_cores()),
        pair=np.asarray(Y.T @ (partition.pair_weights[rows] * told)),
        own=np.asarray(partition.by_document[rows].T @ by_triple) if distinct else np.zeros(0),
    )


def _third(partition: TopicPartition, hint: Array) -> ArraySum:
    """Σ triple weight ⟨y, c⟩yy', (k, k)."""
    told = partition.triple_weights * (partition.projected @ hint)
    return ArraySum(weighted_gram(partition.projected, told, n_threads=n_cores()))


def _all_thirds(partition: TopicPartition) -> ArraySum:
    """The same for every coordinate as a hint, (k, k, k)."""
    Y, weights = partition.projected, partition.triple_weights
    return ArraySum(np.stack([weighted_gram(Y, weights * told, n_threads=n_cores()) for told in Y.T]))


def _first_coordinates(partition: TopicPartition, k: int) -> TopicPartition:
    return replace(partition, projected=partition.projected[:, :k])


def _turned(partition: TopicPartition, basis: Array) -> TopicPartition:
    return replace(partition, projected=partition.projected @ basis)


def fit_topics(
    partitions: Partitions[CountPartition],
    n_components: int,
    *,
    alpha0: float,
    distinct: bool,
    say: Callable[[Array], Array],
    metric: float,
    seed: int,
    allocate: Allocate = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> TopicFamily:
    """Find the signal space of the topics and project the documents onto it, in passes over blocks of documents.

    Parameters
    ----------
    partitions : Shards of documents
        Of at least three words each (of any length for the plug-in).
    n_components : int
        k; fewer are fitted where A has fewer positive eigenvalues.
    alpha0 : float
        The sum of the Dirichlet parameters.
    distinct : bool
        Average over different words of a document; else the plug-in of the paper, which counts words with themselves.
    say : callable
        From the lengths of the documents to the weight of each in all averages, (n,). Any leaves the moments unbiased.
    metric : float
        Measure word w in units of its frequency to this power.
    seed : int
        Of the eigen-solver's starting block.
    allocate : callable
        (shape, dtype) -> an array to hold the projected documents; on disk, for instance.
    on_pass : callable, optional
        Told the number of passes over the counts after each.
    """
    weighing = Weighing(say, partitions.reduce(total_say, say).total, distinct)
    weighed, sums = partitions.map_reduce(_weigh, weighing)
    word_mean, own_pairs, own_triples = sums.words.T.copy()
    units = units_of(word_mean, metric)
    second = rescale(
        _pairs(weighed),
        scale=alpha0 * (alpha0 + 1),
        metric=units,
        diagonal=units**2 * own_pairs if distinct else np.zeros_like(units),
        direction=alpha0 * units * word_mean,
    )
    # Real text has no gap in its spectrum to converge to: at this residual its rankings of documents stand still. Nor
    # has it equal eigenvalues, so that a narrow block does.
    with one_blas_thread:
        values, vectors, n_applications = top_eigenpairs(
            second,
            n_components,
            seed=seed,
            tol=TOLERANCE,
            block=BLOCK,
            n_threads=n_cores(),
            on_application=on_pass,
        )
    # Past the true rank the eigenvalues of A turn negative; at least the first one must not.
    k = max(count_above(values), 1)
    frame = replace(frame_from_eigenpairs(values[:k], vectors[:, :k]), metric=units)
    projected, crossed = weighed.map_reduce(_project, _whitener(frame), allocate)
    return TopicFamily(
        frame=frame,
        alpha0=alpha0,
        mean=frame.whiten(alpha0 * word_mean),
        word_mean=word_mean,
        distinct=distinct,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=crossed.total,
        holding=sums.holding,
        n_applications=n_applications,
        partitions=projected,
    )


@dataclass(frozen=True)
class WeightedPartition(CountPartition):
    """Documents with the weight of their pairs and triples of words in all averages."""

    _: KW_ONLY
    pair_weights: Array  # (n,)
    triple_weights: Array  # (n,)


class WordSums(NamedTuple):
    """Sums over documents that are known before any pass over their pairs of words."""

    words: Array  # of counts, as frequencies and with the weights of pairs and of triples, (d, 3)
    holding: Array  # documents that hold each word, (d,)


def _weigh(partition: CountPartition, weighing: Weighing) -> tuple[WeightedPartition, WordSums]:
    shares, by_pair, by_triple = weighing.weights(partition.lengths)
    weights = np.column_stack([shares / partition.lengths, by_pair, by_triple])
    sums = WordSums(sum_rows(partition.counts, weights), np.diff(partition.by_word.indptr))
    return WeightedPartition(**vars(partition), pair_weights=by_pair, triple_weights=by_triple), sums


def _pairs(partitions: Partitions[WeightedPartition]) -> LinearOperator:
    """Q -> Σ pair weight cc'Q: one pass over the counts for a whole block of vectors."""

    def apply(Q: Array) -> Array:
        return np.asarray(partitions.reduce(_apply_to_pairs, np.ascontiguousarray(Q)).total)

    return symmetric_operator(partitions.n_features, partitions.layout.dtype, apply)


def _apply_to_pairs(partition: WeightedPartition, Q: Array) -> ArraySum:
    return multiply_gram_chunks(partition.counts, Q, partition.pair_weights)


def sum_rows(counts: RowChunks, weights: Array) -> Array:
    """X' weights, (d, q)."""

    def work(block: tuple[int, slice]) -> ArraySum:
        number, rows = block
        return ArraySum(np.asarray(counts.read(number).T @ weights[rows]))

    return np.asarray(sum_chunks(work, counts.enumerate(), n_cores()).total)


def _whitener(frame: Frame) -> Array:
    """W, (d, k), in the precision of the frame."""
    V, units, roots = frame.basis, frame.metric, np.sqrt(frame.values)
    scaled = V if units is None else V * units[:, None].astype(V.dtype)
    return np.ascontiguousarray(scaled / roots.astype(V.dtype))


def _project(partition: WeightedPartition, whitener: Array, allocate: Allocate) -> tuple[TopicPartition, ArraySum]:
    """The documents with their whitened counts Y, and Σ triple weight x c y', (d, k)."""
    counts = partition.counts
    projected = allocate((counts.shape[0], whitener.shape[1]), counts.dtype)

    def work(block: tuple[int, slice]) -> ArraySum:
        number, rows = block
        X = counts.read(number)
        projected[rows] = Y = X @ whitener
        return ArraySum(np.asarray(X.T @ (Y * partition.triple_weights[rows, None].astype(Y.dtype))))

    crossed = sum_chunks(work, counts.enumerate(), n_cores())
    known = {name: value for name, value in vars(partition).items() if name != "stored"}
    return TopicPartition(**known, projected=projected), crossed


def units_of(word_mean: Array, metric: float) -> Array:
    """The scale of each word, p^(-metric), with words that never occur left alone."""
    return np.where(word_mean > 0, word_mean, 1.0) ** -metric

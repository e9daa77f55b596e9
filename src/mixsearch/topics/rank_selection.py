"""Estimate the number of topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.rank_selection import (
    N_FOLDS,
    Folds,
    FoldSums,
    Spectrum,
    find_spectrum,
    max_directions,
    sum_held_out,
)
from mixsearch.core.second_moment import multiply_gram_chunks, rescale, symmetric_operator
from mixsearch.data.chunks import ArraySum, RowChunks, add_all, sum_chunks
from mixsearch.data.partitions import Partitions
from mixsearch.data.threads import n_cores, one_blas_thread
from mixsearch.topics.documents import CountPartition, DocumentWeights, Weighting, weight_documents
from mixsearch.topics.fit import BLOCK, sum_rows, word_scale

# Directions to test: the more text, the more of them stand out.
MAX_TOPICS = 200
# If a direction keeps at least half of its eigenvalue v'Av = λ on other documents, λvv' brings the sum of those before
# it nearer to A; otherwise further away. Text has hundreds that keep a little: habits of authors, phrases.
MIN_HELD = 0.5


def topic_spectrum(
    partitions: Partitions[CountPartition],
    *,
    alpha0: float,
    distinct: bool,
    weighting: Weighting,
    metric: float,
    seed: int,
) -> Spectrum:
    """Count the topics: as many as directions, and at least one."""
    n, d = partitions.shape
    weights = weight_documents(partitions, weighting, distinct=distinct)
    sums = partitions.reduce(_fold_word_sums, weights)
    units = word_scale(sums.words, metric)
    scale, mean = alpha0 * (alpha0 + 1), alpha0 * units * sums.words

    def second_moment_without(fold: int) -> Matrix:
        def apply(Q: Array) -> Array:
            return np.asarray(partitions.reduce(_multiply_without, fold, np.ascontiguousarray(Q), weights).total)

        others = np.arange(N_FOLDS) != fold
        return rescale(
            symmetric_operator(d, partitions.layout.dtype, apply),
            scale=scale / float(sums.weights[others].sum()),
            metric=units,
            diagonal=units**2 * sums.own_pairs[others].sum(axis=0),
            direction=mean,
        )

    def evaluate(directions: list[Array]) -> FoldSums:
        words = [(units[:, None] * V).astype(partitions.layout.dtype) for V in directions]
        return partitions.reduce(evaluate_directions, words, [(mean @ V) ** 2 for V in directions], scale, weights)

    with one_blas_thread:
        return find_spectrum(
            Folds(second_moment_without, evaluate),
            max_directions(n, d, MAX_TOPICS),
            lambda k: max(k, 1),
            n_features=None,
            min_held=MIN_HELD,
            seed=seed,
            n_threads=n_cores(),
            block=BLOCK,
        )


class FoldWordSums(NamedTuple):
    """Sums over documents, some of them for each fold."""

    words: Array  # of frequencies, (d,)
    own_pairs: Array  # of pairs of a word with itself, (3, d)
    weights: Array  # of the weights of documents, (3,)


def _fold_word_sums(partition: CountPartition, document_weights: DocumentWeights) -> FoldWordSums:
    weights, by_pair, _ = document_weights.compute(partition.lengths)
    folds = [_is_in(partition, fold) for fold in range(N_FOLDS)]
    counts = partition.counts
    own = counts if document_weights.distinct else replace(counts, read=lambda index: counts.read(index).power(2))
    return FoldWordSums(
        words=sum_rows(counts, (weights / partition.lengths)[:, None])[:, 0],
        own_pairs=sum_rows(own, np.column_stack([by_pair * fold for fold in folds])).T,
        weights=np.array([weights[fold].sum() for fold in folds]),
    )


def _is_in(partition: CountPartition, fold: int) -> Array:
    """Return which documents are in a fold, as a mask, (n,)."""
    picked = np.zeros(len(partition.lengths), dtype=bool)
    picked[partition.rows_at(N_FOLDS, fold)] = True
    return picked


def _multiply_without(
    partition: CountPartition, left_out: int, Q: Array, document_weights: DocumentWeights
) -> ArraySum:
    """Sum pair weight cc'Q over all documents but those of one fold."""
    picked = ~_is_in(partition, left_out)
    _, by_pair, _ = document_weights.compute(partition.lengths[picked])
    return multiply_gram_chunks(_pick_rows(partition.counts, picked), Q, by_pair)


def evaluate_directions(
    partition: CountPartition,
    words: list[Array],
    mean_squares: list[Array],
    scale: float,
    document_weights: DocumentWeights,
) -> FoldSums:
    """Sum v'Av over the documents of each fold for its directions v, (d, q), in units of the counts, given ⟨m, v⟩²."""
    evaluated = []
    for fold, (directions, squares) in enumerate(zip(words, mean_squares, strict=True)):
        picked = _is_in(partition, fold)
        counts, weights = _pick_rows(partition.counts, picked), document_weights.compute(partition.lengths[picked])
        evaluated.append(_evaluate_pairs(counts, weights, directions, squares, scale, document_weights.distinct))
    return add_all(evaluated)


def _evaluate_pairs(
    counts: RowChunks,
    weights: tuple[Array, Array, Array],
    words: Array,
    mean_squares: Array,
    scale: float,
    distinct: bool,
) -> FoldSums:
    by_document, by_pair, _ = weights

    def evaluate_chunk(chunk: tuple[int, slice]) -> FoldSums:
        index, rows = chunk
        X = counts.read(index)
        own = (X if distinct else X.multiply(X).tocsr()) @ words**2
        pairs = np.asarray((X @ words) ** 2 - own, dtype=np.float64)
        values = scale * by_pair[rows, None] * pairs - by_document[rows, None] * mean_squares
        return sum_held_out(values, np.zeros(len(values)))

    return sum_chunks(evaluate_chunk, counts.enumerate(), n_cores())


def _pick_rows(counts: RowChunks, is_picked: Array) -> RowChunks:
    """Return some of the rows, read from their chunks."""
    picked = [np.flatnonzero(is_picked[rows]) for rows in counts.slices]
    ends = np.cumsum([0, *map(len, picked)])
    return replace(
        counts,
        slices=[slice(int(a), int(b)) for a, b in pairwise(ends)],
        read=lambda index: counts.read(index)[picked[index]],
        shape=(int(ends[-1]), counts.shape[1]),
        n_nonzeros=counts.n_nonzeros * int(ends[-1]) // max(counts.shape[0], 1),
    )

"""How many topics there are: documents in parts, from which their spectrum is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.rank_selection import N_FOLDS, Folds, FoldSums, Spectrum, find_spectrum, max_directions, sums_of
from mixsearch.core.second_moment import multiply_gram_chunks, rescale, symmetric_operator
from mixsearch.data.chunks import ArraySum, RowChunks, add_all, sum_chunks
from mixsearch.data.partitions import Partitions
from mixsearch.data.threads import n_cores, one_blas_thread
from mixsearch.topics._documents import CountPartition, Weighing, total_say
from mixsearch.topics._moments import BLOCK, sum_rows, units_of

# Directions to look at: text shows more of them the more of it there is.
MOST_TOPICS = 200


# Of a direction that keeps half of its eigenvalue v'Av = λ on other documents, or more, λvv' brings the sum of those
# before it nearer to A; of others, further away. Text has hundreds that hold a little: habits of authors, phrases.
LEAST_HELD = 0.5


def topic_spectrum(
    partitions: Partitions[CountPartition],
    *,
    alpha0: float,
    distinct: bool,
    say: Callable[[Array], Array],
    metric: float,
    seed: int,
) -> Spectrum:
    """How many topics there are: as many as directions, and one at least.

    Parameters
    ----------
    partitions : Shards of documents
    alpha0, distinct, say, metric, seed
        As `fit_topics` takes them. Words are never paired with themselves here, not even for the plug-in: such pairs
        show in every direction.
    """
    n, d = partitions.shape
    weighing = Weighing(say, partitions.reduce(total_say, say).total, distinct)
    sums = partitions.reduce(_words, weighing)
    units = units_of(sums.words, metric)
    scale, mean = alpha0 * (alpha0 + 1), alpha0 * units * sums.words

    def second_beside(part: int) -> Matrix:
        def apply(Q: Array) -> Array:
            return np.asarray(partitions.reduce(_applied_beside, part, np.ascontiguousarray(Q), weighing).total)

        others = np.arange(N_FOLDS) != part
        return rescale(
            symmetric_operator(d, partitions.layout.dtype, apply),
            scale=scale / float(sums.shares[others].sum()),
            metric=units,
            diagonal=units**2 * sums.own_pairs[others].sum(axis=0),
            direction=mean,
        )

    def show(directions: list[Array]) -> FoldSums:
        words = [(units[:, None] * V).astype(partitions.layout.dtype) for V in directions]
        return partitions.reduce(show_directions, words, [(mean @ V) ** 2 for V in directions], scale, weighing)

    with one_blas_thread:
        return find_spectrum(
            Folds(second_beside, show),
            max_directions(n, d, MOST_TOPICS),
            lambda k: max(k, 1),
            n_features=None,
            least_held=LEAST_HELD,
            seed=seed,
            n_threads=n_cores(),
            block=BLOCK,
        )


class WordSums(NamedTuple):
    """Sums over documents, some of them for each part."""

    words: Array  # of frequencies, (d,)
    own_pairs: Array  # of a word's pairs with itself, (3, d)
    shares: Array  # of what documents have a say in, (3,)


def _words(partition: CountPartition, weighing: Weighing) -> WordSums:
    shares, by_pair, _ = weighing.weights(partition.lengths)
    parts = [_is_in(partition, part) for part in range(N_FOLDS)]
    counts = partition.counts
    own = counts if weighing.distinct else replace(counts, read=lambda number: counts.read(number).power(2))
    return WordSums(
        words=sum_rows(counts, (shares / partition.lengths)[:, None])[:, 0],
        own_pairs=sum_rows(own, np.column_stack([by_pair * part for part in parts])).T,
        shares=np.array([shares[part].sum() for part in parts]),
    )


def _is_in(partition: CountPartition, part: int) -> Array:
    """Which documents are in a part, (n,)."""
    picked = np.zeros(len(partition.lengths), dtype=bool)
    picked[partition.rows_at(N_FOLDS, part)] = True
    return picked


def _applied_beside(partition: CountPartition, left_out: int, Q: Array, weighing: Weighing) -> ArraySum:
    """Σ pair weight cc'Q over all documents but those of one part."""
    picked = ~_is_in(partition, left_out)
    _, by_pair, _ = weighing.weights(partition.lengths[picked])
    return multiply_gram_chunks(_rows_where(partition.counts, picked), Q, by_pair)


def show_directions(
    partition: CountPartition, words: list[Array], off: list[Array], scale: float, weighing: Weighing
) -> FoldSums:
    """What the documents of each part show of its directions, (d, q) in units of the counts, less ⟨m, v⟩²."""
    shown = []
    for part, (directions, mean) in enumerate(zip(words, off, strict=True)):
        picked = _is_in(partition, part)
        weights = weighing.weights(partition.lengths[picked])
        shown.append(
            _show_pairs(_rows_where(partition.counts, picked), weights, directions, mean, scale, weighing.distinct)
        )
    return add_all(shown)


def _show_pairs(
    counts: RowChunks,
    weights: tuple[Array, Array, Array],
    words: Array,
    off: Array,
    scale: float,
    distinct: bool,
) -> FoldSums:
    shares, by_pair, _ = weights

    def work(block: tuple[int, slice]) -> FoldSums:
        number, rows = block
        X = counts.read(number)
        own = (X if distinct else X.multiply(X).tocsr()) @ words**2
        pairs = np.asarray((X @ words) ** 2 - own, dtype=np.float64)
        values = scale * by_pair[rows, None] * pairs - shares[rows, None] * off
        return sums_of(values, np.zeros(len(values)))

    return sum_chunks(work, counts.enumerate(), n_cores())


def _rows_where(counts: RowChunks, is_picked: Array) -> RowChunks:
    """Some of the rows, read where the others are."""
    picked = [np.flatnonzero(is_picked[rows]) for rows in counts.slices]
    ends = np.cumsum([0, *map(len, picked)])
    return replace(
        counts,
        slices=[slice(int(a), int(b)) for a, b in pairwise(ends)],
        read=lambda number: counts.read(number)[picked[number]],
        shape=(int(ends[-1]), counts.shape[1]),
        n_nonzeros=counts.n_nonzeros * int(ends[-1]) // max(counts.shape[0], 1),
    )

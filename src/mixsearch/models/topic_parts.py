"""How many topics there are: documents in parts, from which their spectrum is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from mixsearch.blocks import RowBlocks, n_cores, one_blas_thread, sum_blocks
from mixsearch.models.second_moment import change, second_moment_of_blocks
from mixsearch.models.spectrum import N_PARTS, Part, Shown, Spectrum, find_spectrum, most_directions, sums_of
from mixsearch.models.topics import BLOCK, sum_rows, units_of
from mixsearch.types import Array

# Directions to look at: text shows more of them the more of it there is.
MOST_TOPICS = 200
# Of a direction that keeps half of its eigenvalue v'Av = λ on other documents, or more, λvv' brings the sum of those
# before it nearer to A; of others, further away. Text has hundreds that hold a little: habits of authors, phrases.
LEAST_HELD = 0.5


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs of words of documents, rescaled: what A of topics is the average of."""

    scale: float  # a₀(a₀ + 1)
    units: Array  # (d,), of each word
    mean: Array  # m in these units, (d,)
    distinct: bool

    def part(self, counts: RowBlocks, says: Array, lengths: Array) -> Part:
        weights = says / (lengths * (lengths - 1) if self.distinct else lengths**2)
        own = _own_pairs(counts, weights, squared=not self.distinct)
        second = change(
            second_moment_of_blocks(counts, weights),
            scale=self.scale,
            metric=self.units,
            diagonal=self.units**2 * own,
            direction=np.sqrt(says.sum()) * self.mean,
        )
        return Part(float(says.sum()), second, partial(self.show, counts, says, weights))

    def show(self, counts: RowBlocks, says: Array, weights: Array, V: Array) -> Shown:
        words = (self.units[:, None] * V).astype(counts.dtype)
        off = (self.mean @ V) ** 2

        def work(block: tuple[int, slice]) -> Shown:
            number, rows = block
            X = counts.read(number)
            own = (X if self.distinct else X.multiply(X).tocsr()) @ words**2
            pairs = np.asarray((X @ words) ** 2 - own, dtype=np.float64)
            values = self.scale * weights[rows, None] * pairs - says[rows, None] * off
            return sums_of(values, np.zeros(len(values)))

        return sum_blocks(work, counts.numbered(), n_cores())


def topic_spectrum(
    counts: RowBlocks, *, alpha0: float, distinct: bool, say: Callable[[Array], Array], metric: float, seed: int
) -> Spectrum:
    """How many topics there are: as many as directions, and one at least.

    Parameters
    ----------
    counts : RowBlocks of shape (n, d)
    alpha0, distinct, say, metric, seed
        As `fit_topics` takes them. Words are never paired with themselves here, not even for the plug-in: such pairs
        show in every direction.
    """
    n, d = counts.shape
    lengths = np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.numbered()])
    says = say(lengths) / say(lengths).sum()
    word_mean = sum_rows(counts, (says / lengths)[:, None])[:, 0]
    units = units_of(word_mean, metric)
    pairs = _Pairs(alpha0 * (alpha0 + 1), units, alpha0 * units * word_mean, distinct)
    parts = [
        pairs.part(_rows_of(counts, first), says[first::N_PARTS], lengths[first::N_PARTS]) for first in range(N_PARTS)
    ]
    with one_blas_thread:
        return find_spectrum(
            parts,
            most_directions(n, d, MOST_TOPICS),
            lambda k: max(k, 1),
            n_features=None,
            least_held=LEAST_HELD,
            seed=seed,
            n_threads=n_cores(),
            block=BLOCK,
        )


def _rows_of(counts: RowBlocks, first: int) -> RowBlocks:
    """Every third row, read where the others are."""
    picked = [slice((first - rows.start) % N_PARTS, None, N_PARTS) for rows in counts.slices]
    ends = np.cumsum(
        [0, *(len(range(rows.stop - rows.start)[pick]) for rows, pick in zip(counts.slices, picked, strict=True))]
    )
    slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    shape = (int(ends[-1]), counts.shape[1])
    return replace(
        counts,
        slices=slices,
        read=lambda number: counts.read(number)[picked[number]],
        shape=shape,
        n_nonzeros=counts.n_nonzeros // N_PARTS,
    )


def _own_pairs(counts: RowBlocks, weights: Array, *, squared: bool) -> Array:
    if not squared:
        return sum_rows(counts, weights[:, None])[:, 0]
    square = replace(counts, read=lambda number: counts.read(number).power(2))
    return sum_rows(square, weights[:, None])[:, 0]

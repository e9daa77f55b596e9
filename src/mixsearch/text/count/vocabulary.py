"""The words of a whole corpus: how often each occurs, which to keep, and how they are spelled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.count.ngrams import BlockCounts
from mixsearch.text.options import CorpusOptions


@dataclass(frozen=True)
class PartitionCounts:
    """Words by their keys, with the documents they occur in and how often they do."""

    keys: Array  # uint64, (n,), rising
    documents: Array  # (n,)
    totals: Array  # (n,)

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, chosen: Array) -> PartitionCounts:
        """Only the words of a mask."""
        return PartitionCounts(self.keys[chosen], self.documents[chosen], self.totals[chosen])


class GrowingTally:
    """A tally that blocks are added to, in memory of 24 bytes for each different word.

    Notes
    -----
    Tallies are merged only with others of about their size, as in a binary counter: each word takes part in as many
    merges as the logarithm of the number of blocks.
    """

    def __init__(self) -> None:
        self._parts: list[PartitionCounts] = []

    def add(self, counts: BlockCounts) -> None:
        """Add the words of a block."""
        self._parts.append(tally_block(counts))
        while len(self._parts) > 1 and len(self._parts[-2]) <= 2 * len(self._parts[-1]):
            last = self._parts.pop()
            self._parts.append(add_tallies(self._parts.pop(), last))

    def total(self) -> PartitionCounts:
        """The tally of all blocks."""
        empty = np.empty(0, dtype=np.int64)
        return reduce(add_tallies, reversed(self._parts), PartitionCounts(empty.astype(np.uint64), empty, empty))


def tally_block(counts: BlockCounts) -> PartitionCounts:
    """The tally of one block."""
    n_words = len(counts.keys)
    documents = np.bincount(counts.words, minlength=n_words)
    totals = np.bincount(counts.words, weights=counts.counts, minlength=n_words).astype(np.int64)
    tally = PartitionCounts(counts.keys, documents, totals)
    return tally if documents.all() else tally.take(documents > 0)


def add_tallies(one: PartitionCounts, other: PartitionCounts) -> PartitionCounts:
    """The tally of two sets of documents together."""
    keys = np.concatenate([one.keys, other.keys])
    # Two sorted runs: the stable sort is a merge.
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(keys):
        return one
    documents = np.concatenate([one.documents, other.documents])[order]
    totals = np.concatenate([one.totals, other.totals])[order]
    return PartitionCounts(keys[starts], np.add.reduceat(documents, starts), np.add.reduceat(totals, starts))


@dataclass(frozen=True)
class Vocabulary:
    """The words that are counted, and the column of each."""

    words: list[str]
    keys: Array  # uint64, (d,), rising
    columns: Array  # of each key, (d,)
    documents: Array  # by column, (d,)
    totals: Array  # by column, (d,)

    def columns_of(self, keys: Array) -> Array:
        """The column of each key, or -1 where it is not counted."""
        nearest = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[nearest] == keys, self.columns[nearest], -1)


def choose_words(tally: PartitionCounts, n_documents: int, options: CorpusOptions) -> PartitionCounts:
    """The words within `min_df` and `max_df`."""
    if not len(tally):
        raise SearchError(
            f"Found no words in {n_documents:,} documents, needed some: is it the right text column and token pattern?"
        )
    least, most = _as_count(options.min_df, n_documents), _as_count(options.max_df, n_documents)
    chosen = tally.take((tally.documents >= least) & (tally.documents <= most))
    if not len(chosen):
        raise SearchError(
            f"Found no word that occurs in {least:g} to {most:g} of {n_documents:,} documents, needed at least one: "
            f"lower min_df={options.min_df!r} or raise max_df={options.max_df!r}."
        )
    if options.max_words is not None and len(chosen) > options.max_words:
        # Words as frequent as the last one stay, until the alphabet decides.
        fewest = np.partition(chosen.totals, -options.max_words)[-options.max_words]
        chosen = chosen.take(chosen.totals >= fewest)
    return chosen


def name_words(tally: PartitionCounts, blocks: Iterable[BlockCounts]) -> list[str]:
    """The words of a tally as strings, from the letters that the blocks have kept."""
    words = [""] * len(tally)
    missing = np.ones(len(tally), dtype=bool)
    for block in blocks:
        if not missing.any():
            break
        nearest = np.searchsorted(tally.keys, block.keys).clip(max=len(tally) - 1)
        new = np.flatnonzero((tally.keys[nearest] == block.keys) & missing[nearest])
        letters, ends = _decode(block.letters), np.cumsum(block.lengths)[new]
        starts = ends - block.lengths[new]
        for position, start, end in zip(nearest[new].tolist(), starts.tolist(), ends.tolist(), strict=True):
            words[position] = letters[start:end]
        missing[nearest[new]] = False
    return words


def order_words(tally: PartitionCounts, words: list[str], max_words: int | None, *, by_alphabet: bool) -> Vocabulary:
    """Give the words their columns: in alphabetical order, or in that of their keys.

    Of equally frequent words, `max_words` keeps those that come first in the alphabet.
    """
    chosen = list(range(len(words)))
    if max_words is not None and len(words) > max_words:
        totals = tally.totals.tolist()
        chosen = sorted(chosen, key=lambda i: (-totals[i], words[i]))[:max_words]
    chosen.sort(key=words.__getitem__ if by_alphabet else int)
    order = np.array(chosen, dtype=np.int64)
    columns = np.argsort(order)
    kept = tally.take(order)
    return Vocabulary([words[i] for i in chosen], tally.keys[np.sort(order)], columns, kept.documents, kept.totals)


def _as_count(frequency: int | float, n_documents: int) -> float:
    return frequency if isinstance(frequency, int) else frequency * n_documents


def _decode(letters: Array) -> str:
    if letters.dtype == np.uint8:
        return letters.tobytes().decode("latin-1")
    return letters.tobytes().decode("utf-32-le", "surrogatepass")

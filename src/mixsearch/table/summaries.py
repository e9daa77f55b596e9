"""Summaries of columns, counted in each chunk of a table and added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk
from mixsearch.table.columns import Column, Kind, TextKind, judge_text, read_texts
from mixsearch.table.rows import draw_uniform
from mixsearch.table.tables import open_table

# Order statistics of more values come from a sample.
MAX_SORTED = 100_000
# Of free text in several chunks, not every text is kept.
MAX_LEVELS = 10_000
# A column of text is one of numbers if at least this many texts, and this share of them, are numbers.
MIN_NUMBERS, MIN_NUMBERS_SHARE = 10, 0.95
# Texts that are no numbers, for a note.
MAX_OTHERS = 3
# Squares of larger numbers overflow.
MAX_MAGNITUDE = 1e150
# Among this many rows, most integers that are not ids are repeated.
_FIRST_VALUES = 1000


@dataclass(frozen=True)
class ColumnsChunk(Chunk):
    """Consecutive rows of a table, as columns."""

    columns: tuple[Column, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows of this chunk."""
        return len(self.columns[0].values) if self.columns else 0


@dataclass(frozen=True)
class BlockChunk(Chunk):
    """Rows of a table as the user gave them."""

    block: Any

    @property
    def n_rows(self) -> int:
        """Number of rows of this chunk."""
        return int(self.block.shape[0])


def convert_block(chunk: BlockChunk, indices: Sequence[int]) -> ColumnsChunk:
    """Return some columns of a block of rows."""
    opened = open_table(chunk.block)
    return ColumnsChunk(chunk.first, tuple(opened.get(j) for j in indices))


@dataclass(frozen=True)
class NumberRange:
    """The range of numbers or dates."""

    low: float
    high: float
    is_whole: bool
    is_distinct: bool  # no integer is twice in the same chunk

    @classmethod
    def of(cls, column: Column, present: Array) -> Self:
        """Return that of a column, of which some values are not missing."""
        values = column.values[present]
        low, high = (min(max(float(end), -MAX_MAGNITUDE), MAX_MAGNITUDE) for end in (values.min(), values.max()))
        return cls(low, high, column.is_whole, column.is_whole and _are_distinct(values))

    def __add__(self, other: NumberRange) -> NumberRange:
        return NumberRange(
            min(self.low, other.low),
            max(self.high, other.high),
            self.is_whole and other.is_whole,
            self.is_distinct and other.is_distinct,
        )


@dataclass(frozen=True)
class TextKinds:
    """How many rows have texts of each kind."""

    counts: Counter[TextKind]
    others: tuple[str, ...] = ()  # some texts that are no numbers

    @classmethod
    def of(cls, counts: Counter[str]) -> Self:
        """Return those of texts with their numbers of rows."""
        kinds: Counter[TextKind] = Counter()
        others = []
        for text, n in counts.items():
            kind = judge_text(text)
            kinds[kind] += n
            if kind == "other":
                others.append(text)
        return cls(kinds, tuple(sorted(others)[:MAX_OTHERS]))

    def __add__(self, other: TextKinds) -> TextKinds:
        others = sorted({*self.others, *other.others})[:MAX_OTHERS]
        return TextKinds(self.counts + other.counts, tuple(others))

    @property
    def are_numbers(self) -> bool:
        """Whether nearly all texts are numbers. Integers and digits may be codes; integers not among other texts."""
        n_numbers, n_others = self.counts["integer"] + self.counts["number"], self.counts["other"]
        if self.counts["digits"] or not (n_others or self.counts["number"]):
            return False
        return n_numbers >= max(MIN_NUMBERS, MIN_NUMBERS_SHARE * (n_numbers + n_others))


@dataclass(frozen=True)
class CategoryCounts:
    """How many rows each category has."""

    counts: Counter[str]
    kinds: TextKinds
    has_more: bool = False  # categories than are counted

    @classmethod
    def of(cls, column: Column, present: Array) -> Self:
        """Return those of a column, of which some values are not missing."""
        counts = np.bincount(column.values[present], minlength=len(column.levels))
        by_level = Counter({column.levels[i]: int(counts[i]) for i in np.flatnonzero(counts)})
        return cls(by_level, TextKinds.of(by_level))

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        counts = self.counts + other.counts
        has_more = self.has_more or other.has_more or len(counts) > MAX_LEVELS
        kept = Counter(dict(counts.most_common(MAX_LEVELS))) if has_more else counts
        return CategoryCounts(kept, self.kinds + other.kinds, has_more)


@dataclass(frozen=True)
class VectorMoments:
    """Mean and spread of vectors. The spread is about the mean, so that a large mean costs no digits."""

    n: int
    mean: Array  # (m,)
    squares: float  # the sum of squared distances from the mean
    largest: float

    @classmethod
    def of(cls, column: Column, present: Array) -> Self:
        """Return those of a column, of which some values are not missing."""
        vectors = column.values[present]
        mean = vectors.mean(axis=0)
        return cls(len(vectors), mean, float(np.sum((vectors - mean) ** 2)), float(np.abs(vectors).max()))

    def __add__(self, other: VectorMoments) -> VectorMoments:
        n, shift = self.n + other.n, other.mean - self.mean
        squares = self.squares + other.squares + self.n * other.n / n * float(shift @ shift)
        return VectorMoments(n, self.mean + shift * (other.n / n), squares, max(self.largest, other.largest))


Values: TypeAlias = NumberRange | CategoryCounts | VectorMoments
_SUMMARY: dict[Kind, type[Values]] = {
    "number": NumberRange,
    "date": NumberRange,
    "category": CategoryCounts,
    "vector": VectorMoments,
}


@dataclass(frozen=True)
class ColumnSummary:
    """A summary of a column; adding two of them summarises the rows of both."""

    kind: Kind
    n_rows: int
    n_missing: int
    values: Any = None  # Values; None if there are none

    @classmethod
    def of(cls, column: Column) -> Self:
        """Return the summary of a column in one chunk."""
        present = ~column.missing
        n_rows, n_present = len(present), int(np.count_nonzero(present))
        if column.kind == "other":
            return cls("other", n_rows, n_rows)
        if not n_present:
            return cls("empty", n_rows, n_rows)
        return cls(column.kind, n_rows, n_rows - n_present, _SUMMARY[column.kind].of(column, present))

    def __add__(self, other: ColumnSummary) -> ColumnSummary:
        n_rows, n_missing = self.n_rows + other.n_rows, self.n_missing + other.n_missing
        filled = [each for each in (self, other) if each.kind != "empty"]
        if len(filled) < 2:
            one = filled[0] if filled else self
            return ColumnSummary(one.kind, n_rows, n_missing, one.values)
        if not self._is_like(other):
            return ColumnSummary("other", n_rows, n_rows)
        return ColumnSummary(self.kind, n_rows, n_missing, self.values + other.values)

    def _is_like(self, other: ColumnSummary) -> bool:
        """Return whether the values of both can be of one column."""
        if self.kind != other.kind or self.kind == "other":
            return False
        return self.kind != "vector" or len(self.values.mean) == len(other.values.mean)


@dataclass(frozen=True)
class ByColumn:
    """Something for each of several columns; adding two of them adds these."""

    columns: tuple[Any, ...]

    def __add__(self, other: ByColumn) -> ByColumn:
        return ByColumn(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


class Summaries(NamedTuple):
    """A summary of each column, for reductions."""

    summaries: ByColumn


class SampledValues(NamedTuple):
    """A list of arrays for each column, one from each chunk, for reductions."""

    values: ByColumn


class DeviationSums(NamedTuple):
    """Sums of deviations from the median and of their squares, for each column, (q,)."""

    deviations: Array
    squares: Array


class Scale(NamedTuple):
    """Order statistics of a column of numbers."""

    median: float
    deviation: float  # a robust standard deviation
    limits: tuple[float, float]  # values are clipped there


def summarize(chunk: ColumnsChunk) -> Summaries:
    """Return what is known about the columns of a chunk."""
    return Summaries(ByColumn(tuple(map(ColumnSummary.of, chunk.columns))))


def read_columns_of_texts(chunk: ColumnsChunk, indices: Sequence[int]) -> ColumnsChunk:
    """Return a chunk with some of its columns of texts as numbers."""
    columns = (read_texts(each) if j in indices else each for j, each in enumerate(chunk.columns))
    return ColumnsChunk(chunk.first, tuple(columns))


def sample_values(chunk: ColumnsChunk, indices: Sequence[int], rates: Sequence[float]) -> SampledValues:
    """Return a random sample of the values of some columns, with a rate for each of them.

    Whether a row is drawn depends on its position in the table alone, so chunks do not matter.
    """
    draws = draw_uniform(chunk.first, chunk.n_rows)
    samples = []
    for index, rate in zip(indices, rates, strict=True):
        values = read_numbers(chunk.columns[index])
        drawn = values if rate >= 1 else values[draws < rate]
        samples.append([drawn[np.isfinite(drawn)]])
    return SampledValues(ByColumn(tuple(samples)))


def sum_deviations(chunk: ColumnsChunk, indices: Sequence[int], scales: Sequence[Scale]) -> DeviationSums:
    """Return sums of clipped values, in robust deviations from the median: so large numbers lose no digits."""
    sums = np.zeros((2, len(indices)))
    for j, (index, scale) in enumerate(zip(indices, scales, strict=True)):
        values = read_numbers(chunk.columns[index])
        present = np.isfinite(values)
        deviations = values if present.all() else values[present]
        deviations = np.clip(deviations, *scale.limits)
        deviations -= scale.median
        deviations /= scale.deviation
        sums[:, j] = deviations.sum(), deviations @ deviations
    return DeviationSums(*sums)


def read_numbers(column: Column) -> Array:
    """Return numbers next to each other in memory, unlike a column of an array, and none too large to be squared."""
    if column.kind == "empty":
        return np.full(len(column.values), np.nan)
    numbers = np.array(column.values, dtype=np.float64)
    is_infinite = np.isinf(numbers)
    np.clip(numbers, -MAX_MAGNITUDE, MAX_MAGNITUDE, out=numbers)
    numbers[is_infinite] = np.nan
    return numbers


def _are_distinct(values: Array) -> bool:
    first = values[:_FIRST_VALUES]
    return len(np.unique(first)) == len(first) and len(np.unique(values)) == len(values)

"""Topics over time and by group: the share of each in the documents of every group, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mixsearch._typing import Array, DataFrame
from mixsearch.errors import ArgumentError, HintError, Option
from mixsearch.index.columns import Columns
from mixsearch.index.group_shares import Estimates, estimate_shares
from mixsearch.index.tables import write_rows
from mixsearch.io.column_names import make_unknown_error
from mixsearch.topics.component import COUNT_FACTOR, Topic

if TYPE_CHECKING:
    import polars as pl

    from mixsearch.index.topic_index import TopicIndex
    from mixsearch.io.groups import Groups

# What topics may be given as.
Topics = str | Topic | Sequence[str | Topic] | Mapping[str, str | Topic]

N_WORDS_OF_NAME = 2
N_WORDS = 8
# 95% of a normal distribution are within this many standard errors.
_NORMAL_95 = 1.96
# Whole numbers in this range are years if the column is one of dates.
_FIRST_YEAR, _LAST_YEAR = 1, 9999


@dataclass(frozen=True)
class GroupShare:
    """A topic in one group of documents."""

    label: str
    n_documents: int
    share: float | None
    low: float | None
    high: float | None
    stderr: float | None
    n_about: float | None
    n_about_low: float | None
    n_about_high: float | None
    n_holding: int | None


@dataclass(frozen=True)
class GroupedTopic:
    """A topic in all groups."""

    hint: str
    words: tuple[str, ...]
    groups: tuple[GroupShare, ...]


@dataclass(frozen=True)
class TopicGroups:
    """Topics over time or by group.

    Parameters
    ----------
    column : str
        The column whose values make the groups.
    kind : {"period", "category", "number", "range"}
        What the groups are.
    every : str or float or None
        The period, or the width of the ranges.
    where : str or None
        The filter of the documents.
    n_missing : int
        How many documents have no value in the column.
    starts : tuple of str or None
        The first day of each period.
    topics : tuple of GroupedTopic
        The topics.
    """

    column: str
    kind: Literal["period", "category", "number", "range"]
    every: str | float | None
    where: str | None
    n_missing: int
    starts: tuple[str, ...] | None
    topics: tuple[GroupedTopic, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The groups."""
        return tuple(group.label for group in self.topics[0].groups)

    def as_dict(self) -> dict[str, Any]:
        """Return the groups as JSON has them.

        Returns
        -------
        dict
        """
        return asdict(self)

    def list_rows(self) -> list[dict[str, Any]]:
        """Return one row for each topic and group.

        Returns
        -------
        list of dict
            With hint, the name of the column as `column`, and the fields of `GroupShare`.
        """
        return [
            {"hint": topic.hint, "column": self.column, **asdict(group)}
            for topic in self.topics
            for group in topic.groups
        ]

    def to_frame(self) -> DataFrame:
        """Return a data frame of Polars, one row for each topic and group.

        Returns
        -------
        DataFrame
        """
        import polars as pl

        return pl.DataFrame(self.list_rows())

    def to_csv(self, *, for_spreadsheets: bool = False) -> str:
        """Return a table with a header, one row for each topic and group.

        Parameters
        ----------
        for_spreadsheets : bool, default=False
            Put an apostrophe before text that a spreadsheet would read as a formula.

        Returns
        -------
        str
        """
        columns = ("hint", "column", *(each.name for each in fields(GroupShare)))
        return write_rows(self.list_rows(), columns, for_spreadsheets=for_spreadsheets)


def group_topics(
    index: TopicIndex,
    topics: Topics,
    *,
    over: str | None = None,
    by: str | None = None,
    every: str | float | None = None,
    where: str | None = None,
) -> TopicGroups:
    """Return the shares of topics over time or by group.

    Parameters
    ----------
    index : TopicIndex
        The index.
    topics : str, Topic, sequence or mapping of them
        Words to search for, or topics that the index found. A mapping gives them names.
    over : str, optional
        A column of dates or numbers, in whose order the groups are.
    by : str, optional
        A column of any kind, whose values are the groups.
    every : {"year", "quarter", "month", "week", "day"} or float, optional
        For dates, the period; for numbers, the width of the ranges. By default from the values.
    where : str, optional
        A filter of the documents.

    Returns
    -------
    TopicGroups

    Notes
    -----
    The share of a group is the mean of estimates for its documents. The interval is for the population that the group
    is a sample of, given the topic as it was found: whether that is the one meant is the matter of `Topic.confidence`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, group_topics, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> groups = group_topics(open_index(built.path), "delivery", over="date", every="year")
    >>> [(row["label"], round(row["share"], 2)) for row in groups.list_rows()]
    [('2022', 0.04), ('2023', 0.08), ('2024', 0.14)]
    """
    if (over is None) == (by is None):
        raise ArgumentError(
            "Give either {over} or {by}, the column that makes the groups.",
            code="one_column_needed",
            over=Option("over"),
            by=Option("by"),
        )
    column = find_column(index.columns, over or by or "")
    among = np.arange(index.n_documents) if where is None else np.flatnonzero(index.match(where))
    groups = _group_documents(index.columns, column, among, every, is_ordered=over is not None)
    found, fitted = name_topics(index, topics), index.fitted

    def pick(mask: Array | None) -> Array | None:
        return None if mask is None else mask[among]

    listed = list(found.values())
    shares = estimate_means(
        fitted.document_shares(listed)[among], groups.codes, len(groups.labels), fitted.scale_errors(listed)
    )
    return TopicGroups(
        column=column,
        kind=groups.kind,
        every=groups.every,
        where=where,
        n_missing=int(np.count_nonzero(groups.codes < 0)),
        starts=None if groups.kind != "period" else _list_starts(groups),
        topics=tuple(
            GroupedTopic(
                name,
                tuple(word for word, _ in topic.top_words(N_WORDS)),
                _list_groups(
                    groups,
                    Estimates(*(each[:, j] for each in shares)),
                    pick(fitted.find_about(topic)),
                    pick(fitted.find_holding(topic)),
                ),
            )
            for j, (name, topic) in enumerate(found.items())
        ),
    )


def find_column(columns: Columns, name: str) -> str:
    """Return the column of a name, or of a role such as "date", or raise the error that lists those there are."""
    names = columns.names or columns.table.columns
    found = name if name in names else columns.find(name)
    if found is None:
        raise make_unknown_error(name, [column.name for column in columns.described])
    return found


def name_topics(index: TopicIndex, topics: Topics) -> dict[str, Topic]:
    """Return topics with their names; words are searched for."""
    if isinstance(topics, Mapping):
        named = list(topics.items())
    else:
        listed = [topics] if isinstance(topics, str | Topic) else list(topics)
        named = [(each if isinstance(each, str) else "", each) for each in listed]
    if not named:
        raise HintError("There are no topics. Give at least one.", code="no_topics")
    found: dict[str, Topic] = {}
    for name, each in named:
        topic = index.search(each) if isinstance(each, str) else each
        label = name or ", ".join(word for word, _ in topic.top_words(N_WORDS_OF_NAME))
        found[make_unique(label, found)] = topic
    return found


def make_unique(name: str, known: Mapping[str, Any]) -> str:
    """Return a name that is not known yet: the same, or with a number behind it."""
    if name not in known:
        return name
    return next(other for i in range(2, len(known) + 3) if (other := f"{name} ({i})") not in known)


def _group_documents(
    columns: Columns, name: str, among: Array, every: str | float | None, *, is_ordered: bool
) -> Groups:
    from mixsearch.io.groups import make_groups
    from mixsearch.io.types import describe_type

    values = columns.take(among, [name]).to_series()
    if is_ordered and not (values.dtype.is_temporal() or values.dtype.is_numeric()):
        raise ArgumentError(
            "Column {column!r} holds values of type {type}, which have no order. Use {by} for its groups.",
            code="not_ordered",
            column=name,
            type=describe_type(values.dtype),
            by=Option("by"),
        )
    role = next((column.role for column in columns.described if column.name == name), None)
    if role == "date" and values.dtype.is_integer() and not isinstance(every, int | float):
        return make_groups(_years_to_dates(values), every or "year")
    return make_groups(values, every)


def _years_to_dates(years: pl.Series) -> pl.Series:
    """Return the first days of years; other numbers are missing."""
    import polars as pl

    year = pl.nth(0).cast(pl.Int32, strict=False)
    is_year = year.is_between(_FIRST_YEAR, _LAST_YEAR)
    return years.to_frame().select(pl.date(pl.when(is_year).then(year), 1, 1)).to_series()


def estimate_means(shares: Array, codes: Array, n_groups: int, scale_errors: Array | float = 0.0) -> Estimates:
    """Estimate the mean share of each of several topics in each group of documents.

    Notes
    -----
    The interval of shares in [0, 1] knows how those of a rare topic are spread. What clipping adds, mostly to documents
    without the topic, is subtracted again in each group, and its own error is added.
    """
    clipped = np.clip(shares, 0, 1)
    found = estimate_shares(clipped, codes, n_groups)
    rows = codes >= 0
    excess = (clipped - shares)[rows]
    n = np.bincount(codes[rows], minlength=n_groups)[:, None]
    sums, squares = (_sum_by_group(each, codes[rows], n_groups) for each in (excess, excess**2))
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = sums / n
        error = np.sqrt(np.maximum(squares / n - shift**2, 0) / n)
    # Below 0, the estimate is 0, and the interval as wide as elsewhere.
    value = np.clip(found.value - shift, 0, 1)
    common = np.hypot(error, scale_errors * value)
    low = value - np.hypot(found.value - found.low, _NORMAL_95 * common)
    high = value + np.hypot(found.high - found.value, _NORMAL_95 * common)
    return Estimates(value, np.hypot(found.stderr, error), np.clip(low, 0, 1), np.clip(high, 0, 1))


def _sum_by_group(values: Array, codes: Array, n_groups: int) -> Array:
    return np.column_stack([np.bincount(codes, column, minlength=n_groups) for column in values.T])


def _estimate_parts(is_about: Array, groups: Groups) -> Estimates:
    """Estimate which part of the documents of each group is about a topic.

    Two errors add up: the group is a sample, and the number of documents about a topic is known to a factor only.
    """
    part, stderr, low, high = estimate_shares(is_about.astype(np.float64), groups.codes, len(groups.labels))
    low = part - np.hypot(part - low, part * (1 - 1 / COUNT_FACTOR))
    high = part + np.hypot(high - part, part * (COUNT_FACTOR - 1))
    return Estimates(part, stderr, np.clip(low, 0, 1), np.clip(high, 0, 1))


def _list_groups(
    groups: Groups, shares: Estimates, is_about: Array | None, is_holding: Array | None
) -> tuple[GroupShare, ...]:
    # Without local EM, the number of documents is what the share makes of them.
    parts = shares if is_about is None else _estimate_parts(is_about, groups)
    about = Estimates(*(each * groups.sizes for each in parts))
    codes = np.empty(0, dtype=np.int64) if is_holding is None else groups.codes[is_holding]
    holding = np.bincount(codes[codes >= 0], minlength=len(groups.labels))
    return tuple(
        GroupShare(
            label=label,
            n_documents=int(groups.sizes[i]),
            share=_plain(shares.value[i]),
            low=_plain(shares.low[i]),
            high=_plain(shares.high[i]),
            stderr=_plain(shares.stderr[i]),
            n_about=_plain(about.value[i]),
            n_about_low=_plain(about.low[i]),
            n_about_high=_plain(about.high[i]),
            n_holding=None if is_holding is None else int(holding[i]),
        )
        for i, label in enumerate(groups.labels)
    )


def _list_starts(groups: Groups) -> tuple[str, ...]:
    return () if groups.edges is None else tuple(map(str, groups.edges[:-1].tolist()))


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

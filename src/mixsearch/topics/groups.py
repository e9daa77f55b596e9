"""Topics over time and by group: how many documents of each group are members, by the one membership."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array, DataFrame
from mixsearch.audit import MAX_GROUPS
from mixsearch.errors import ArgumentError, HintError, Option
from mixsearch.topics.topic import Topic

if TYPE_CHECKING:
    import polars as pl

    from mixsearch.io.groups import Groups

# Whole numbers in this range are years if the column is one of dates.
_FIRST_YEAR, _LAST_YEAR = 1, 9999
# Judged documents from which on groups have intervals.
_MIN_JUDGED = 10


@dataclass(frozen=True)
class TopicGroup:
    """A topic in one group of documents.

    Parameters
    ----------
    label : str
        The group.
    series : str or None
        The group of the second column, if there are two.
    n_documents : int
        The documents of the group.
    n_members : float
        How many of them belong to the topic: the sum of membership.
    share : float or None
        n_members / n_documents; None for a group without documents.
    n_containing : int or None
        How many of them contain words of the hint; None for a hint without words.
    n_judged : int
        How many of them were judged.
    estimate, low, high : float or None
        The share of members by all judgements of `Topic.judge`, with a 95% interval; None with fewer than ten.
    """

    label: str
    series: str | None
    n_documents: int
    n_members: float
    share: float | None
    n_containing: int | None
    n_judged: int = 0
    estimate: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupedTopic:
    """A topic in all groups.

    Parameters
    ----------
    hint : str
        The name of the topic.
    n_members : float
        The sum over all groups, and the documents without a group.
    groups : tuple of TopicGroup
        The groups.
    """

    hint: str
    n_members: float
    groups: tuple[TopicGroup, ...]


@dataclass(frozen=True)
class TopicGroups:
    """Topics over time, by group, or both.

    Parameters
    ----------
    over, by : str or None
        The columns whose values make the groups: one in whose order they are, one of any kind.
    kind : {"period", "category", "number", "range"}
        What the groups are.
    every : str or float or None
        The period, or the width of the ranges.
    where : str or None
        The filter of the documents.
    n_missing : int
        How many documents have no value in one of the columns.
    starts : tuple of str or None
        The first day of each period.
    topics : tuple of GroupedTopic
        The topics.
    """

    over: str | None
    by: str | None
    kind: str
    every: str | float | None
    where: str | None
    n_missing: int
    starts: tuple[str, ...] | None
    topics: tuple[GroupedTopic, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the groups as JSON has them.

        Returns
        -------
        dict
        """
        return asdict(self)

    def to_frame(self) -> DataFrame:
        """Return a data frame of Polars, one row for each topic and group.

        Returns
        -------
        polars.DataFrame
            With hint and the fields of `TopicGroup`.
        """
        import polars as pl

        return pl.DataFrame([{"hint": topic.hint, **asdict(group)} for topic in self.topics for group in topic.groups])


def group_topics(
    topics: Mapping[str, Topic],
    columns: pl.DataFrame,
    *,
    over: str | None = None,
    by: str | None = None,
    every: str | float | None = None,
    where: str | None = None,
    subset: Array | None = None,
    are_years: bool = False,
) -> TopicGroups:
    """Count the members of topics in groups of documents.

    `columns` has the column of `over`, of `by` or both, for all documents; `subset` marks the documents that match the
    filter `where`, and `are_years` says that the numbers of `over` are years.
    """
    if over is None and by is None:
        raise ArgumentError(
            "Give {over} or {by}, the column that makes the groups.",
            code="one_column_needed",
            over=Option("over"),
            by=Option("by"),
        )
    if not topics:
        raise HintError("There are no topics. Give at least one.", code="no_topics")
    # 1) the group of each document: by one column, or by each pair of values of two
    first = group_values(columns[over or by or ""], "date" if are_years else None, every, is_ordered=over is not None)
    second = group_values(columns[by], None) if over is not None and by is not None else None
    series: tuple[str | None, ...] = (None,) if second is None else second.labels
    codes = first.codes if second is None else first.codes * len(series) + second.codes
    codes = np.where((first.codes < 0) | (False if second is None else second.codes < 0), -1, codes)
    is_counted = codes >= 0 if subset is None else (codes >= 0) & subset
    chosen = codes[is_counted]
    n_groups = len(first.labels) * len(series)
    sizes = np.bincount(chosen, minlength=n_groups)
    # 2) sums of membership, and intervals from judged documents
    grouped = []
    for name, answer in topics.items():
        topic = answer if subset is None else answer.within(subset)
        weights = topic.member_weights
        members = np.bincount(chosen, weights[is_counted], n_groups)
        containing = np.bincount(chosen, topic.contains[is_counted], n_groups) if topic.hint.terms else None
        is_audited = answer.audited and answer.audited.n_judged >= _MIN_JUDGED and n_groups < MAX_GROUPS
        audited = answer.audit_groups(np.where(is_counted, codes, -1)) if is_audited else {}
        groups = tuple(
            TopicGroup(
                label=first.labels[i // len(series)],
                series=series[i % len(series)],
                n_documents=int(sizes[i]),
                n_members=float(members[i]),
                share=float(members[i] / sizes[i]) if sizes[i] else None,
                n_containing=None if containing is None else int(containing[i]),
                **({"n_judged": audited[i].n_judged} | audited[i].share._asdict() if i in audited else {}),
            )
            for i in range(n_groups)
        )
        grouped.append(GroupedTopic(name, float(weights.sum()), groups))
    n_all = len(codes) if subset is None else int(np.count_nonzero(subset))
    starts = None if first.kind != "period" or first.edges is None else tuple(map(str, first.edges[:-1].tolist()))
    return TopicGroups(over, by, first.kind, first.every, where, n_all - len(chosen), starts, tuple(grouped))


def name_topics(topics: Sequence[Topic]) -> dict[str, Topic]:
    """Return topics under their hints, or under their first words; each name once."""
    names: dict[str, Topic] = {}
    for topic in topics:
        label = topic.hint.words or ", ".join(word.word for word in topic.words(2))
        names[make_unique(label, names)] = topic
    return names


def make_unique(name: str, names: Mapping[str, Any]) -> str:
    """Return a name that is not among some: the same, or with a number behind it."""
    if name not in names:
        return name
    return next(other for i in range(2, len(names) + 3) if (other := f"{name} ({i})") not in names)


def group_values(
    values: pl.Series, role: str | None, every: str | float | None = None, *, is_ordered: bool = False
) -> Groups:
    """Group documents by their values in a column; whole numbers in one of dates are years."""
    from mixsearch.io.groups import make_groups
    from mixsearch.io.types import describe_type

    if is_ordered and not (values.dtype.is_temporal() or values.dtype.is_numeric()):
        raise ArgumentError(
            "Column {column!r} holds values of type {type}, which have no order. Use {by} for its groups.",
            code="not_ordered",
            column=values.name,
            type=describe_type(values.dtype),
            by=Option("by"),
        )
    if role == "date" and values.dtype.is_integer() and not isinstance(every, int | float):
        return make_groups(_years_to_dates(values), every or "year")
    return make_groups(values, every)


def _years_to_dates(years: pl.Series) -> pl.Series:
    """Return the first days of years; other numbers are missing."""
    import polars as pl

    year = pl.nth(0).cast(pl.Int32, strict=False)
    is_year = year.is_between(_FIRST_YEAR, _LAST_YEAR)
    return years.to_frame().select(pl.date(pl.when(is_year).then(year), 1, 1)).to_series()

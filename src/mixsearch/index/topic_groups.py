"""Topics over time or by group, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from mixsearch._typing import DataFrame
from mixsearch.data.arrow import import_pandas
from mixsearch.index.csv_rows import write_rows


@dataclass(frozen=True)
class GroupShare:
    """A topic in one group of documents.

    Parameters
    ----------
    label : str
        The group: a period, a value or a range.
    n_documents : int
        How many documents it has.
    share, low, high : float or None
        The topic's mean share of a document, with a 95% interval; None for a group without documents.
    stderr : float or None
        The standard error for comparisons between groups. It leaves out the error that all shares of the topic have in
        common, which the interval includes.
    n_about, n_about_low, n_about_high : float or None
        How many documents are about the topic, with a 95% interval.
    n_holding : int or None
        How many documents contain the words of the hint, if it consists of words.
    """

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
    """A topic in all groups.

    Parameters
    ----------
    hint : str
        The name of the topic.
    words : tuple of str
        Its typical words.
    groups : tuple of GroupShare
        In the order of the groups: periods, numbers and ranges ascending; values by their number of documents.
    """

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
        """Return a data frame of pandas, one row for each topic and group.

        Returns
        -------
        DataFrame
        """
        return import_pandas().DataFrame(self.list_rows())

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

"""The rows of a table that are like a few of them, and the answer as plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array, DataFrame, TableLike
from mixsearch.confidence import verdict_by_confidence
from mixsearch.core.rows import is_dask
from mixsearch.display import Card, plain_chance
from mixsearch.errors import Option, SearchWarning, UncertainSizeWarning
from mixsearch.graph.walk import Members
from mixsearch.io.values import to_json
from mixsearch.table.differences import ColumnDifference, Labels, list_differences
from mixsearch.table.fit import TableFit
from mixsearch.table.source import load_tables
from mixsearch.table.tables import find_columns

# Neighbours of different components agree with the mixture if edges between them keep at most this part.
MAX_KEPT = 0.15
# The number of members is doubted if the ends of its interval are further apart than the first factor, more than this
# part of all rows is called members, and more than the last factor times the rows of the examples' components.
# Confidence is then at most this. How they were chosen: docs/decisions/tables.md.
MAX_RANGE, MAX_CALLED, MAX_BEYOND = 8.0, 0.5, 1.25
MAX_UNCERTAIN = 0.4
NOTHING_APART = "none sets the members apart from all rows"


class MemberCount(NamedTuple):
    """How many rows are members, with a 95% interval."""

    n: int
    low: int
    high: int


@dataclass(frozen=True, repr=False)
class TableComponent:
    """The rows of a table that are like a few of them.

    Attributes
    ----------
    like, not_like : tuple of int
        The positions of the examples, sorted; empty if they are new rows.
    warnings : tuple of SearchWarning
        Reasons not to trust the answer.

    Examples
    --------
    >>> import mixsearch
    >>> from sklearn.datasets import load_iris
    >>> found = mixsearch.find(load_iris(as_frame=True).data, like=[3, 17, 40])
    >>> found.n_members.low <= 50 <= found.n_members.high
    True
    >>> found.differences()[0].column  # the column that sets the members apart most
    'petal length (cm)'
    >>> labelled = found.to_frame()
    >>> bool(labelled["is_member"].sum() == found.n_members.n)
    True
    """

    like: tuple[int, ...]
    not_like: tuple[int, ...]
    warnings: tuple[SearchWarning, ...]
    _n_examples: int
    _fit: TableFit
    _members: Members
    _scores: Array  # of each node, (m,)

    @property
    def table(self) -> TableLike:
        """The table of the fit."""
        return self._fit.table

    @cached_property
    def membership(self) -> Array:
        """The probability that each row is a member, (n,): 1 and 0 for the examples."""
        membership = self._members.membership[self._fit.nodes.of_row]
        membership[list(self.like)], membership[list(self.not_like)] = 1, 0
        membership.flags.writeable = False
        return membership

    @cached_property
    def score(self) -> Array:
        """How often the walk from the examples visits each row, (n,): it ranks rows of the same membership."""
        return np.asarray(self._scores[self._fit.nodes.of_row])

    @cached_property
    def n_members(self) -> MemberCount:
        """How many rows are members, examples included, with a 95% interval."""
        least, most = len(self.like), self._fit.n_rows - len(self.not_like)
        counts = (self._members.n, self._members.low, self._members.high)
        return MemberCount(*(min(max(round(each), least), most) for each in counts))

    @cached_property
    def confidence(self) -> float:
        """The mean membership of the rows found, without the examples."""
        called = self._order[: self.n_members.n]
        called = called[~np.isin(called, self.like)]
        return float(self.membership[called].mean()) if len(called) else float(self._members.membership.max())

    @property
    def verdict(self) -> str:
        """The confidence as a code: "clear", "likely", "doubtful" or "unclear"."""
        return verdict_by_confidence(self.confidence)[0]

    @property
    def carried_by(self) -> Literal["mixture", "neighbours"]:
        """Whether the mixture or the neighbours decide where the members end."""
        return "mixture" if self._fit.graph.kept_between <= MAX_KEPT else "neighbours"

    @cached_property
    def _order(self) -> Array:
        """All rows, from the likeliest member on, (n,): examples first, rows that are not members last."""
        place = np.empty(len(self._scores), dtype=np.int32)
        place[np.argsort(-self._scores, kind="stable")] = np.arange(len(place))
        places = place[self._fit.nodes.of_row]
        places[list(self.like)], places[list(self.not_like)] = -1, len(place)
        return np.argsort(places, kind="stable")

    def predict(self) -> Array:
        """Return which rows are members: the likeliest `n_members` rows, (n,).

        Returns
        -------
        array of bool, shape (n,)
        """
        called = np.zeros(self._fit.n_rows, dtype=bool)
        called[self._order[: self.n_members.n]] = True
        return called

    def membership_of(self, table: TableLike) -> Array:
        """Return the probability that other rows are members.

        Parameters
        ----------
        table : array-like of shape (q, p), DataFrame, pyarrow.Table or mapping from names to columns
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (q,)
            That of the nearest row in the likeliest component of the mixture; a lazy Dask array for a Dask table.
        """
        if is_dask(table):
            rows: Array = load_tables().map_blocks(self.membership_of, table)
            return rows
        nodes, _ = self._fit.find_nodes(table)
        return np.asarray(self._members.membership[nodes])

    def typical_rows(self, n: int = 10) -> Array:
        """Return the positions of the likeliest members that are not examples.

        Parameters
        ----------
        n : int, default=10
            How many.

        Returns
        -------
        array of int, shape (n,)
        """
        order = self._order
        return np.asarray(order[~np.isin(order, [*self.like, *self.not_like])][:n])

    def differences(self) -> list[ColumnDifference]:
        """Return the columns, those that distinguish the members most first.

        Returns
        -------
        list of ColumnDifference
        """
        labels = Labels(np.array(self.like, dtype=np.intp), np.array(self.not_like, dtype=np.intp))
        return list_differences(self._fit.encoder, self._fit.rows, self._members.membership, labels)

    def to_frame(self) -> DataFrame:
        """Return the table with two more columns: `membership` and `is_member`.

        Returns
        -------
        DataFrame
            From the library of the table, such as pandas or PyArrow; from Polars if the table is not a data frame.
        """
        return self._fit.source.with_columns({"membership": self.membership, "is_member": self.predict()})

    def name_rows(self, rows: Sequence[int], id: str | None = None) -> list[str]:
        """Return the names of rows: their values in the id column, each once, or their positions without one.

        Parameters
        ----------
        rows : sequence of int
            Their positions.
        id : str, optional
            The column that names the rows. Default: that of the fit.

        Returns
        -------
        list of str
        """
        column = self._fit.id if id is None else id
        if column is None:
            return list(map(str, rows))
        find_columns(self._fit.source, [column])
        return list(dict.fromkeys(str(values[column]) for values in self._fit.source.get_rows(rows)))

    def _card(self) -> Card:
        n, low, high = self.n_members
        columns = self.differences()[:10]
        named = self.name_rows(self.like)
        listed = ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")
        return Card(
            title=f"Rows like {listed or f'{self._n_examples} given ones'}",
            facts=[
                ("members", f"{n:,} ({low:,} to {high:,}) of {self._fit.n_rows:,} rows"),
                ("confidence", f"{plain_chance(self.confidence)}: {self.verdict}"),
                ("carried by", self.carried_by),
                *([("columns", NOTHING_APART)] if columns and not columns[0].effect else []),
            ],
            bars=[(each.column, abs(each.effect)) for each in columns if each.effect],
            bars_title="columns that set them apart",
        )

    def _check_size(self, expected: float) -> TableComponent:
        """Return the answer, with a warning and a lower membership if the number of members is hardly known.

        That is so if more than half of the rows are called members, more than the components of the examples have, and
        the interval of their number is wide.
        """
        n, low, high = self.n_members
        is_known = high <= MAX_RANGE * low or n <= max(MAX_CALLED * self._fit.n_rows, MAX_BEYOND * expected)
        if is_known or self.confidence <= MAX_UNCERTAIN:
            return self
        warning = UncertainSizeWarning(
            "The number of members is uncertain: between {low:,} and {high:,} of {n_rows:,} rows. Label a few rows "
            "and add them to {like} or {not_like}.",
            low=low,
            high=high,
            n_rows=self._fit.n_rows,
            like=Option("like"),
            not_like=Option("not_like"),
        )
        members = self._members._replace(membership=MAX_UNCERTAIN / self.confidence * self._members.membership)
        return replace(self, warnings=(*self.warnings, warning), _members=members)

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


@dataclass(frozen=True)
class ShownRow:
    """A row of the table."""

    row: int
    id: Any
    membership: float
    values: dict[str, Any]


@dataclass(frozen=True)
class TableAnswer:
    """The members of a table as plain data. Most fields are those of `TableComponent`.

    Parameters
    ----------
    n_table_rows : int
        The number of rows of the table.
    id : str or None
        The id column.
    like, not_like : list of ShownRow
        The examples.
    n_members : MemberCount
        How many rows are members, with a 95% interval.
    confidence : float
        The mean probability of the rows called members to be members.
    verdict : str
        The confidence as a code.
    carried_by : str
        "mixture" or "neighbours".
    differences : list of ColumnDifference
        The columns, those that set the members apart first.
    typical_rows : list of ShownRow
        The likeliest members that are not examples.
    n_components : int
        The number of components of the mixture.
    covariance : str
        The shape of the components.
    columns : list of str
        The columns in use.
    dropped_columns : dict from str to str
        The other columns, each with the reason.
    """

    n_table_rows: int
    id: str | None
    like: list[ShownRow]
    not_like: list[ShownRow]
    n_members: MemberCount
    confidence: float
    verdict: str
    carried_by: str
    differences: list[ColumnDifference]
    typical_rows: list[ShownRow]
    n_components: int
    covariance: str
    columns: list[str]
    dropped_columns: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it: dates as text, None for numbers that are not finite.

        Returns
        -------
        dict
        """
        fields = asdict(self) | {
            "n_members": self.n_members._asdict(),
            "differences": [each._asdict() for each in self.differences],
        }
        plain: dict[str, Any] = json.loads(to_json(fields))
        return plain


def describe_members(found: TableComponent, *, n_rows: int = 10, id: str | None = None) -> TableAnswer:
    """Return the members of a table as plain data.

    Parameters
    ----------
    found : TableComponent
        As a search returns it.
    n_rows : int, default=10
        How many of the most typical rows to show.
    id : str, optional
        The column that names the rows.

    Returns
    -------
    TableAnswer

    Examples
    --------
    >>> from mixsearch import find
    >>> found = find({"x": [1.0, 1.1, 0.9, 9.0, 9.2, 8.9], "name": list("abcdef")}, like=[0])
    >>> describe_members(found, id="name").like[0].id
    'a'
    """
    fit = found._fit
    if id is not None:
        find_columns(fit.source, [id])

    def show(rows: Sequence[int] | Array) -> list[ShownRow]:
        return [
            ShownRow(int(row), None if id is None else values[id], float(found.membership[row]), values)
            for row, values in zip(rows, fit.source.get_rows(rows), strict=True)
        ]

    return TableAnswer(
        n_table_rows=fit.n_rows,
        id=id,
        like=show(found.like),
        not_like=show(found.not_like),
        n_members=found.n_members,
        confidence=found.confidence,
        verdict=found.verdict,
        carried_by=found.carried_by,
        differences=found.differences(),
        typical_rows=show(found.typical_rows(n_rows)),
        n_components=len(fit.mixture.weights),
        covariance=fit.mixture.shape,
        columns=list(fit.encoder.columns_),
        dropped_columns=dict(fit.encoder.dropped_columns_),
    )

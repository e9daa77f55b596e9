"""The rows of a table that are like a few of them, and the answer as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array, DataFrame, TableLike
from mixsearch.audit import Audit, AuditResult
from mixsearch.core.check import Check
from mixsearch.display import Card, plain_chance
from mixsearch.errors import SearchWarning
from mixsearch.graph.members import Members
from mixsearch.io.frames import add_columns
from mixsearch.io.values import to_json
from mixsearch.table.differences import ColumnDifference, compare_column, is_missing_apart
from mixsearch.table.rows import get_rows
from mixsearch.table.tables import get_values

if TYPE_CHECKING:
    from mixsearch.table.search import TableSearch

MAX_LISTED = 5


@dataclass(frozen=True, repr=False)
class TableComponent:
    """The rows of a table that are like a few of them.

    Attributes
    ----------
    examples, not_examples : tuple of int
        The positions of the examples, sorted; empty if they are new rows.
    check : Check
        Where the examples rank among all rows when they are left out.
    is_probability : bool
        Whether membership is a probability; with fewer than three examples, it is a rank from 0 to 1.
    warnings : tuple of SearchWarning
        Reasons not to trust the answer.

    Examples
    --------
    >>> import mixsearch
    >>> import polars as pl
    >>> from sklearn.datasets import load_iris
    >>> iris = pl.DataFrame(load_iris().data, schema=load_iris().feature_names)
    >>> found = mixsearch.find(iris, examples=[3, 17, 40])
    >>> found.differences()[0].column  # the column that sets the members apart most
    'petal length (cm)'
    >>> bool((found.to_frame()["membership"] == found.membership).all())
    True
    """

    examples: tuple[int, ...]
    not_examples: tuple[int, ...]
    check: Check
    is_probability: bool
    warnings: tuple[SearchWarning, ...]
    _search: TableSearch
    _members: Members  # of each node

    @property
    def table(self) -> TableLike:
        """The table of the fit."""
        return self._search.table_

    @cached_property
    def scores(self) -> Array:
        """One score per row, (n,): rows that are more like the examples have higher ones."""
        return self._spread(self._members.scores, float(self._members.scores.max()))

    @cached_property
    def membership(self) -> Array:
        """The probability that each row is a member, (n,), monotone in its score: 1 and 0 for the examples.

        With fewer than three examples it is not a probability but a rank: the fraction of rows with lower scores.
        """
        return self._spread(self._members.membership, 1.0)

    def _spread(self, values: Array, highest: float) -> Array:
        """Return the values of all rows from those of the nodes, (n,)."""
        spread = np.asarray(values[self._search._rows.node_of_row])
        spread[list(self.examples)], spread[list(self.not_examples)] = highest, 0
        spread.flags.writeable = False
        return spread

    @property
    def n_members(self) -> int | None:
        """About how many rows are members, examples included: the sum of membership; None if it is a rank."""
        return round(float(self.membership.sum())) if self.is_probability else None

    @cached_property
    def _order(self) -> Array:
        """All rows, best first, (n,)."""
        return np.argsort(-self.scores, kind="stable")

    def predict(self) -> Array:
        """Predict which rows are members: those with a membership above 1/2.

        Returns
        -------
        array of bool, shape (n,)
            If membership is a rank, only the examples.
        """
        return np.asarray(self.membership > (0.5 if self.is_probability else 1 - 1e-12))

    def typical_rows(self, n: int = 10) -> Array:
        """Return the positions of the best rows that are not examples.

        Parameters
        ----------
        n : int, default=10
            How many.

        Returns
        -------
        array of int, shape (n,)
        """
        return np.asarray(self._order[~np.isin(self._order, [*self.examples, *self.not_examples])][:n])

    def audit(self, n: int = 20) -> Array:
        """Draw rows to judge, from which `judge` estimates how good the list of the best rows is.

        Parameters
        ----------
        n : int, default=20
            How many.

        Returns
        -------
        array of int, shape (n,)
            Positions of rows that were not drawn before, and are not examples, in random order.
        """
        return self._audit.draw(n)

    def judge(self, judgements: Mapping[int, bool | None]) -> AuditResult:
        """Estimate precision, recall and the number of members from all judgements so far.

        Parameters
        ----------
        judgements : mapping from int to bool or None
            Whether each row is a member; None for a row that was skipped.

        Returns
        -------
        AuditResult
            Of the list of rows that `predict` finds; from fewer than three examples, of the examples and as many rows
            again, or ten. Its `by` takes the name of a column.
        """
        return self._audit.judge(judgements)

    @cached_property
    def _audit(self) -> Audit:
        n_listed = int((self.predict() if self.is_probability else self._nearest_rows).sum())
        known = dict.fromkeys(self.examples, True) | dict.fromkeys(self.not_examples, False)
        return Audit(self.scores, max(n_listed, 1), known=known, get_column=lambda name: get_values(self.table, name))

    def differences(self) -> list[ColumnDifference]:
        """Compare members with the other rows in each column, those that distinguish them most first.

        Returns
        -------
        list of ColumnDifference
        """
        return self._differences

    @cached_property
    def _differences(self) -> list[ColumnDifference]:
        weights = self.membership if self.is_probability else self._nearest_rows
        encoder = self._search._encoder
        columns = {name: encoder.get_column(self.table, name) for name in encoder.columns_}
        compared = [compare_column(name, column, weights) for name, column in columns.items()]
        return sorted(filter(None, compared), key=lambda each: -abs(each.effect))

    @property
    def _nearest_rows(self) -> Array:
        """Weights of the rows that few examples show, (n,): the examples and as many again, or ten."""
        weights = np.zeros(len(self.scores))
        weights[self._order[: max(1, min(len(weights) // 2, max(2 * len(self.examples), 10)))]] = 1
        return weights

    def missing_apart(self) -> list[ColumnDifference]:
        """Return the columns whose values are missing more or less often among the members than elsewhere.

        Returns
        -------
        list of ColumnDifference
            Their text is such as "sleep_rem missing in 49%, elsewhere 27%".
        """
        n_members = float((self.membership if self.is_probability else self._nearest_rows).sum())
        n_others = len(self.scores) - n_members
        return [each for each in self._differences if is_missing_apart(each, n_members, n_others)]

    def to_frame(self) -> DataFrame:
        """Return the table with three more columns: `score`, `membership` and `is_member`.

        Returns
        -------
        DataFrame
            From the library of the table, such as pandas or PyArrow; from Polars if the table is not a data frame.
        """
        columns = {"score": self.scores, "membership": self.membership, "is_member": self.predict()}
        return add_columns(self.table, columns)

    def as_dict(self, n_rows: int = 10) -> dict[str, Any]:
        """Return the answer as JSON has it: dates as text, None for numbers that are not finite.

        Parameters
        ----------
        n_rows : int, default=10
            How many of the best rows to show.

        Returns
        -------
        dict

        Examples
        --------
        >>> import mixsearch
        >>> found = mixsearch.find({"x": [1.0, 1.1, 0.9, 9.0, 9.2, 8.9], "name": list("abcdef")}, examples=[0])
        >>> found.as_dict()["examples"][0]["values"]
        {'x': 1.0, 'name': 'a'}
        """
        rows = {
            "examples": self.examples,
            "not_examples": self.not_examples,
            "typical_rows": self.typical_rows(n_rows).tolist(),
        }
        fields = {
            "n_table_rows": len(self.scores),
            "id": self._search._id,
            "n_members": self.n_members,
            "is_probability": self.is_probability,
            "check": str(self.check),
            "ranks": list(map(int, self.check.ranks)),
            "differences": [each._asdict() for each in self.differences()],
            "missing": list(map(str, self.missing_apart())),
            **{name: describe_rows(self, positions) for name, positions in rows.items()},
            "columns": list(self._search.columns_),
            "dropped_columns": self._search.dropped_columns_,
        }
        plain: dict[str, Any] = json.loads(to_json(fields))
        return plain

    def _card(self) -> Card:
        columns = [each for each in self.differences()[:10] if each.effect]
        listed = list_names(describe_rows(self, self.examples))
        missing = "; ".join(map(str, self.missing_apart()[:MAX_LISTED]))
        return Card(
            title=f"Rows like {listed or 'the given ones'}",
            facts=[
                ("check", str(self.check)),
                ("members", describe_count(self.n_members, len(self.scores))),
                *([("missing", missing)] if missing else []),
                *(("warning", str(each)) for each in self.warnings),
            ],
            bars=[(each.column, abs(each.effect)) for each in columns],
            bars_title="columns that set them apart",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


def describe_rows(found: TableComponent, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Describe rows by their position, name in the fit's id column, membership and values."""
    id = found._search._id
    return [
        {
            "row": int(row),
            "id": None if id is None else values[id],
            "membership": float(found.membership[row]),
            "values": values,
        }
        for row, values in zip(rows, get_rows(found.table, rows), strict=True)
    ]


def list_names(rows: Sequence[dict[str, Any]]) -> str:
    """List the first of some rows by their ids, each once, or by their positions."""
    names = list(dict.fromkeys(str(row["row"] if row["id"] is None else row["id"]) for row in rows))
    return ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")


def describe_count(n_members: int | None, n_rows: int) -> str:
    """Describe the number of members in words."""
    if n_members is None:
        return f"how many rows belong is not estimated from fewer than three examples; all {n_rows:,} are ranked"
    return f"about {n_members:,} of {n_rows:,} rows"


def describe_membership(membership: float, *, is_probability: bool) -> str:
    """Describe a membership as a probability or as a rank."""
    return plain_chance(membership) if is_probability else f"top {max(1 - membership, 1e-3):.1%}"

"""An answer: the members of a table as plain data, for a terminal or a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mixsearch._typing import Array
from mixsearch.data.files.types import to_json
from mixsearch.table._component import MemberCount, TableComponent
from mixsearch.table._differences import ColumnDifference
from mixsearch.table._tables import find_columns


@dataclass(frozen=True)
class ShownRow:
    """A row of the table.

    Parameters
    ----------
    row : int
        Its position.
    id : Any
        Its value in the id column; None without one.
    membership : float
        The probability that it is a member.
    values : dict from str to value
        Its values by the names of their columns.
    """

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
    like_texts, not_like_texts : list of str
        The examples that are texts.
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
    ask_next : list of ShownRow
        Rows to label next.
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
    like_texts: list[str]
    not_like_texts: list[str]
    n_members: MemberCount
    confidence: float
    verdict: str
    carried_by: str
    differences: list[ColumnDifference]
    typical_rows: list[ShownRow]
    ask_next: list[ShownRow]
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


def describe_members(found: TableComponent, *, n_rows: int = 10, n_next: int = 5, id: str | None = None) -> TableAnswer:
    """Return the members of a table as plain data.

    Parameters
    ----------
    found : TableComponent
        As a search returns it.
    n_rows : int, default=10
        How many of the most typical rows to show.
    n_next : int, default=5
        How many rows to ask for next.
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
        like_texts=list(found.like_texts),
        not_like_texts=list(found.not_like_texts),
        n_members=found.n_members,
        confidence=found.confidence,
        verdict=found.verdict,
        carried_by=found.carried_by,
        differences=found.differences(),
        typical_rows=show(found.typical_rows(n_rows)),
        ask_next=show(found.ask_next(n_next)) if n_next else [],
        n_components=len(fit.mixture.weights),
        covariance=fit.mixture.shape,
        columns=list(fit.encoder.columns_),
        dropped_columns=dict(fit.encoder.dropped_columns_),
    )

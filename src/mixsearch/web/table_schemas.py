"""Requests and answers about tables, as OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from mixsearch.options import TableOptions
from mixsearch.web.schemas import MAX_COLUMN_LENGTH, MAX_FILTER_LENGTH, MAX_INTEGER, AnswerWarning, make_request

MAX_EXAMPLES, MAX_COLUMNS, MAX_SHOWN_ROWS = 1000, 1000, 100

RowNumber = Annotated[int, Field(ge=0, le=MAX_INTEGER, description="A row of the table, from 0.")]
ColumnName = Annotated[str, Field(max_length=MAX_COLUMN_LENGTH)]


class MembersRequest(make_request(TableOptions, max_items=MAX_COLUMNS)):  # type: ignore[misc]
    """Rows that are members, and rows that are not."""

    examples: tuple[RowNumber, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows that are members.")
    not_examples: tuple[RowNumber, ...] = Field(
        default=(), max_length=MAX_EXAMPLES, description="Rows that are not members."
    )
    n_rows: int = Field(default=10, ge=0, le=MAX_SHOWN_ROWS, description="Number of typical rows.")


class RowsRequest(make_request(TableOptions, max_items=MAX_COLUMNS, leave_out=("id",))):  # type: ignore[misc]
    """A page of the rows of a table: filtered, and sorted by a column or by likeness to the examples."""

    examples: tuple[RowNumber, ...] = Field(default=(), max_length=MAX_EXAMPLES, description="Rows that are members.")
    not_examples: tuple[RowNumber, ...] = Field(
        default=(), max_length=MAX_EXAMPLES, description="Rows that are not members."
    )
    where: str | None = Field(default=None, max_length=MAX_FILTER_LENGTH, description="A filter: age >= 30")
    sort_by: ColumnName | None = Field(default=None, description="A column. Default: likeness to the examples, if any.")
    descending: bool = Field(default=False, description="Largest values first.")
    doubtful: bool = Field(default=False, description="Without sort_by: rows first that are as likely as not members.")
    skip: int = Field(default=0, ge=0, le=MAX_INTEGER, description="Number of the first rows to leave out.")
    n_rows: int = Field(default=50, ge=1, le=MAX_SHOWN_ROWS, description="Number of rows.")


class TableColumn(BaseModel):
    """A column of a table."""

    name: str
    kind: Literal["number", "date", "category", "vector", "empty", "other"]
    is_numeric: bool = Field(description="Whether its values are numbers.")
    n_missing: int


class TableInfo(BaseModel):
    """The contents of a table."""

    table: str = Field(description="The name of the table in addresses.")
    name: str
    n_rows: int
    columns: list[TableColumn]
    warnings: list[AnswerWarning] = Field(description="What the reader noticed.")


class TablePoints(BaseModel):
    """Rows of a table in a plane; for a large table, a fixed sample of them."""

    rows: list[int]
    x: list[float | None] = Field(description="Dates are days since 1970.")
    y: list[float | None]


class TableRow(BaseModel):
    """A row of a table with its values."""

    row: int
    membership: float | None = Field(description="null without examples.")
    values: dict[str, Any]


class TableRows(BaseModel):
    """A page of rows."""

    n_matching: int = Field(description="Rows that match the filter.")
    rows: list[TableRow]


class MembersAnswer(BaseModel):
    """The members of a table, and the membership of the rows in `TablePoints`."""

    answer: dict[str, Any] = Field(description="As `mixsearch find --json` prints it.")
    membership: list[float]
    is_member: list[bool]
    warnings: list[AnswerWarning]

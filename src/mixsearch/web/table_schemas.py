"""Requests and answers about tables, as OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mixsearch.web.schemas import MAX_COLUMN_LENGTH, AnswerWarning

MAX_EXAMPLES, MAX_COLUMNS, MAX_SHOWN_ROWS = 1000, 1000, 100

RowNumber = Annotated[int, Field(ge=0, le=2**53, description="A row of the table, from 0.")]
ColumnName = Annotated[str, Field(max_length=MAX_COLUMN_LENGTH)]
Columns = Annotated[tuple[ColumnName, ...], Field(max_length=MAX_COLUMNS)]


class FitRequest(BaseModel):
    """Columns of a table to use, and columns to leave out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Columns = Field(default=(), description="Use only these columns. Default: all that can be used.")
    without: Columns = Field(default=(), description="Leave out these columns.")


class MembersRequest(FitRequest):
    """Rows that are members, and rows that are not."""

    examples: tuple[RowNumber, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows that are members.")
    not_examples: tuple[RowNumber, ...] = Field(
        default=(), max_length=MAX_EXAMPLES, description="Rows that are not members."
    )
    id: ColumnName | None = Field(default=None, description="The column that names the rows.")
    n_rows: int = Field(default=10, ge=0, le=MAX_SHOWN_ROWS, description="Number of typical rows.")


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


class TableFrame(TablePoints):
    """Rows in the plane of the two principal axes of the columns in use."""

    columns: list[str] = Field(description="The columns in use.")
    dropped_columns: dict[str, str] = Field(description="The other columns, each with the reason.")


class TableRows(BaseModel):
    """Rows of a table with their values."""

    rows: list[dict[str, Any]]


class MembersAnswer(BaseModel):
    """The members of a table, and the membership of the rows in `TablePoints`."""

    answer: dict[str, Any] = Field(description="As `mixsearch find --json` prints it.")
    membership: list[float]
    is_member: list[bool]
    warnings: list[AnswerWarning]

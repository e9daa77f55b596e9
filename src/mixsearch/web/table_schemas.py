"""Requests and answers about tables, as OpenAPI describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mixsearch.index import AnswerWarning
from mixsearch.web.schemas import MAX_COLUMN_LENGTH

MAX_EXAMPLES, MAX_COLUMNS, MAX_SHOWN_ROWS = 1000, 1000, 100

RowNumber = Annotated[int, Field(ge=0, le=2**53, description="A row of the table, from 0.")]
ColumnName = Annotated[str, Field(max_length=MAX_COLUMN_LENGTH)]
Columns = Annotated[tuple[ColumnName, ...], Field(max_length=MAX_COLUMNS)]


class ColumnsRequest(BaseModel):
    """Columns of a table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Columns = Field(default=(), description="Use only these columns. Default: all that can be used.")


class FitRequest(ColumnsRequest):
    """Columns of a table to use, and columns to leave out."""

    without: Columns = Field(default=(), description="Leave out these columns.")


class MembersRequest(FitRequest):
    """Rows that are members and rows that are none."""

    like: tuple[RowNumber, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows that are members.")
    not_like: tuple[RowNumber, ...] = Field(
        default=(), max_length=MAX_EXAMPLES, description="Rows that are not members."
    )
    id: ColumnName | None = Field(default=None, description="The column that names the rows.")
    n_rows: int = Field(default=10, ge=0, le=MAX_SHOWN_ROWS, description="Number of typical rows.")


class LineRequest(BaseModel):
    """Rows of a line, and its columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    y: ColumnName = Field(description="The column that the line predicts.")
    x: Columns = Field(min_length=1, description="The columns that it predicts from.")
    like: tuple[RowNumber, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows of the line.")
    id: ColumnName | None = Field(default=None, description="The column that names the rows.")
    n_components: int | None = Field(default=None, ge=1, le=50, description="Number of lines. Default: found.")
    n_rows: int = Field(default=5, ge=0, le=MAX_SHOWN_ROWS, description="Number of typical rows.")


class SubspaceRequest(ColumnsRequest):
    """Rows of a subspace."""

    like: tuple[RowNumber, ...] = Field(min_length=1, max_length=MAX_EXAMPLES, description="Rows of the subspace.")
    id: ColumnName | None = Field(default=None, description="The column that names the rows.")
    dim: int | None = Field(default=None, ge=1, le=MAX_COLUMNS, description="Dimension. Default: found.")
    n_components: int | None = Field(default=None, ge=1, le=50, description="Number of subspaces. Default: found.")
    n_rows: int = Field(default=5, ge=0, le=MAX_SHOWN_ROWS, description="Number of typical rows.")


class TableColumn(BaseModel):
    """A column of a table."""

    name: str
    kind: Literal["number", "date", "category", "vector", "empty", "other"]
    is_numeric: bool = Field(description="Whether lines and subspaces can use it.")
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


class FrameGroup(BaseModel):
    """A component of the mixture of a table."""

    n_rows: int = Field(description="The expected number of its rows.")
    typical_rows: list[int] = Field(description="Rows near its center.")


class TableFrame(TablePoints):
    """Rows in the plane in which the components of the mixture are farthest apart."""

    group: list[int] = Field(description="The likeliest component of each row.")
    groups: list[FrameGroup]
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


class Estimate(BaseModel):
    """A number with its standard error."""

    value: float
    stderr: float | None


class Interval(BaseModel):
    """A number of rows with a 95% interval; null if there is none."""

    n: int
    low: int | None
    high: int | None


class OtherLine(BaseModel):
    """Another line of the mixture."""

    weight: float
    intercept: float
    coefficients: dict[str, float]
    line: list[float] | None = Field(description="Its values along the curve; null with several columns.")


class Curve(BaseModel):
    """A line to draw: against the column, or against the prediction if there are several columns."""

    along: list[float]
    line: list[float]
    stderr: list[float | None]


class LineAnswer(BaseModel):
    """A line that some rows follow, and what is known of the rows in `TablePoints`."""

    y: str
    x: list[str]
    like: list[dict[str, Any]]
    n_table_rows: int
    n_rows: int
    n_left_out: int
    n_components: int
    joint: bool
    coefficients: dict[str, Estimate]
    intercept: Estimate
    weight: Estimate
    n_members: Interval
    noise: float = Field(description="The standard deviation around the line.")
    confidence: float
    verdict: str
    typical_rows: list[dict[str, Any]]
    doubtful_rows: list[dict[str, Any]]
    curve: Curve
    others: list[OtherLine]
    along: list[float | None] = Field(description="The column, or the prediction, of each row.")
    membership: list[float | None]
    warnings: list[AnswerWarning]


class Direction(BaseModel):
    """A direction of a subspace."""

    variance: float
    loadings: dict[str, float]


class SubspaceAnswer(BaseModel):
    """A subspace that some rows lie in, and what is known of the rows in `TablePoints`."""

    columns: list[str]
    scaled: bool
    like: list[dict[str, Any]]
    n_table_rows: int
    n_rows: int
    n_left_out: int
    n_components: int
    dim: int
    centered: bool
    basis: list[Direction]
    noise: float = Field(description="The standard deviation of each column around the subspace.")
    weight: Estimate
    n_members: Interval
    carried_by: str
    confidence: float
    verdict: str
    typical_rows: list[dict[str, Any]]
    doubtful_rows: list[dict[str, Any]]
    along: list[float | None] = Field(description="The coordinate of each row along the first direction.")
    residual: list[float | None] = Field(description="The distance of each row from the subspace.")
    membership: list[float | None]
    warnings: list[AnswerWarning]

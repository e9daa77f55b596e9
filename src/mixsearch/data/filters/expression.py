"""A filter as a tree of conditions: immutable, with one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.filters.literals import DateValue, Value

Order = Literal["=", "!=", "<", "<=", ">", ">="]
TextMatch = Literal["contains", "starts with", "ends with"]
ORDERS: tuple[Order, ...] = ("=", "!=", "<", "<=", ">", ">=")

BARE_NAME = r"[^\W\d]\w*(?:[.\-]\w+)*"
# Words that no bare name can be. Others have a meaning only behind a name.
RESERVED = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column against one value."""

    column: str
    operator: Order | TextMatch
    value: Value

    def __str__(self) -> str:
        return f"{spell_name(self.column)} {self.operator} {spell_value(self.value)}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A column against a list of values."""

    column: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{spell_name(self.column)} in ({', '.join(map(spell_value, self.values))})"


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a column has no value."""

    column: str

    def __str__(self) -> str:
        return f"{spell_name(self.column)} is missing"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    condition: Condition

    def __str__(self) -> str:
        inner = str(self.condition)
        return f"not ({inner})" if isinstance(self.condition, Both | Either) else f"not {inner}"


@dataclass(frozen=True, slots=True)
class Both:
    """A conjunction of conditions."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({each})" if isinstance(each, Either) else str(each) for each in self.conditions)


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction of conditions."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.conditions))


Condition = Comparison | OneOf | Missing | Not | Both | Either


def negate(condition: Condition) -> Condition:
    """Return the opposite of a condition."""
    return condition.condition if isinstance(condition, Not) else Not(condition)


def join(conditions: Sequence[Condition], kind: type[Both] | type[Either]) -> Condition:
    """Join conditions by "and" or "or". Those that are already joined this way become parts of the whole."""
    parts: list[Condition] = []
    for each in conditions:
        parts += each.conditions if isinstance(each, kind) else (each,)
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """A condition on the columns of a table.

    `str` gives it in one spelling, which `parse_filter` reads as an equal filter.

    Parameters
    ----------
    condition : Comparison, OneOf, Missing, Not, Both or Either
        The tree of conditions.
    """

    condition: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of columns that it needs, in the order of their first mention."""
        return tuple(dict.fromkeys(_list_columns(self.condition)))

    def __str__(self) -> str:
        return str(self.condition)

    # By the spelling: to Python, true and 1 are equal.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def mask(self, table: Any) -> Array:
        """Return which rows of a table match.

        Parameters
        ----------
        table : pyarrow.Table
            The table. Rows in which a value is missing match only if the filter is true for any value.

        Returns
        -------
        array of shape (n,), of bool
        """
        import_pyarrow("Filters")
        from mixsearch.data.filters.evaluation import evaluate

        return evaluate(self.condition, table)


def spell_name(name: str) -> str:
    """Return the name of a column as a filter spells it, in backticks if need be."""
    if re.fullmatch(BARE_NAME, name) and name.lower() not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def spell_value(value: Value) -> str:
    """Return a value as a filter spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, DateValue):
        return value.text
    return '"' + value.replace('"', '""') + '"'


def _list_columns(condition: Condition) -> Iterator[str]:
    if isinstance(condition, Not):
        yield from _list_columns(condition.condition)
    elif isinstance(condition, Both | Either):
        for each in condition.conditions:
            yield from _list_columns(each)
    else:
        yield condition.column

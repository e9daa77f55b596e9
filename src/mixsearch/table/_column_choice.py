"""Choose the columns of a table to use: those that are wanted and usable, with the reasons against the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mixsearch.data.partitions import Partitions
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError
from mixsearch.table._embedding import Embedder, embed_column
from mixsearch.table._feature_fit import fit_features
from mixsearch.table._features import Features, VectorFeatures
from mixsearch.table._source import TableSource
from mixsearch.table._summaries import ColumnsPartition
from mixsearch.table._tables import Header, find_columns

_NAMES_ROWS = "it names the rows"
_NOT_WANTED = "left out on request"
KIND_NAMES = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "vector": "vectors",
    "other": "other values",
}


class ChosenColumns(NamedTuple):
    """The columns of a table that are used."""

    features: tuple[Features, ...]  # one for each column
    dropped: dict[str, str]  # the other columns, each with the reason
    rows: Partitions[ColumnsPartition]  # their values


def choose_columns(
    source: TableSource,
    columns: Iterable[Any] | None,
    without: Iterable[Any],
    id: str | None,
    vectors: str | None,
    max_categories: int,
    embedder: Embedder,
) -> ChosenColumns:
    """Choose among the columns of a table, or among those that are wanted, and fit their features."""
    if vectors is not None:
        columns = [*(() if columns is None else _check_list("columns", columns)), vectors]
    wanted = range(len(source.names)) if columns is None else find_columns(source, _check_list("columns", columns))
    unwanted = {source.names[j] for j in find_columns(source, _check_list("without", without))}
    wanted = [j for j in wanted if source.names[j] not in unwanted]
    check_unique(source, wanted)
    named_by = set() if id is None else set(find_columns(source, [id]))
    indices = [j for j in wanted if j not in named_by]
    names = [source.names[j] for j in indices]
    rows = source.read(indices)
    _check_size(rows.n_rows)
    if embedder is not None and vectors is not None and str(vectors) in names:
        rows = rows.map(_embed, names.index(str(vectors)), embedder).persist()
    fitted, rows = fit_features(names, rows, max_categories, keep_ids=columns is not None) if names else ({}, rows)
    if vectors is not None:
        _check_vectors(str(vectors), fitted.get(str(vectors)))
    used = {name: each for name, each in fitted.items() if not isinstance(each, str)}
    dropped = {source.names[j]: _NAMES_ROWS for j in named_by}
    dropped |= {name: each for name, each in fitted.items() if isinstance(each, str)}
    _check_usable(used, dropped | dict.fromkeys(sorted(unwanted), _NOT_WANTED))
    rows = rows.map(_take_columns, [j for j, name in enumerate(names) if name in used])
    return ChosenColumns(tuple(used.values()), dropped, rows)


def _take_columns(partition: ColumnsPartition, indices: Sequence[int]) -> ColumnsPartition:
    return ColumnsPartition(partition.first, tuple(partition.columns[j] for j in indices))


def _embed(partition: ColumnsPartition, index: int, embedder: Embedder) -> ColumnsPartition:
    columns = list(partition.columns)
    columns[index] = embed_column(columns[index], embedder)
    return ColumnsPartition(partition.first, tuple(columns))


def _check_size(n_rows: int) -> None:
    if n_rows < 2:
        raise SearchError(
            "The table has {n_rows} " + pluralize(n_rows, "row") + ", but at least {needed} are needed.",
            code="too_few_rows",
            n_rows=n_rows,
            needed=2,
        )


def _check_vectors(column: str, features: Features | str | None) -> None:
    if isinstance(features, VectorFeatures):
        return
    found = (
        "it is left out" if features is None else features if isinstance(features, str) else KIND_NAMES[features.kind]
    )
    raise SearchError(
        "{argument} needs a column of vectors of one length, or of texts and an embedder, but {column!r} is neither: "
        "{found}.",
        code="not_vectors",
        argument=Option("vectors"),
        column=column,
        found=found,
    )


def _check_usable(used: Mapping[str, Features], dropped: Mapping[str, str]) -> None:
    if not used:
        raise SearchError(
            "The table has no column that can be used: {reasons}. Columns of numbers, dates or a few categories "
            "are needed.",
            code="no_usable_column",
            reasons="; ".join(f"{name!r} ({each})" for name, each in dropped.items()) or "it is empty",
        )


def _check_list(argument: str, columns: Iterable[Any]) -> Iterable[Any]:
    if isinstance(columns, str):
        raise SearchError(
            "{argument} must be a list of names, got {value!r}. Pass [{value!r}].",
            code="bad_argument",
            argument=Option(argument),
            value=columns,
        )
    return columns


def check_unique(table: Header, indices: Iterable[int]) -> None:
    """Raise if two of the columns have the same name."""
    repeated = sorted({table.names[j] for j in indices if table.names.count(table.names[j]) > 1})
    if repeated:
        raise SearchError(
            "The table has several columns with the name {names}. Rename or remove all but one.",
            code="repeated_columns",
            names=", ".join(map(repr, repeated)),
        )

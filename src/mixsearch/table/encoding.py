"""Encode a table as features on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError
from mixsearch.table.columns import Column, read_texts
from mixsearch.table.features import KIND_NAMES, Features, NumberFeatures, VectorFeatures, fit_features
from mixsearch.table.tables import Table, find_columns, open_table


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into features on one scale.

    Numbers and dates are standardised, and the indicators of a column of categories have a total variance of 1. A
    missing value is neutral: it has the median, or the mean of the indicators. Ids, free text and constant columns are
    left out. Text of which at least 95% are numbers is read as numbers; other values count as missing.

    Parameters
    ----------
    max_categories : int
        A column of text with more different values is left out.

    Attributes
    ----------
    columns_ : tuple of str
        The columns in use.
    dropped_columns_ : dict from str to str
        The other columns, each with the reason.
    feature_names_ : tuple of str
        Such as "area" and "city=Rome".

    Examples
    --------
    >>> encoder = TableEncoder().fit({"area": [50.0, 70.0, 90.0, 70.0], "city": ["Rome", "Oslo", "Oslo", "Rome"]})
    >>> encoder.feature_names_
    ('area', 'city=Oslo', 'city=Rome')
    """

    def __init__(self, max_categories: int = 20) -> None:
        self.max_categories = max_categories

    def fit(
        self,
        table: Any,
        y: None = None,
        *,
        columns: Iterable[Any] | None = None,
        without: Iterable[Any] = (),
        id: str | None = None,
        vectors: str | None = None,
    ) -> Self:
        """Find the columns to use, their kinds and their scales.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            At least two rows. It is not changed.
        y : None
            Ignored.
        columns : iterable of str, optional
            Use only these; integers that look like ids are then used too. For an array, their indices.
        without : iterable of str, optional
            Leave these out.
        id : str, optional
            The column that names the rows. It is not used.
        vectors : str, optional
            A column of vectors. It is used alone, or together with `columns`.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        check_positive_int("max_categories", self.max_categories)
        opened = open_table(table)
        if opened.n_rows < 2:
            raise SearchError(
                "The table has {n_rows} " + pluralize(opened.n_rows, "row") + " (n_samples = {n_rows}), but at least "
                "{needed} are needed.",
                code="too_few_rows",
                n_rows=opened.n_rows,
                needed=2,
            )
        indices, dropped = _choose_columns(opened, columns, without, id, vectors)
        used: dict[str, Features] = {}
        for j in indices:
            features = fit_features(opened.names[j], opened.get(j), self.max_categories, keep_id=columns is not None)
            if isinstance(features, str):
                dropped[opened.names[j]] = features
            else:
                used[opened.names[j]] = features
        if vectors is not None and not isinstance(used.get(str(vectors)), VectorFeatures):
            raise _not_vectors(str(vectors), used, dropped)
        if not used:
            raise SearchError(
                "The table has no column that can be used: {reasons}. Columns of numbers, dates or a few categories "
                "are needed.",
                code="no_usable_column",
                reasons="; ".join(f"{name!r} ({reason})" for name, reason in dropped.items()) or "it is empty",
            )
        unwanted = [opened.names[j] for j in find_columns(opened, _check_list("without", without))]
        self.dropped_columns_ = {name: reason for name, reason in dropped.items() if name not in unwanted}
        self._features = tuple(used.values())
        self._n_columns, self._is_named = len(opened.names), opened.is_named
        self.columns_ = tuple(used)
        self.feature_names_ = tuple(name for features in self._features for name in features.names)
        return self

    def transform(self, table: Any) -> Array:
        """Compute the features of the rows of a table.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            With the columns of the fit, in any order; an array has the same columns in the same order.

        Returns
        -------
        ndarray of shape (n, n_features)
        """
        check_is_fitted(self)
        opened = open_table(table)
        columns = [opened.get(j) for j in self._find_fitted(opened)]
        return np.hstack(
            [each.encode(_read(each, column)) for each, column in zip(self._features, columns, strict=True)]
        )

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self.feature_names_, dtype=object)

    def get_column(self, table: Any, name: str) -> Column:
        """Return one column of a table as the fit read it: text of which nearly all is numbers becomes numbers.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            The table.
        name : str
            The name of the column.

        Returns
        -------
        Column
        """
        check_is_fitted(self)
        opened = open_table(table)
        column = opened.get(find_columns(opened, [name])[0])
        fitted = next((each for each in self._features if each.name == name), None)
        return read_texts(column) if isinstance(fitted, NumberFeatures) and fitted.from_text else column

    def _find_fitted(self, table: Table) -> list[int]:
        """Return the indices of the columns of the fit."""
        missing = [name for name in self.columns_ if name not in table.names]
        is_other_array = not (table.is_named or self._is_named) and len(table.names) != self._n_columns
        if missing or is_other_array:
            raise SearchError(
                "The table must have the columns of the fit. It has {n_columns}, the fit had {n_fitted}; missing: "
                "{missing}.",
                code="other_columns",
                n_columns=len(table.names),
                n_fitted=self._n_columns,
                missing=", ".join(missing) or "none",
            )
        indices = find_columns(table, self.columns_)
        _check_unique(table, indices)
        return indices


def _choose_columns(
    table: Table, columns: Iterable[Any] | None, without: Iterable[Any], id: str | None, vectors: str | None
) -> tuple[list[int], dict[str, str]]:
    """Choose the columns to look at, and name those that are left out on request, each with the reason."""
    if vectors is not None:
        columns = [*(() if columns is None else _check_list("columns", columns)), vectors]
    wanted = range(len(table.names)) if columns is None else find_columns(table, _check_list("columns", columns))
    unwanted = {table.names[j] for j in find_columns(table, _check_list("without", without))}
    wanted = [j for j in wanted if table.names[j] not in unwanted]
    _check_unique(table, wanted)
    named_by = [] if id is None else find_columns(table, [id])
    dropped = dict.fromkeys((table.names[j] for j in named_by), "it names the rows")
    dropped |= dict.fromkeys(sorted(unwanted), "left out on request")
    return [j for j in wanted if j not in named_by], dropped


def _read(features: Features, column: Column) -> Column:
    """Return a column as the fit read it, if it is of the same kind."""
    if isinstance(features, NumberFeatures) and features.from_text:
        column = read_texts(column)
    if column.kind not in (features.kind, "empty"):
        raise SearchError(
            "The column {column!r} had {expected} at the fit, but has {found} now.",
            code="other_kind",
            column=features.name,
            expected=KIND_NAMES[features.kind],
            found=KIND_NAMES[column.kind],
        )
    return column


def _not_vectors(column: str, used: Mapping[str, Features], dropped: Mapping[str, str]) -> SearchError:
    found = KIND_NAMES[used[column].kind] if column in used else dropped.get(column, "it is left out")
    return SearchError(
        "{argument} needs a column of vectors of one length, but {column!r} is not: {found}.",
        code="not_vectors",
        argument=Option("vectors"),
        column=column,
        found=found,
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


def _check_unique(table: Table, indices: Iterable[int]) -> None:
    """Raise an error if two of the columns have the same name."""
    repeated = sorted({table.names[j] for j in indices if table.names.count(table.names[j]) > 1})
    if repeated:
        raise SearchError(
            "The table has several columns with the name {names}. Rename or remove all but one.",
            code="repeated_columns",
            names=", ".join(map(repr, repeated)),
        )

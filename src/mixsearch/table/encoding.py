"""Encode a table as features on one scale, and decode to its units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks, SampleChunk
from mixsearch.core.validation import check_positive_int
from mixsearch.errors import SearchError
from mixsearch.table.columns import Column, read_texts
from mixsearch.table.features import KIND_NAMES, Features, NumberFeatures, check_unique, choose_columns
from mixsearch.table.source import TableSource, open_source
from mixsearch.table.summaries import ColumnsChunk
from mixsearch.table.tables import Table, find_columns, get_column, open_table

# Few enough rows for all their features to stay in a processor's cache.
_CHUNK_ROWS = 4096


class TableEncoder(BaseEstimator):
    """Turn the columns of a table into features on one scale.

    Numbers and dates are standardised, categories and booleans become indicators with a total variance of 1 for each
    column, missing values become the median or a separate category. Ids, free text and constant columns are left out.
    Text of which at least 95% are numbers is read as numbers; other values count as missing.

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
        Such as "area", "city=Rome" and "area missing".
    column_of_feature_ : ndarray of shape (n_features,)
        Index of each feature's column in `columns_`.

    Notes
    -----
    Numbers further than 10 robust deviations from the median are clipped if they are few: at most 2 and 0.2% of the
    rows on either side. A missing number becomes the median; if at least 1% are missing, a further feature marks them.
    All features have mean 0, so a category that the fit did not have becomes zeros, which are neutral.

    Examples
    --------
    >>> encoder = TableEncoder().fit({"area": [50.0, 70.0, 90.0, 70.0], "city": ["Rome", "Oslo", "Oslo", "Rome"]})
    >>> encoder.feature_names_
    ('area', 'city=Oslo', 'city=Rome')
    >>> encoder.to_units(encoder.transform({"area": [60.0], "city": ["Rome"]})[0])
    {'area': 60.0, 'city': {'Rome': 1.0, 'Oslo': 0.0}}
    """

    def __init__(self, max_categories: int = 20) -> None:
        self.max_categories = max_categories

    def fit(
        self,
        table: Any,
        columns: Iterable[Any] | None = None,
        *,
        without: Iterable[Any] = (),
        id: str | None = None,
        vectors: str | None = None,
    ) -> Self:
        """Find the columns to use, their kinds and their scales.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            At least two rows. It is not changed.
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
        self._fit_columns(open_source(table), columns, without, id, vectors)
        return self

    def _fit_rows(
        self,
        source: TableSource,
        columns: Iterable[Any] | None,
        without: Iterable[Any],
        id: str | None,
        vectors: str | None,
    ) -> Chunks[SampleChunk]:
        """Fit, and return the features of the same rows, wherever they are."""
        return self._fit_columns(source, columns, without, id, vectors).map(_encode, self).persist()

    def _fit_columns(
        self,
        source: TableSource,
        columns: Iterable[Any] | None,
        without: Iterable[Any],
        id: str | None,
        vectors: str | None,
    ) -> Chunks[ColumnsChunk]:
        """Fit, and return the columns in use."""
        check_positive_int("max_categories", self.max_categories)
        chosen = choose_columns(source, columns, without, id, vectors, self.max_categories)
        self._features = chosen.features
        self._n_columns, self._is_named = len(source.names), source.is_named
        self.dropped_columns_ = chosen.dropped
        self.columns_ = tuple(each.name for each in self._features)
        self.feature_names_ = tuple(name for each in self._features for name in each.names)
        self.column_of_feature_ = np.repeat(np.arange(len(self.columns_)), [len(each.names) for each in self._features])
        self.column_of_feature_.flags.writeable = False
        return chosen.rows

    def transform(self, table: Any) -> Array:
        """Return the features of the rows of a table.

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
        return self._encode([opened.get(j) for j in self._find_fitted(opened)], opened.n_rows)

    def _encode(self, columns: Sequence[Column], n_rows: int) -> Array:
        """Return the features of rows from the columns in use."""
        prepared = [
            each.prepare(self._check_kind(each, column)) for each, column in zip(self._features, columns, strict=True)
        ]
        features = np.empty((n_rows, len(self.feature_names_)))
        for start in range(0, n_rows, _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            for each, values, span in zip(self._features, prepared, self._list_spans(), strict=True):
                each.write(values[rows], features[rows, span])
        return features

    def fit_transform(
        self,
        table: Any,
        columns: Iterable[Any] | None = None,
        *,
        without: Iterable[Any] = (),
        id: str | None = None,
        vectors: str | None = None,
    ) -> Array:
        """Fit, and return the features of the same rows.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            At least two rows.
        columns : iterable of str, optional
            Use only these.
        without : iterable of str, optional
            Leave these out.
        id : str, optional
            The column that names the rows. It is not used.
        vectors : str, optional
            A column of vectors. It is used alone, or together with `columns`.

        Returns
        -------
        ndarray of shape (n, n_features)
        """
        rows = self._fit_rows(open_source(table), columns, without, id, vectors)
        return np.asarray(rows.collect().chunk.samples)

    def to_units(self, features: Array) -> dict[str, Any]:
        """Return a point, such as the center of a component, in the units of the table.

        Parameters
        ----------
        features : ndarray of shape (n_features,)
            The point.

        Returns
        -------
        dict from str to float, date, datetime or dict
            A value for each column in use. For categories, the share of each, largest first.
        """
        check_is_fitted(self)
        point = np.asarray(features, dtype=np.float64)
        if point.shape != (len(self.feature_names_),):
            raise SearchError(
                "A point has {n_features} features, but the array has the shape {shape}.",
                code="other_features",
                n_features=len(self.feature_names_),
                shape=point.shape,
            )
        return {
            each.name: each.to_units(point[span]) for each, span in zip(self._features, self._list_spans(), strict=True)
        }

    @property
    def scales(self) -> dict[str, float]:
        """The units of each column of numbers in one unit of its feature; days for dates. For standard errors."""
        check_is_fitted(self)
        return {each.name: each.scale for each in self._features if isinstance(each, NumberFeatures)}

    @property
    def jitter(self) -> Array:
        """The standard deviation of the noise of each feature for a mixture, (n_features,): none for numbers."""
        check_is_fitted(self)
        return np.concatenate([each.jitter for each in self._features])

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
        column = get_column(table, name)
        fitted = next((each for each in self._features if each.name == name), None)
        return read_texts(column) if isinstance(fitted, NumberFeatures) and fitted.from_text else column

    def _check_kind(self, features: Features, column: Column) -> Column:
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

    def _list_spans(self) -> list[slice]:
        stops = np.cumsum([len(each.names) for each in self._features]).tolist()
        return [slice(stop - len(each.names), stop) for each, stop in zip(self._features, stops, strict=True)]

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
        check_unique(table, indices)
        return indices


def _encode(chunk: ColumnsChunk, encoder: TableEncoder) -> SampleChunk:
    return SampleChunk(chunk.first, encoder._encode(chunk.columns, chunk.n_rows))

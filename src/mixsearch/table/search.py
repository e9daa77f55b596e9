"""Rows like these: fit a graph of neighbours to a table once, then find the rows like a few of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from mixsearch._typing import Array, TableLike
from mixsearch.core.validation import as_search_errors
from mixsearch.errors import DoubtfulExamplesWarning, HintError, Option, SearchError, collect_warnings, warn_user
from mixsearch.graph.members import find_members
from mixsearch.io.frames import is_frame
from mixsearch.io.tables import collect_dask
from mixsearch.table.component import TableComponent
from mixsearch.table.encoding import TableEncoder
from mixsearch.table.fit import fit_rows
from mixsearch.table.rows import check_positions, find_rows
from mixsearch.table.tables import get_values, open_table, read_table

RowsLike: TypeAlias = int | str | Iterable[int] | Iterable[str] | TableLike
POSITIVE, NEGATIVE, UNLABELED = 1, 0, -1
MAX_LISTED = 10


class TableSearch(ClassifierMixin, BaseEstimator):
    """Find the rows of a table that are like a few of them: a classifier from positive and unlabeled rows.

    Parameters
    ----------
    max_categories : int, default=20
        A column of text with more different values is left out.

    Attributes
    ----------
    columns_ : tuple of str
        The columns in use.
    dropped_columns_ : dict from str to str
        The other columns, each with the reason.
    table_ : table
        The table of the fit, unchanged, or as read from its file.
    found_ : TableComponent
        The answer for the labels of the fit; only after a fit with labels.
    classes_ : ndarray of shape (2,)
        The labels of other rows and of members: 0 and 1, or the two labels of the fit.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if they are all strings.

    Notes
    -----
    A graph connects each row with its nearest neighbours; edges within one component of a Gaussian mixture count more.
    Personalised PageRank from the examples ranks all rows. Each example is left out in turn: its rank among all rows
    is the check of the answer, and membership is proportional to a power of the score, as high as the left-out examples
    have it. What the check expects to find among the first rows is the sum of their membership.

    A fit without labels serves any number of searches with `search`. Of labels, 1 is a member, 0 is not, and -1 is
    unknown. Two other labels are those of other rows and of members, in sorted order; so are -1 and 1 if at least half
    of the rows have 1 and none has 0.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schölkopf, "Learning with Local and Global Consistency", NIPS
    2003.

    C. Elkan and K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixsearch import TableSearch
    >>> X, species = load_iris(return_X_y=True)
    >>> search = TableSearch().fit(X)
    >>> found = search.search(examples=[3, 17, 40])
    >>> bool((species[found.typical_rows(20)] == 0).all())
    True
    """

    def __init__(self, max_categories: int = 20) -> None:
        self.max_categories = max_categories

    def fit(
        self,
        X: TableLike | str | os.PathLike[str],
        y: Any = None,
        *,
        columns: Iterable[Any] | None = None,
        without: Iterable[Any] = (),
        id: str | None = None,
    ) -> Self:
        """Connect the rows of a table with their neighbours, and score them if some are labelled.

        Parameters
        ----------
        X : array-like of shape (n, p), DataFrame, pyarrow.Table, mapping from names to columns, or path
            Numbers, dates, booleans and categories; values may be missing. It is not changed. A path is that of a file
            which `read_table` reads. A Dask array or frame is collected in the memory of this process.
        y : array-like of shape (n,), optional
            1 for members, 0 for rows that are not members, -1 for unknown ones. Without labels, only `search` answers.
        columns : iterable of str, optional
            Use only these columns.
        without : iterable of str, optional
            Leave out these columns.
        id : str, optional
            The column that names the rows. It is not used as a feature. Examples may then be ids.

        Returns
        -------
        self
        """
        X = read_table(X) if isinstance(X, str | os.PathLike) else collect_dask(X)
        table = self._check_table(X, reset=True)
        labels = None if y is None else _read_labels(y, len(table) if isinstance(table, np.ndarray) else table.height)
        encoder = TableEncoder(self.max_categories)
        chosen = None if columns is None else tuple(columns) or None
        encoder.fit(table, columns=chosen, without=without, id=id)
        self._encoder, self._id = encoder, id
        self._rows = fit_rows(encoder.transform(table))
        self.table_ = X
        self.columns_, self.dropped_columns_ = encoder.columns_, encoder.dropped_columns_
        if labels is not None:
            self.classes_ = labels.classes
            with collect_warnings():  # found_ has them
                self.found_ = self.search(labels.positive, not_examples=labels.negative)
        return self

    def search(self, examples: RowsLike, *, not_examples: RowsLike = ()) -> TableComponent:
        """Find the rows that are like a few of them.

        Parameters
        ----------
        examples : int, str, iterable of int or str, array of bool of shape (n,), or table
            Rows that are members: their positions, their ids if the fit had an `id` column, a mask, or new rows with
            the columns of the table.
        not_examples : int, str, iterable of int or str, array of bool of shape (n,), or table, optional
            Rows that are not members.

        Returns
        -------
        TableComponent

        Warns
        -----
        DoubtfulExamplesWarning
            If the examples are of two groups of rows.
        """
        check_is_fitted(self)
        # 1) examples as nodes of the graph
        positive, negative = self._read("examples", examples), self._read("not_examples", not_examples)
        _check_examples(positive, negative)
        # 2) scores, the check and membership of the nodes
        members = find_members(self._rows.pagerank, positive.nodes, negative.nodes, self._rows.sizes)
        # 3) the same for all rows
        found = TableComponent(
            examples=tuple(positive.positions.tolist()),
            not_examples=tuple(negative.positions.tolist()),
            check=members.check,
            is_probability=members.is_probability,
            warnings=tuple(_find_warnings(positive, members.apart)),
            _search=self,
            _members=members,
        )
        for warning in found.warnings:
            warn_user(warning)
        return found

    def predict(self, X: TableLike) -> Array:
        """Predict which rows are members.

        Parameters
        ----------
        X : array-like of shape (q, p), DataFrame, pyarrow.Table or mapping from names to columns
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (q,)
            Labels as in `classes_`.
        """
        is_member = self.decision_function(X) > 0
        return np.asarray(self.classes_[is_member.astype(np.intp)])

    def predict_proba(self, X: TableLike) -> Array:
        """Compute the membership of rows; with fewer than three examples, it is a rank and not a probability.

        Parameters
        ----------
        X : array-like of shape (q, p), DataFrame, pyarrow.Table or mapping from names to columns
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (q, 2)
            1 - membership, and membership.
        """
        membership = self.decision_function(X) + 0.5
        return np.stack([1 - membership, membership], axis=1)

    def decision_function(self, X: TableLike) -> Array:
        """Compute the membership of rows less 1/2: the mean over their neighbours among the rows of the fit.

        Parameters
        ----------
        X : array-like of shape (q, p), DataFrame, pyarrow.Table or mapping from names to columns
            Rows with the columns of the fit.

        Returns
        -------
        array of shape (q,)
        """
        check_is_fitted(self, "_rows")
        table = self._check_table(X, reset=False)
        if not hasattr(self, "found_"):
            raise SearchError("The table was fitted without labels. Pass y to fit.", code="no_labels")
        return self._rows.smooth(self._encoder.transform(table), self.found_._members.membership) - 0.5

    def _check_table(self, table: Any, *, reset: bool) -> Any:
        """Check a table as scikit-learn does, and return an array or a data frame of Polars."""
        if is_frame(table) and not sp.issparse(table):
            frame = open_table(table).frame
            validate_data(self, frame, reset=reset, skip_check_array=True)
            return frame
        with as_search_errors():
            return validate_data(self, table, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1)

    def _read(self, argument: str, rows: Any) -> Examples:
        """Find the examples that an argument names: positions, ids, a mask or a table with rows."""
        if _is_table(rows):
            encoded = self._encoder.transform(rows)
            nodes = self._rows.nearest_nodes(encoded) if len(encoded) else np.empty(0, dtype=np.intp)
            return Examples(np.empty(0, dtype=np.intp), nodes)
        positions = self._read_positions(argument, rows)
        return Examples(positions, self._rows.node_of_row[positions])

    def _read_positions(self, argument: str, rows: Any) -> Array:
        n_rows = len(self._rows.node_of_row)
        if rows is None or isinstance(rows, bool):
            raise _bad_rows(argument, rows)
        rows = [rows] if isinstance(rows, str | int | np.integer) else rows
        rows = rows if isinstance(rows, np.ndarray) else list(rows)
        if self._id is not None and len(rows) and all(isinstance(row, str) for row in rows):
            return np.unique(find_rows(get_values(self.table_, self._id), rows))
        positions = np.asarray(rows)
        if positions.size == 0:
            return np.empty(0, dtype=np.intp)
        if positions.ndim != 1 or positions.dtype.kind not in "iub":
            raise _bad_rows(argument, positions.ravel()[:3].tolist())
        if positions.dtype.kind != "b":
            return np.unique(check_positions(argument, positions, n_rows))
        if len(positions) != n_rows:
            raise HintError(
                "{argument} is a mask of {length} booleans, but the table has {n_rows} rows.",
                code="bad_mask",
                argument=Option(argument),
                length=len(positions),
                n_rows=n_rows,
            )
        return np.flatnonzero(positions)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_rows")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.target_tags.required = False
        tags.classifier_tags.multi_class = False
        return tags


class Examples(NamedTuple):
    """Rows that a search starts from."""

    positions: Array  # in the table, each once; none if they are rows of their own
    nodes: Array  # the node of each example, (q,)

    @property
    def names(self) -> list[Any]:
        """The position of each example; its number if it is a new row."""
        return self.positions.tolist() or list(range(len(self.nodes)))


def find(
    table: TableLike | str | os.PathLike[str],
    examples: RowsLike,
    not_examples: RowsLike = (),
    *,
    columns: Iterable[Any] | None = None,
    without: Iterable[Any] = (),
    id: str | None = None,
) -> TableComponent:
    """Find the rows of a table that are like a few of them, in one call.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table, mapping from names to columns, or path
        Numbers, dates, booleans and categories; values may be missing. A path is that of a file which `read_table`
        reads, such as "wine.csv".
    examples : int, str, iterable of int or str, array of bool of shape (n,), or table
        Rows that are members: their positions, their ids with `id`, a mask, or new rows with the columns of the table.
    not_examples : int, str, iterable of int or str, array of bool of shape (n,), or table, optional
        Rows that are not members.
    columns : iterable of str, optional
        Use only these columns.
    without : iterable of str, optional
        Leave out these columns.
    id : str, optional
        The column that names the rows. It is not used as a feature.

    Returns
    -------
    TableComponent

    See Also
    --------
    TableSearch : Fit once, search many times.

    Examples
    --------
    >>> import mixsearch
    >>> from sklearn.datasets import load_iris
    >>> found = mixsearch.find(load_iris().data, examples=[3, 17, 40])
    >>> len(found.membership)
    150
    """
    search = TableSearch().fit(table, columns=columns, without=without, id=id)
    return search.search(examples, not_examples=not_examples)


class Labels(NamedTuple):
    """Labelled rows, and the labels of other rows and of members."""

    positive: Array
    negative: Array
    classes: Array


def _read_labels(y: Any, n_rows: int) -> Labels:
    """Read labels: 1, 0 and -1 for unknown, or two labels of any kind."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    values = np.unique(y)
    if len(y) != n_rows:
        raise SearchError(
            "y has {n_labels:,} labels, but the table has {n_rows:,} rows.",
            code="other_length",
            n_labels=len(y),
            n_rows=n_rows,
        )
    is_number = y.dtype.kind in "iufb"
    is_partial = is_number and np.isin(values, (UNLABELED, NEGATIVE, POSITIVE)).all()
    if is_partial and (NEGATIVE in values or len(values) < 2 or np.mean(y == POSITIVE) < 0.5):
        return Labels(np.flatnonzero(y == POSITIVE), np.flatnonzero(y == NEGATIVE), np.array([NEGATIVE, POSITIVE]))
    if len(values) != 2:
        raise SearchError(
            "Only binary classification is supported. The type of the target is {kind}. Labels must be 1, 0 and -1 for "
            "unknown, or two classes.",
            code="bad_labels",
            kind=type_of_target(y),
        )
    return Labels(np.flatnonzero(y == values[1]), np.flatnonzero(y == values[0]), values)


def _bad_rows(argument: str, value: Any) -> HintError:
    return HintError(
        "{argument} must be positions of rows, as integers, a mask or a table with rows, got {value!r}.",
        code="bad_rows",
        argument=Option(argument),
        value=value,
    )


def _check_examples(positive: Examples, negative: Examples) -> None:
    """Raise an error if there is no example, or a row is both a member and not a member."""
    if not len(positive.nodes):
        raise HintError(
            "{argument} names no row: at least one row of the class of members is needed.",
            code="no_rows_named",
            argument=Option("examples"),
        )
    both = np.intersect1d(positive.positions, negative.positions)
    if len(both):
        raise HintError(
            "Rows cannot be given both as members and as non-members: {rows}.",
            code="contradicting_rows",
            rows=", ".join(map(str, both.tolist())),
        )


def _find_warnings(examples: Examples, smaller: Array) -> list[DoubtfulExamplesWarning]:
    """Return the warning that the examples are of two groups, if they are: `smaller` has those of the smaller one."""
    if not len(smaller):
        return []
    rows = [examples.names[index] for index in smaller]
    return [
        DoubtfulExamplesWarning(
            "The {n_examples} examples are of two groups: rows {listed} are far from the others. Search for each group "
            "by itself, or leave out those that may be wrong.",
            code="examples_disagree",
            n_examples=len(examples.nodes),
            n_far=len(rows),
            listed=", ".join(map(str, rows[:MAX_LISTED])) + (", ..." if len(rows) > MAX_LISTED else ""),
            rows=rows,
        )
    ]


def _is_table(rows: Any) -> bool:
    """Return whether examples are rows of their own."""
    if isinstance(rows, np.ndarray):
        return rows.ndim == 2 or rows.dtype.names is not None
    if isinstance(rows, list | tuple):
        return bool(rows) and isinstance(rows[0], list | tuple | np.ndarray)
    return is_frame(rows)

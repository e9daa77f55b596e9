"""Search in tables: fit once, then find the rows like a few given ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, TableLike
from mixsearch.core.validation import check_choice, check_positive_int
from mixsearch.errors import DoubtfulExamplesWarning, HintError, Option, warn_user
from mixsearch.graph.walk import Visits, find_members, start_at
from mixsearch.table.component import TableComponent
from mixsearch.table.fit import ColumnChoice, TableFit, fit_table
from mixsearch.table.rows import check_positions, find_rows
from mixsearch.table.shapes import SHAPES, Shape
from mixsearch.table.tables import get_values

Covariance = Literal["auto"] | Shape
RowsLike: TypeAlias = int | str | Iterable[int] | Iterable[str] | TableLike
# An example is doubted if fewer other examples than this are expected in its group, or if its group is that of most
# examples with a lower probability.
MIN_SAME = 0.05
MAX_LISTED = 10


class TableSearch(BaseEstimator):
    """Find the rows of a table that are like a few of them.

    Parameters
    ----------
    covariance : {"auto", "spherical", "diagonal", "tied", "low-rank", "full"}, default="auto"
        The shape of the components of the mixture. "auto" chooses the one with the best Bayesian information criterion.
    max_components : int, default=15
        The mixture has at most this many components; the criterion chooses how many.

    Attributes
    ----------
    n_components_ : int
        The number of components of the mixture.
    covariance_ : str
        The shape of the components.
    columns_ : tuple of str
        The columns in use.
    dropped_columns_ : dict from str to str
        The other columns, each with the reason.
    table_ : table
        The table of the fit, unchanged.

    Notes
    -----
    Fitting needs no examples: fit once, then search as often as you like. A mixture of Gaussians finds the groups, and
    a graph of nearest neighbours shows where they end if they are not Gaussian. A random walk on the graph starts at
    the examples; edges between two components of the mixture have smaller weights if neighbours agree with the
    mixture.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston and B. Schölkopf, "Learning with Local and Global Consistency", NIPS
    2003.

    R. Andersen, F. Chung and K. Lang, "Local Graph Partitioning using PageRank Vectors", FOCS 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixsearch import TableSearch
    >>> X, species = load_iris(return_X_y=True)
    >>> found = TableSearch().fit(X).search(like=[3, 17, 40])
    >>> round(float((species[found.predict()] == 0).mean()), 1)
    1.0
    """

    def __init__(self, covariance: Covariance = "auto", *, max_components: int = 15) -> None:
        self.covariance = covariance
        self.max_components = max_components

    def fit(
        self,
        table: TableLike,
        y: None = None,
        *,
        columns: Iterable[Any] | None = None,
        without: Iterable[Any] = (),
        id: str | None = None,
        vectors: str | None = None,
    ) -> Self:
        """Fit a mixture to the rows of a table, and connect each row with its neighbours.

        Parameters
        ----------
        table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
            Numbers, dates, booleans and categories; values may be missing. It is not changed. The rows of a Dask array
            or data frame stay on the workers.
        y : None
            Ignored.
        columns : iterable of str, optional
            Use only these columns.
        without : iterable of str, optional
            Leave out these columns.
        id : str, optional
            The column that names the rows. It is not used as a feature. Examples may then be ids.
        vectors : str, optional
            A column of vectors. It is used alone, or together with `columns`.

        Returns
        -------
        self
        """
        check_choice("covariance", self.covariance, ("auto", *SHAPES))
        check_positive_int("max_components", self.max_components)
        shape = None if self.covariance == "auto" else self.covariance
        use = ColumnChoice(columns, without, id, vectors)
        fit = fit_table(table, use, shape, self.max_components)
        self._fit = fit
        self.table_ = fit.table
        self.columns_ = fit.encoder.columns_
        self.dropped_columns_ = fit.encoder.dropped_columns_
        self.n_components_ = len(fit.mixture.weights)
        self.covariance_ = fit.mixture.shape
        return self

    def search(self, like: RowsLike, *, not_like: RowsLike = ()) -> TableComponent:
        """Find the rows that are like a few of them.

        Parameters
        ----------
        like : int, str, iterable of int or str, array of bool of shape (n,), or table
            Rows that are members: their positions, their ids if the fit had an `id` column, a mask, or new rows with
            the columns of the table.
        not_like : int, str, iterable of int or str, array of bool of shape (n,), or table, optional
            Rows that are not members.

        Returns
        -------
        TableComponent

        Warns
        -----
        DoubtfulExamplesWarning
            If some examples are in another group of rows than the others.
        UncertainSizeWarning
            If more than half of the rows are called members, and their number is uncertain.
        """
        check_is_fitted(self)
        fit = self._fit
        members, others = read_examples("like", like, fit), read_examples("not_like", not_like, fit)
        check_examples(members, others)
        walk = fit.graph.with_examples(len(members.nodes) + len(others.nodes))
        visits = Visits.of(walk, *(start_at(each.nodes, len(fit.node_resp)) for each in (members, others)))
        expected = expected_size(members, visits, fit)
        found = TableComponent(
            like=tuple(members.positions.tolist()),
            not_like=tuple(others.positions.tolist()),
            warnings=tuple(find_warnings(members, fit)),
            _n_examples=len(members.nodes),
            _fit=fit,
            _members=find_members(walk, visits, members.nodes, fit.nodes.sizes, expected),
            _scores=visits.scores(),
        )
        if not found.warnings:
            found = found._check_size(expected)
        for warning in found.warnings:
            warn_user(warning)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")


def find(
    table: TableLike,
    like: RowsLike,
    not_like: RowsLike = (),
    *,
    columns: Iterable[Any] | None = None,
    without: Iterable[Any] = (),
    id: str | None = None,
    vectors: str | None = None,
    covariance: Covariance = "auto",
    max_components: int = 15,
) -> TableComponent:
    """Find the rows of a table that are like a few of them, in one call.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        Numbers, dates, booleans and categories; values may be missing.
    like : int, str, iterable of int or str, array of bool of shape (n,), or table
        Rows that are members: their positions, their ids with `id`, a mask, or new rows with the columns of the table.
    not_like : int, str, iterable of int or str, array of bool of shape (n,), or table, optional
        Rows that are not members.
    columns : iterable of str, optional
        Use only these columns.
    without : iterable of str, optional
        Leave out these columns.
    id : str, optional
        The column that names the rows. It is not used as a feature.
    vectors : str, optional
        A column of vectors. It is used alone, or together with `columns`.
    covariance : {"auto", "spherical", "diagonal", "tied", "low-rank", "full"}, default="auto"
        The shape of the components of the mixture.
    max_components : int, default=15
        The mixture has at most this many components.

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
    >>> found = mixsearch.find(load_iris().data, like=[3, 17, 40])
    >>> len(found.membership)
    150
    """
    search = TableSearch(covariance, max_components=max_components)
    search.fit(table, columns=columns, without=without, id=id, vectors=vectors)
    return search.search(like, not_like=not_like)


class Examples(NamedTuple):
    """Rows that a search starts from."""

    positions: Array  # in the table, each once; none if they are rows of their own
    nodes: Array  # the node that stands for each example, (q,)
    resp: Array  # (q, k)

    @property
    def names(self) -> list[Any]:
        """The position of each example; its number if it is a new row."""
        return self.positions.tolist() or list(range(len(self.nodes)))


def read_examples(argument: str, rows: Any, fit: TableFit) -> Examples:
    """Return the examples that an argument names: positions, a mask or a table with rows."""
    if _is_table(rows):
        positions = np.empty(0, dtype=np.intp)
        nodes, resp = fit.find_nodes(rows)
    else:
        positions = _read_positions(argument, rows, fit)
        nodes, resp = fit.nodes.of_row[positions], fit.posterior(fit.take_features(positions))
    return Examples(positions, nodes, resp)


def check_examples(like: Examples, not_like: Examples) -> None:
    """Raise an error if there is no example, or a row is both a member and no member."""
    if not len(like.nodes):
        raise HintError("{argument} names no row.", code="no_rows_named", argument=Option("like"))
    both = np.intersect1d(like.positions, not_like.positions)
    if len(both):
        raise HintError(
            "Rows cannot be given both as members and as non-members: {rows}.",
            code="contradicting_rows",
            rows=", ".join(map(str, both.tolist())),
        )


def expected_size(examples: Examples, visits: Visits, fit: TableFit) -> float:
    """Return the number of rows in the component of an example, the geometric mean over examples.

    Of rows that walks from rows that are not members visit as well, only a part counts.
    """
    weights = fit.nodes.sizes[:, None] * fit.node_resp
    part = visits.part() @ weights / np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
    return float(np.exp(np.mean(np.log(np.maximum(examples.resp @ (fit.component_sizes * part), 1.0)))))


def find_warnings(examples: Examples, fit: TableFit) -> list[DoubtfulExamplesWarning]:
    """Return the warning that some examples are in other groups of rows than the others, if there are such.

    They have no other example in their group, or are not in that of most examples.
    """
    of_group = examples.resp @ fit.groups
    n_in_group = of_group.sum(axis=0)
    n_same = np.einsum("ij,ij->i", of_group, n_in_group - of_group)
    far = np.flatnonzero((n_same < MIN_SAME) | (of_group[:, np.argmax(n_in_group)] < MIN_SAME)).tolist()
    return [_far_from_others(examples, far)] if far and len(n_same) > 1 else []


def _far_from_others(examples: Examples, far: list[int]) -> DoubtfulExamplesWarning:
    rows = [examples.names[index] for index in far]
    listed = ", ".join(map(str, rows[:MAX_LISTED])) + (", ..." if len(rows) > MAX_LISTED else "")
    if len(rows) == len(examples.nodes):
        sentence = "The {n_examples} examples are far from each other: rows {listed}. Search for each group by itself."
    elif len(rows) > 1:
        sentence = (
            "Of the {n_examples} examples, {n_far} are far from the others: rows {listed}. Leave out those that may be "
            "wrong, or search for each group by itself."
        )
    else:
        sentence = (
            "Of the {n_examples} examples, one is far from all others: row {listed}. Leave it out if it may be wrong."
        )
    return DoubtfulExamplesWarning(
        sentence,
        code="examples_disagree",
        n_examples=len(examples.nodes),
        n_far=len(rows),
        listed=listed,
        rows=rows,
    )


def _is_table(rows: Any) -> bool:
    if isinstance(rows, np.ndarray):
        return rows.ndim == 2 or rows.dtype.names is not None
    if isinstance(rows, list | tuple):
        return bool(rows) and isinstance(rows[0], list | tuple | np.ndarray)
    return isinstance(rows, Mapping) or hasattr(rows, "columns")


def _read_positions(argument: str, rows: Any, fit: TableFit) -> Array:
    """Return positions of rows, each once and in order."""
    n_rows = fit.n_rows
    if isinstance(rows, str) or (isinstance(rows, int | np.integer) and not isinstance(rows, bool)):
        rows = [rows]
    if isinstance(rows, bytes) or not isinstance(rows, Iterable):
        raise _bad_rows(argument, rows)
    rows = rows if isinstance(rows, np.ndarray) else list(rows)
    if fit.id is not None and len(rows) and all(isinstance(row, str) for row in rows):
        return np.unique(find_rows(get_values(fit.table, fit.id), rows))
    positions = np.asarray(rows)
    if positions.size == 0:
        return np.empty(0, dtype=np.intp)
    if positions.ndim != 1 or positions.dtype.kind not in "iub":
        raise _bad_rows(argument, positions.ravel()[:3].tolist())
    if positions.dtype.kind == "b":
        return _check_mask(argument, positions, n_rows)
    return np.unique(check_positions(argument, positions, n_rows))


def _check_mask(argument: str, mask: Array, n_rows: int) -> Array:
    if len(mask) != n_rows:
        raise HintError(
            "{argument} is a mask of {length} booleans, but the table has {n_rows} rows.",
            code="bad_mask",
            argument=Option(argument),
            length=len(mask),
            n_rows=n_rows,
        )
    return np.flatnonzero(mask)


def _bad_rows(argument: str, value: Any) -> HintError:
    return HintError(
        "{argument} must be positions of rows, as integers, a mask or a table with rows, got {value!r}.",
        code="bad_rows",
        argument=Option(argument),
        value=value,
    )

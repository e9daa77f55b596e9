"""Search in tables: fit once, then find the rows like a few given ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal, Self, TypeAlias

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import TableLike
from mixsearch.core.validation import check_choice, check_positive_int
from mixsearch.core.walk import Visits, find_members
from mixsearch.errors import warn_user
from mixsearch.gaussian import SHAPES, Shape
from mixsearch.table._component import TableComponent
from mixsearch.table._embedding import Embedder
from mixsearch.table._examples import check_examples, expected_size, find_doubts, read_examples
from mixsearch.table._fit import ColumnChoice, TableFit, fit_table
from mixsearch.table._storage import open_fit, restore_fit, save_fit

Covariance = Literal["auto"] | Shape
RowsLike: TypeAlias = int | str | Iterable[int] | Iterable[str] | TableLike


class TableSearch(BaseEstimator):
    """Find the rows of a table that are like a few of them.

    Parameters
    ----------
    covariance : {"auto", "spherical", "diagonal", "tied", "low-rank", "full"}, default="auto"
        The shape of the components of the mixture. "auto" chooses the one with the best Bayesian information criterion.
    max_components : int, default=15
        The mixture has at most this many components; the criterion chooses how many.
    embedder : callable, object with `encode`, or str, optional
        Turns texts into vectors, for examples that are texts and for a column of texts: a function from a list of texts
        to an array, an object with such a method `encode`, or the name of a model, "model2vec:..." or
        "sentence-transformers:...".

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

    def __init__(self, covariance: Covariance = "auto", *, max_components: int = 15, embedder: Embedder = None) -> None:
        self.covariance = covariance
        self.max_components = max_components
        self.embedder = embedder

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
            A column of vectors, or of texts that the embedder turns into vectors. It is used alone, or together with
            `columns`.

        Returns
        -------
        self
        """
        check_choice("covariance", self.covariance, ("auto", *SHAPES))
        check_positive_int("max_components", self.max_components)
        shape = None if self.covariance == "auto" else self.covariance
        use = ColumnChoice(columns, without, id, vectors)
        return self._set_fit(fit_table(table, use, self.embedder, shape, self.max_components))

    def search(
        self,
        like: RowsLike = (),
        *,
        not_like: RowsLike = (),
        like_texts: Iterable[str] = (),
        not_like_texts: Iterable[str] = (),
    ) -> TableComponent:
        """Find the rows that are like a few of them.

        Parameters
        ----------
        like : int, str, iterable of int or str, array of bool of shape (n,), or table
            Rows that are members: their positions, their ids if the fit had an `id` column, a mask, or new rows with
            the columns of the table.
        not_like : int, str, iterable of int or str, array of bool of shape (n,), or table, optional
            Rows that are not members.
        like_texts, not_like_texts : iterable of str, optional
            Texts that describe members, and others. The embedder turns them into vectors, which are compared with those
            of the table.

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
        members = read_examples("like", like, like_texts, fit, self.embedder)
        others = read_examples("not_like", not_like, not_like_texts, fit, self.embedder)
        check_examples(members, others)
        walk = fit.graph.with_examples(len(members.nodes) + len(others.nodes))
        visits = Visits.of(walk, members.starts, others.starts)
        expected = expected_size(members, visits, fit)
        found = TableComponent(
            like=members.list_positions(),
            not_like=others.list_positions(),
            like_texts=members.texts,
            not_like_texts=others.texts,
            doubts=tuple(find_doubts(members, fit)),
            _n_examples=len(members.nodes),
            _fit=fit,
            _members=find_members(walk, visits, members.nodes, fit.nodes.sizes, expected),
            _scores=visits.scores(),
        )
        if not found.doubts:
            found = found._check_size(expected)
        for doubt in found.doubts:
            warn_user(doubt)
        return found

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted search with its table to a folder, without pickle. `load` opens it at once.

        Parameters
        ----------
        path : path
            A folder that does not exist yet. It is written completely or not at all.
        overwrite : bool, default=False
            Replace a search that was saved there before.
        """
        check_is_fitted(self)
        name = self.embedder if isinstance(self.embedder, str) else None
        save_fit(self._fit, self.get_params(deep=False) | {"embedder": name}, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, embedder: Embedder = None) -> Self:
        """Open a search that was saved. Its arrays are mapped from the files; the table is a `pyarrow.Table`.

        Parameters
        ----------
        path : path
            The folder.
        embedder : callable, object with `encode`, or str, optional
            The embedder, if it is not a name: functions and objects are not saved.

        Returns
        -------
        TableSearch
        """
        folder = open_fit(path)
        parameters = folder.facts["search"]
        chosen = parameters.get("embedder") if embedder is None else embedder
        return cls(**parameters | {"embedder": chosen})._set_fit(restore_fit(folder, chosen))

    def _set_fit(self, fit: TableFit) -> Self:
        self._fit = fit
        self.table_ = fit.table
        self.columns_ = fit.encoder.columns_
        self.dropped_columns_ = fit.encoder.dropped_columns_
        self.n_components_ = len(fit.mixture.weights)
        self.covariance_ = fit.mixture.shape
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")


def find(
    table: TableLike,
    like: RowsLike = (),
    not_like: RowsLike = (),
    *,
    columns: Iterable[Any] | None = None,
    without: Iterable[Any] = (),
    id: str | None = None,
    vectors: str | None = None,
    like_texts: Iterable[str] = (),
    not_like_texts: Iterable[str] = (),
    embedder: Embedder = None,
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
        A column of vectors, or of texts that the embedder turns into vectors. It is used alone, or together with
        `columns`.
    like_texts, not_like_texts : iterable of str, optional
        Texts that describe members, and others.
    embedder : callable, object with `encode`, or str, optional
        Turns texts into vectors.
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
    search = TableSearch(covariance, max_components=max_components, embedder=embedder)
    search.fit(table, columns=columns, without=without, id=id, vectors=vectors)
    return search.search(like, not_like=not_like, like_texts=like_texts, not_like_texts=not_like_texts)

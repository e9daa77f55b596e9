"""The scikit-learn face that all searches share: fit without a hint, then search."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self, overload

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, Samples
from mixsearch.core.rank_selection import N_FOLDS, Spectrum
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_samples,
    check_n_components,
    check_n_samples,
    check_positive_int,
)
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.partitions import Partitions, SamplePartition, partition_in_memory
from mixsearch.data.threads import one_blas_thread
from mixsearch.errors import HintIgnoredWarning, SearchError, UnlikelyMixtureWarning, warn_user


class BaseSearch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta):
    """A mixture, fitted without a hint, that answers any number of hints."""

    n_components: int | str
    spectrum_: Spectrum
    random_state: Any
    model_: Any
    n_features_in_: int
    search: Callable[..., Any]

    @overload
    def search_many(self, hints: Mapping[str, Any], *, n_jobs: int | None = ..., **options: Any) -> dict[str, Any]: ...
    @overload
    def search_many(self, hints: Iterable[Any], *, n_jobs: int | None = ..., **options: Any) -> list[Any]: ...
    def search_many(self, hints: Any, *, n_jobs: int | None = -1, **options: Any) -> Any:
        """Find a component for each of several hints, in parallel threads; the answers keep the order of the hints.

        Parameters
        ----------
        hints : iterable
            Each as `search` takes it first, or a mapping of its keyword arguments, such as ``{"examples": X_few}``.
            From a mapping of names to hints comes a dictionary of the answers under the same names.
        n_jobs : int, default=-1
            Threads; -1 for one per core. Each of them computes on one core.
        **options
            Passed to every `search`.
        """
        check_is_fitted(self)
        return map_parallel(lambda hint: self.search(**self._arguments(hint), **options), hints, n_jobs)

    def _arguments(self, hint: Any) -> dict[str, Any]:
        """One of several hints as keyword arguments of `search`."""
        if isinstance(hint, dict):
            return hint
        return {"examples": hint} if np.ndim(hint) == 2 else {"hint": hint}

    def transform(self, X: Any) -> Any:
        """Coordinates of samples in the frame, where the second moment of the mixture is the identity.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)

        Returns
        -------
        array of shape (n, k)
            A Dask array, not computed yet, where X is one.
        """
        check_is_fitted(self)
        if is_dask(X):
            return dask_arrays().map_rows(self._whiten, X, self.n_features_in_, n_columns=self._n_features_out)
        return self._whiten(self._checked(X, reset=False))

    @abstractmethod
    def _whiten(self, X: Samples) -> Array:
        """Coordinates of checked samples."""

    def _checked(self, X: Any, *, reset: bool) -> Samples:
        X = X.compute() if is_dask(X) else X  # a few examples
        return as_samples(validate_data(self, X, accept_sparse="csr", dtype=FLOAT_DTYPES, reset=reset))

    def _partitions(self, X: Any) -> Partitions[SamplePartition]:
        """Samples to fit, checked: in memory, or where their blocks are."""
        if not is_dask(X):
            return partition_in_memory(self._checked(X, reset=True))
        partitions: Partitions[SamplePartition] = dask_arrays().sample_partitions(X)
        self._see_features(partitions)
        return partitions

    def _see_features(self, partitions: Partitions[SamplePartition]) -> None:
        """Remember the features of samples that did not pass the checks of scikit-learn: their blocks are elsewhere."""
        self.n_features_in_ = partitions.n_features
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _names(self) -> list[str] | None:
        """The columns of the data frame that was fitted, if it was one."""
        return list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _number(self, X: Any, find_spectrum: Callable[[], Spectrum]) -> int:
        """How many components to fit, as asked for or as the spectrum shows; then `spectrum_` is kept."""
        if hasattr(self, "spectrum_"):
            del self.spectrum_
        if self.n_components != AUTO:
            return check_n_components(self.n_components)
        check_n_samples(X, 2 * N_FOLDS, "the parts that n_components='auto' compares")
        self.spectrum_ = find_spectrum()
        if self.spectrum_.is_full:
            warn_user(
                UnlikelyMixtureWarning(
                    f"All {self.spectrum_.n_signal} directions that were looked at stand out of the noise: there may "
                    "be "
                    "more components, or the model does not suit the samples, so that its spectrum cannot tell. Try a "
                    "number for n_components."
                )
            )
        return self.spectrum_.n_components

    def _model(self, n_components: int | None) -> Any:
        """The fitted model, or its first components only."""
        check_is_fitted(self)
        if n_components is None:
            return self.model_
        check_positive_int("n_components", n_components)
        if n_components > self.n_components_:
            raise SearchError(
                f"n_components={n_components}, but this fit holds {self.n_components_}; a search can use those or "
                "fewer. Fit again with more."
            )
        return self._first_components(n_components)

    def _first_components(self, n_components: int) -> Any:
        return self.model_.take(n_components)

    @property
    def n_components_(self) -> int:
        """How many components the fit holds."""
        return int(self.model_.frame.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.frame.n_components)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SemiSupervised(BaseSearch):
    """A search whose `fit` takes the few known members as labels: 1 for those, -1 for the others."""

    component_: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the mixture; with labels, also find the component of the known members.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of shape (n,), optional
            1 for the known members of the wanted component, -1 for samples without a label. Then `component_` holds the
            component found. Other labels are read as -1.
        """
        partitions = self._fit_model(X)
        self._search_members(partitions, y)
        return self

    @abstractmethod
    def _fit_model(self, X: Any) -> Partitions[SamplePartition]:
        """Check the samples, fit the model, return the checked samples."""

    def _search_members(self, partitions: Partitions[SamplePartition], y: Any) -> None:
        if hasattr(self, "component_"):
            del self.component_
        if y is None:
            return
        members, n_labels = dask_arrays().member_rows(y) if is_dask(y) else _member_rows(y)
        if n_labels != partitions.n_rows:
            raise SearchError(f"y has {n_labels} labels, but X has {partitions.n_rows} samples.")
        if len(members):
            self.component_ = self._search_examples(partitions.map(_picked, members).collect().partition.samples)
            return
        warn_user(
            HintIgnoredWarning(
                "y marks no known member (y == 1), so no component was searched for and component_ is not set."
            )
        )

    @abstractmethod
    def _search_examples(self, members: Samples) -> Any:
        """The component of the known members."""


def _member_rows(y: Any) -> tuple[Array, int]:
    """The rows that labels mark with 1, and how many labels there are."""
    labels = np.asarray(y).ravel()
    return np.flatnonzero(labels == 1), len(labels)


def _picked(partition: SamplePartition, rows: Array) -> SamplePartition:
    """Those of some rows, by their numbers among all, that are in a shard."""
    places = rows - partition.first
    inside = places[(places >= 0) & (places < partition.samples.shape[0])]
    return SamplePartition(partition.first, partition.samples[inside])


def map_parallel(ask: Callable[[Any], Any], hints: Any, n_jobs: int | None) -> Any:
    """The answer to each of several hints, in their order, under their names where they have names."""
    is_named = isinstance(hints, Mapping)
    each, n_threads = hints.values() if is_named else hints, effective_n_jobs(n_jobs)
    with one_blas_thread:
        found = list(map(ask, each)) if n_threads == 1 else _map_in_threads(ask, each, n_threads)
    return dict(zip(hints, found, strict=True)) if is_named else found


def _map_in_threads(ask: Callable[[Any], Any], hints: Iterable[Any], n_threads: int) -> list[Any]:
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(ask, hints))


def warn_no_signal(spectrum: Spectrum, what: str) -> None:
    """Say so where noise alone would give such a spectrum."""
    if not spectrum.n_signal:
        warn_user(
            UnlikelyMixtureWarning(
                f"No direction stands out of the noise: the fit went on with {what}, which may be noise as well. "
                "Give more "
                "samples, or a number for n_components."
            )
        )

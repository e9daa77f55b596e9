"""The scikit-learn interface of all searches: fit without a hint, then search."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state  # type: ignore[attr-defined]  # old stubs
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.family import F, Preset
from mixsearch.core.outliers import find_outliers, warn_about_outliers
from mixsearch.core.rows import Chunks, SampleChunk, chunk_in_memory, load_dask
from mixsearch.core.spectrum import Spectrum
from mixsearch.core.validation import (
    AUTO,
    FLOAT_DTYPES,
    as_samples,
    as_search_errors,
    check_choice,
    check_magnitude,
    check_n_components,
    check_n_samples,
    check_one_hint,
    largest_number,
)
from mixsearch.errors import (
    HintError,
    Option,
    SearchError,
)
from mixsearch.machine import is_dask

# With fewer samples "auto" counts nothing.
MIN_SAMPLES = 6

RandomState = int | np.random.RandomState | None


class BaseSearch(Generic[F], BaseEstimator, metaclass=ABCMeta):
    """A mixture that is fitted without a hint and searched with any number of hints."""

    n_components: int | Literal["auto"]
    preset: Preset
    _family: F
    random_state: RandomState
    spectrum_: Spectrum
    n_features_in_: int
    _moment_power: ClassVar[int] = 4  # the highest power of samples in a moment with its hint
    _shared: dict[str, Any]  # what all searches of a fit use, computed by the first one
    search: Callable[..., Any]

    def _share(self, name: str, compute: Callable[[], Any]) -> Any:
        if name not in self._shared:
            self._shared[name] = compute()
        return self._shared[name]

    def _check_rows(self, X: Any, *, reset: bool) -> Samples:
        X = X.compute() if is_dask(X) else X  # a few examples
        with as_search_errors():
            options = {"accept_sparse": "csr", "dtype": FLOAT_DTYPES, "ensure_all_finite": False}
            samples = as_samples(validate_data(self, X, reset=reset, **options))
            check_magnitude(samples, self._moment_power)
        return samples

    def _check_examples(self, hint: Any, examples: Any, not_examples: Any) -> tuple[Samples | None, Samples | None]:
        """Check that there is one hint, and return examples and negative ones, if it is by examples."""
        given = check_one_hint({"hint": hint, "examples": examples})
        if given == "hint" and not_examples is not None:
            raise HintError(
                "{argument} needs {needed} as well.",
                code="needs_examples",
                argument=Option("not_examples"),
                needed=Option("examples"),
            )
        positive, negative = (None if X is None else self._check_some(X) for X in (examples, not_examples))
        return positive, negative

    def _check_some(self, examples: Any) -> Samples:
        """Check examples, as a search takes them."""
        return self._check_rows(examples, reset=False)

    def _check_chunks(self, X: Any) -> Chunks[SampleChunk]:
        """Check the samples of a fit: in memory, or where their chunks are."""
        if not is_dask(X):
            return chunk_in_memory(self._check_rows(X, reset=True))
        chunks: Chunks[SampleChunk] = load_dask().sample_chunks(X)
        largest = chunks.gather(lambda chunk: largest_number(chunk.samples))
        check_magnitude(np.array(largest, dtype=chunks.layout.dtype), self._moment_power)
        self._set_features(chunks)
        return chunks

    def _set_features(self, chunks: Chunks[SampleChunk]) -> None:
        """Record the number of features of samples on a cluster, which scikit-learn's checks cannot see."""
        self.n_features_in_ = chunks.n_features
        self._forget("feature_names_in_")

    def _forget(self, *names: str) -> None:
        """Delete attributes of an earlier fit that this one may not set."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)

    def _get_feature_names(self) -> list[str] | None:
        return list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _choose_n_components(self, chunks: Chunks[Any], find_spectrum: Callable[[], Spectrum]) -> int:
        """Return the number of components to fit, as requested or as the spectrum shows, which is then kept."""
        self._forget("spectrum_")
        if self.n_components != AUTO:
            return check_n_components(self.n_components)
        check_n_samples(chunks, MIN_SAMPLES, "The directions that n_components='auto' counts")
        self.spectrum_ = find_spectrum()
        return self.spectrum_.n_components

    @property
    def n_components_(self) -> int:
        """The number of components of the fit."""
        return self._family.n_components

    def _is_paper(self) -> bool:
        check_choice("preset", self.preset, ("default", "paper"))
        return self.preset == "paper"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_family")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SemiSupervised(BaseSearch[F]):
    """A search whose `fit` also takes a few known members as labels: 1 for those, -1 for all others."""

    component_: Any

    def fit(self, X: SamplesLike, y: ArrayLike | None = None) -> Self:
        """Fit the mixture. With labels, also find the component of the known members.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Samples.
        y : array of shape (n,), optional
            1 for the known members of the wanted component, -1 for unlabelled samples; other labels count as -1. If
            given, the component found is in `component_`.

        Returns
        -------
        self
        """
        chunks = self._fit_family(X)
        self._search_members(chunks, y)
        return self

    @abstractmethod
    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        """Check the samples, fit the family, return the checked samples."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)  # the shape of predict_proba
        return tags

    @available_if(lambda self: hasattr(self, "component_"))
    def predict(self, X: SamplesLike) -> Array:
        """Predict whether samples belong to the component of the labelled ones.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples.

        Returns
        -------
        array of shape (n,)
            1 for members, 0 for others. Only after a fit with labels.
        """
        return np.asarray(self.component_.membership(self._check_rows(X, reset=False)) > 0.5, dtype=np.int64)

    @available_if(lambda self: hasattr(self, "component_"))
    def predict_proba(self, X: SamplesLike) -> Array:
        """Compute the probabilities that samples do not belong, and that they belong, to that component.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples.

        Returns
        -------
        array of shape (n, 2)
            The columns of classes 0 and 1. Only after a fit with labels.
        """
        membership = self.component_.membership(self._check_rows(X, reset=False))
        return np.column_stack([1 - membership, membership])

    def _leave_out_outliers(self, chunks: Chunks[SampleChunk]) -> Chunks[SampleChunk]:
        self.outliers_ = find_outliers(chunks)
        warn_about_outliers(self.outliers_, chunks.n_rows)
        return chunks.drop_rows(self.outliers_) if len(self.outliers_) else chunks

    def _search_members(self, chunks: Chunks[SampleChunk], y: Any) -> None:
        self._forget("component_")
        if y is None:
            return
        labels = np.asarray(y).ravel()  # a Dask array is computed
        if len(labels) != chunks.n_rows:
            raise SearchError(
                "y has {n_labels} values, but X has {n_samples} samples.",
                code="other_length",
                n_labels=len(labels),
                n_samples=chunks.n_rows,
            )
        members = np.flatnonzero(labels == 1)
        if len(members):
            self.component_ = self.search(examples=chunks.take_rows(members).chunk.samples)
            return
        raise HintError(
            "y marks no known member: 1 stands for a member, -1 for an unlabelled sample. Leave out y to fit without a "
            "search.",
            code="no_members",
        )

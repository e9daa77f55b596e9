"""Whitening by the covariance within components, which makes them spherical."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, SamplesLike
from mixsearch.core.validation import FLOAT_DTYPES, check_n_samples, check_positive_int, check_samples
from mixsearch.errors import UnlikelyMixtureWarning, warn_user

# Samples that suffice to estimate the shape of components. The cost of finding neighbours grows with the square.
MAX_SAMPLES = 2000
# Neighbours show the shape of components in this many features per sample; in more, they are mostly noise.
MAX_FEATURES, MIN_FEATURES = 0.1, 10
# Smallest variance that a direction is scaled by, relative to the largest: neighbours may hardly differ along it.
MIN_VARIANCE = 1e-3
# Below this relative variance a direction is constant and not scaled: rounding errors would grow with each round.
CONSTANT_VARIANCE = 1e-12


class WithinWhitener(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scale samples so that the components of a mixture become spherical, without knowing the components.

    `GaussianSearch` assumes by default that every component has the same variance in all directions. If components are
    elongated, or features have different units, ``GaussianSearch(covariance="auto")`` fits their shapes and needs no
    transformer. This one is for other models of round clusters, and for components of one shape in many features.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours of each sample that the shape is estimated from. Must be smaller than the smallest
        component.
    n_rounds : int, default=10
        Number of rounds. Each searches for neighbours in the space of the round before. More rounds make longer
        components spherical; too many, with too many neighbours, merge two components.

    Attributes
    ----------
    map_ : array of shape (d, d)
        Linear map that `transform` applies to samples.

    Notes
    -----
    Two neighbours are mostly of the same component, so the covariance of their differences approximates the covariance
    within components. Whitening by it, repeated a few times, makes the average component spherical [1]_. All components
    share one map. With more features than a tenth of the samples, of which 2,000 are used, neighbours show noise rather
    than shape, and a warning says so.

    References
    ----------
    .. [1] Art, Gnanadesikan and Kettenring (1982). Data-based metrics for cluster analysis. Utilitas Mathematica 21A,
       75-99.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from mixsearch import GaussianSearch, WithinWhitener
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(2, size=600)
    >>> X = rng.normal(size=(600, 2)) * [20, 1] + np.outer(labels, [0, 6])
    >>> pipeline = make_pipeline(WithinWhitener(), GaussianSearch(2)).fit(X)
    >>> Z = pipeline[:-1].transform(X)
    >>> found = pipeline[-1].search(examples=Z[labels == 1][:3], refine=True)
    >>> bool(np.mean((found.membership(Z) > 0.5) == (labels == 1)) > 0.99)
    True
    """

    def __init__(self, n_neighbors: int = 10, *, n_rounds: int = 10) -> None:
        self.n_neighbors = n_neighbors
        self.n_rounds = n_rounds

    def fit(self, X: SamplesLike, y: ArrayLike | None = None) -> Self:
        """Estimate the map from samples.

        Parameters
        ----------
        X : array of shape (n, d)
            The samples.
        y : None
            Ignored.

        Returns
        -------
        self : WithinWhitener
        """
        samples = validate_data(self, X, dtype=FLOAT_DTYPES)
        check_positive_int("n_neighbors", self.n_neighbors)
        check_positive_int("n_rounds", self.n_rounds)
        check_n_samples(samples, 2, "neighbours")
        some = np.asarray(samples[:: -(-len(samples) // MAX_SAMPLES)], dtype=np.float64)
        _check_n_features(*some.shape)
        units = some.std(axis=0)
        rounding = len(some) * np.finfo(np.float64).eps * np.abs(some).max(axis=0)
        self.map_ = np.diag(1 / np.where(units > rounding, units, 1.0))
        for _ in range(self.n_rounds):
            self.map_ = self.map_ @ _whiten_differences(some @ self.map_, min(self.n_neighbors, len(some) - 1))
        return self

    def transform(self, X: SamplesLike) -> Array:
        """Return samples whose components are spherical.

        Parameters
        ----------
        X : array of shape (n, d)
            The samples.

        Returns
        -------
        array of shape (n, d)
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=FLOAT_DTYPES, reset=False)
        return np.asarray(samples @ self.map_.astype(samples.dtype))

    def inverse_transform(self, X: SamplesLike) -> Array:
        """Return whitened samples, or centers found among them, in the features of the fit.

        Parameters
        ----------
        X : array of shape (n, d)
            The whitened samples or centers.

        Returns
        -------
        array of shape (n, d)
        """
        check_is_fitted(self)
        samples = check_samples(X, self._n_features_out)
        return np.asarray(samples @ np.linalg.inv(self.map_).astype(samples.dtype))

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_n_features(n_samples: int, n_features: int) -> None:
    if n_features > max(MAX_FEATURES * n_samples, MIN_FEATURES):
        warn_user(
            UnlikelyMixtureWarning(
                "{n_features} features are many for {n_samples} samples: differences of neighbours are mostly noise "
                "then, and whitening by them may hide the components. Reduce the features to {possible} or fewer "
                "first, for example by PCA.",
                code="too_many_features",
                n_features=n_features,
                n_samples=n_samples,
                possible=int(MAX_FEATURES * n_samples),
            )
        )


def _whiten_differences(Z: Array, n_neighbors: int) -> Array:
    """Return the map, (d, d), that gives differences between neighbours the same variance in all directions."""
    nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(Z).kneighbors(return_distance=False)
    covariance = np.zeros((Z.shape[1], Z.shape[1]))
    for other in nearest.T:  # one neighbour of every sample at a time: n x d at once, not n x d x neighbours
        difference = Z - Z[other]
        covariance += difference.T @ difference / Z.shape[0] / n_neighbors
    values, vectors = np.linalg.eigh(covariance)
    widest = values[-1] if values[-1] > 0 else 1.0
    is_constant = values <= CONSTANT_VARIANCE * widest
    return np.asarray(vectors / np.sqrt(np.where(is_constant, widest, np.maximum(values, MIN_VARIANCE * widest))))

"""Features in which components are round, as the Gaussian model takes them to be."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, SamplesLike
from mixsearch.core.validation import FLOAT_DTYPES, check_n_samples, check_positive_int

# So many samples tell the shape of components; their neighbours among themselves cost the square of it.
MOST_SAMPLES = 2000


# A direction in which neighbours hardly differ is scaled no further than this part of the widest one, in variance.
NARROWEST = 1e-3


# And one in which they do not differ at all, as along a constant feature, is not: rounding would grow with each round.
FLAT = 1e-12


class WithinWhitener(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scale samples so that the components of a mixture become round, without knowing the components.

    `GaussianSearch` takes every component to have the same variance in all directions. Where components are long and
    thin, or features come in different units, put this before it in a pipeline.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of each sample that tell the shape. Fewer than the smallest component has members.
    n_rounds : int, default=10
        How many times to look for neighbours, each time as the round before sees them. More of them make longer
        components round; too many, with too many neighbours, take two components for one long one.

    Attributes
    ----------
    map_ : array of shape (d, d)
        From samples to what `transform` gives.

    Notes
    -----
    Differences between neighbours mostly stay within a component, and so lean towards its shape: scaling by their
    covariance, a few times over, makes the average component round (Art, Gnanadesikan and Kettenring, 1982). One shape
    serves all components.

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
        """Find the map.

        Parameters
        ----------
        X : array of shape (n, d)
        y : ignored
        """
        samples = validate_data(self, X, dtype=FLOAT_DTYPES)
        check_positive_int("n_neighbors", self.n_neighbors)
        check_positive_int("n_rounds", self.n_rounds)
        check_n_samples(samples, 2, "neighbours")
        some = np.asarray(samples[:: -(-len(samples) // MOST_SAMPLES)], dtype=np.float64)
        units = some.std(axis=0)
        rounding = len(some) * np.finfo(np.float64).eps * np.abs(some).max(axis=0)
        self.map_ = np.diag(1 / np.where(units > rounding, units, 1.0))
        for _ in range(self.n_rounds):
            self.map_ = self.map_ @ _round(some @ self.map_, min(self.n_neighbors, len(some) - 1))
        return self

    def transform(self, X: SamplesLike) -> Array:
        """Samples with round components, (n, d).

        Parameters
        ----------
        X : array of shape (n, d)
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=FLOAT_DTYPES, reset=False)
        return np.asarray(samples @ self.map_.astype(samples.dtype))

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _round(Z: Array, n_neighbors: int) -> Array:
    """The map, (d, d), after which the differences between neighbours have the same variance in all directions."""
    nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(Z).kneighbors(return_distance=False)
    covariance = np.zeros((Z.shape[1], Z.shape[1]))
    for other in nearest.T:  # one neighbour of every sample at a time: n x d at once, not n x d x neighbours
        apart = Z - Z[other]
        covariance += apart.T @ apart / Z.shape[0] / n_neighbors
    values, vectors = np.linalg.eigh(covariance)
    widest = values[-1] if values[-1] > 0 else 1.0
    return np.asarray(
        vectors / np.sqrt(np.where(values > FLAT * widest, np.maximum(values, NARROWEST * widest), widest))
    )

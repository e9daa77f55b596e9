"""One Gaussian of a mixture, however it was fitted."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import VectorComponent
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.errors import Option, UnlikelyMixtureWarning

# What is left of the confidence of an answer to a direction if samples do not follow the model.
MISFIT_FACTOR = 0.8
# A component to which no example belongs with more than this probability is not theirs.
MIN_EXAMPLE_MEMBERSHIP = 0.01


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(VectorComponent):
    """One Gaussian of a mixture.

    Attributes
    ----------
    covariance : array of shape (d, d)
        Its shape, in the units of the samples.
    noise_variance : float
        Its variance σ² in every direction; the average variance of a feature if it is not spherical.
    hint_in_signal : float
        The fraction of the hint's squared length that lies in the signal space, where centers differ: about k / d
        for a random direction.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> found = GaussianSearch(n_components=4).fit(data.X).search(examples=data.X[data.labels == 2][:3], refine=True)
    >>> bool(abs(found.weight - (data.labels == 2).mean()) < 3 * found.stderr.weight)
    True
    >>> members = found.membership(data.X) > 0.5
    >>> bool((members == (data.labels == 2)).mean() > 0.9)
    True
    """

    _hint_in_signal: float = field(default=1.0, kw_only=True)

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """The covariance of the component, (d, d)."""

    @property
    @abstractmethod
    def noise_variance(self) -> float:
        """The variance of the component, on average over features."""

    @property
    def hint_in_signal(self) -> float:
        """The fraction of the hint's squared length that lies in the signal space."""
        return self._hint_in_signal

    def membership(self, X: SamplesLike) -> Array:
        """Return the probability that each sample belongs to this component.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Samples with the features of the fit, in their original units.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Before refinement of a spherical component, compared in the signal space with one Gaussian for the rest of the
        mixture, whose mean and covariance follow from the moments of all samples minus those of this component;
        otherwise with all other components.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center))
            return rows
        samples = check_samples(X, len(self.center), self._feature_names)
        return np.asarray(self._membership(samples), dtype=np.float64)

    @abstractmethod
    def _membership(self, X: Samples) -> Array:
        """Return the probability of checked samples."""

    def _card(self) -> Card:
        card = replace(super()._card(), title=f"{GaussianComponent.__name__}, one of {len(self.scores)}")
        card.facts.insert(1, ("noise variance", plain_number(self.noise_variance)))
        return card


def no_example_belongs() -> UnlikelyMixtureWarning:
    """Return the doubt that the examples are members at all."""
    return UnlikelyMixtureWarning(
        "None of the examples belongs to the component found: the model does not suit the samples. Fit fewer "
        "components ({argument}), leave out features that hardly vary, or use `mixsearch.find`, which needs no model.",
        code="no_example_belongs",
        argument=Option("n_components"),
    )


def no_members(weight: float, n_samples: int) -> UnlikelyMixtureWarning:
    """Return the doubt that the component found has samples."""
    return UnlikelyMixtureWarning(
        "The component found has a weight of {weight:.2g}, less than one of the {n_samples:,} samples: no sample "
        "belongs to it. Fit fewer components ({argument}), or look at `alternatives`.",
        code="no_members",
        weight=weight,
        n_samples=n_samples,
        argument=Option("n_components"),
    )

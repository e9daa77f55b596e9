"""Draw synthetic mixtures with known truth. The defaults are the parameters of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option

RandomState = int | np.random.RandomState | None


@dataclass(frozen=True, slots=True)
class GaussianMixtureData:
    """Samples of a mixture of spherical Gaussians.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    labels : array of shape (n,)
        The component of each sample.
    centers : array of shape (k, d)
        The center of each component.
    weights : array of shape (k,)
        The weight of each component.
    deviations : array of shape (k,)
        The standard deviation σᵢ of each component.
    """

    X: Array
    labels: Array
    centers: Array
    weights: Array
    deviations: Array

    def oracle(self) -> Array:
        """Estimate the centers from the true labels: the means of the members.

        Returns
        -------
        array of shape (k, d)
        """
        return np.array([self.X[self.labels == i].mean(axis=0) for i in range(len(self.centers))])


@dataclass(frozen=True, slots=True)
class TopicData:
    """Documents of an LDA model.

    Attributes
    ----------
    counts : sparse array of shape (n, d)
        The word counts of each document.
    topics : array of shape (k, d)
        The word probabilities of each topic.
    alpha : array of shape (k,)
        The Dirichlet parameters.
    shares : array of shape (n, k)
        The share of each topic in each document.
    vocabulary : list of str
        The d words.
    """

    counts: sp.csr_array[Any]
    topics: Array
    alpha: Array
    shares: Array
    vocabulary: list[str]

    def labelled_word(self, topic: int) -> int:
        """Find the frequent word with the largest ratio of its probability in a topic to that in any other topic.

        Parameters
        ----------
        topic : int
            The index of the topic.

        Returns
        -------
        int
            The column of the word.
        """
        others = np.delete(self.topics, topic, axis=0).max(axis=0)
        frequent = self.topics[topic] >= np.quantile(self.topics[topic], 0.9)
        return int(np.argmax(np.where(frequent, self.topics[topic] / (others + 1e-12), 0)))

    def oracle(self) -> Array:
        """Estimate the topics from the true shares, by least squares.

        Returns
        -------
        array of shape (k, d)

        Notes
        -----
        Documents are weighted by their length, since the variance of a count is proportional to it.
        """
        root = np.sqrt(np.asarray(self.counts.sum(axis=1)))[:, None]
        return np.asarray(np.linalg.lstsq(self.shares * root, self.counts.toarray() / root, rcond=None)[0])


@dataclass(frozen=True, slots=True)
class MixedRegressionData:
    """Samples of a mixture of linear regressions.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    y : array of shape (n,)
        The responses.
    labels : array of shape (n,)
        The component of each sample.
    centers : array of shape (k, d)
        The coefficients of each component.
    intercepts : array of shape (k,)
        The intercept of each component.
    weights : array of shape (k,)
        The weight of each component.
    """

    X: Array
    y: Array
    labels: Array
    centers: Array
    intercepts: Array
    weights: Array

    def oracle(self) -> Array:
        """Estimate the coefficients from the true labels, by least squares with an intercept.

        Returns
        -------
        array of shape (k, d)
        """
        X = np.hstack([self.X, np.ones((len(self.X), 1))])
        members = [self.labels == i for i in range(len(self.centers))]
        return np.array([np.linalg.lstsq(X[own], self.y[own], rcond=None)[0][:-1] for own in members])


@dataclass(frozen=True, slots=True)
class SubspacesData:
    """Samples of a mixture of subspaces.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    labels : array of shape (n,)
        The component of each sample.
    bases : array of shape (k, d, r)
        Orthonormal bases of the subspaces, in columns.
    weights : array of shape (k,)
        The weight of each component.
    """

    X: Array
    labels: Array
    bases: Array
    weights: Array

    def oracle(self) -> Array:
        """Estimate the bases from the true labels: top eigenvectors of the members' second moments.

        Returns
        -------
        array of shape (k, d, r)
        """
        members = [self.X[self.labels == i] for i in range(len(self.bases))]
        return np.array([np.linalg.eigh(X.T @ X)[1][:, -self.bases.shape[2] :] for X in members])


def make_gaussian_mixture(
    n_samples: int = 10_000,
    n_features: int = 500,
    n_components: int = 10,
    *,
    deviation: float | ArrayLike = 0.5,
    norm: float = 10.0,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> GaussianMixtureData:
    """Draw from a mixture of spherical Gaussians with centers uniform on a sphere.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    deviation : float or array of shape (k,)
        The standard deviation σ, or one per component.
    norm : float
        The norm of every center.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.05 and 0.2, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    GaussianMixtureData

    Examples
    --------
    >>> data = make_gaussian_mixture(100, 20, 3, random_state=0)
    >>> data.X.shape, data.centers.shape
    ((100, 20), (3, 20))
    """
    rng = _make_generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers *= norm / np.linalg.norm(centers, axis=1, keepdims=True)
    shares = _make_weights(rng, weights, n_components, 0.05, 0.2)
    deviations = np.broadcast_to(np.asarray(deviation, dtype=float), (n_components,)).copy()
    labels = rng.choice(n_components, size=n_samples, p=shares)
    X = centers[labels] + deviations[labels, None] * rng.standard_normal((n_samples, n_features))
    return GaussianMixtureData(X, labels, centers, shares, deviations)


def make_topics(
    n_documents: int = 4000,
    n_words: int = 500,
    n_topics: int = 5,
    *,
    mean_length: float = 2000,
    alpha: float | ArrayLike = 0.2,
    concentration: float = 0.1,
    random_state: RandomState = None,
) -> TopicData:
    """Draw documents from an LDA model, with lengths from a Poisson distribution.

    Parameters
    ----------
    n_documents : int
        The number of documents n.
    n_words : int
        The size of the vocabulary d.
    n_topics : int
        The number of topics k.
    mean_length : float
        The mean number of words of a document.
    alpha : float or array of shape (k,)
        The Dirichlet parameter of every topic.
    concentration : float
        The parameter of the symmetric Dirichlet distribution of topics: smaller values make them differ more.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    TopicData

    Examples
    --------
    >>> data = make_topics(50, 30, 3, mean_length=40, random_state=0)
    >>> data.counts.shape, data.topics.shape
    ((50, 30), (3, 30))
    """
    rng = _make_generator(random_state)
    prior = np.broadcast_to(np.asarray(alpha, dtype=float), (n_topics,)).copy()
    topics = rng.dirichlet(np.full(n_words, concentration), size=n_topics)
    shares = rng.dirichlet(prior, size=n_documents)
    lengths = rng.poisson(mean_length, size=n_documents)
    per_topic = rng.multinomial(lengths, shares)
    counts = np.zeros((n_documents, n_words), dtype=np.int64)
    for topic, n_drawn in zip(topics, per_topic.T, strict=True):
        counts += rng.multinomial(n_drawn, topic)
    return TopicData(sp.csr_array(counts), topics, prior, shares, [f"word{i}" for i in range(n_words)])


def make_mixed_regression(
    n_samples: int = 100_000,
    n_features: int = 50,
    n_components: int = 3,
    *,
    deviation: float = 0.1,
    intercept: float = 0.0,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> MixedRegressionData:
    """Draw from a mixture of linear regressions with standard normal X and coefficients on the unit sphere.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    deviation : float
        The standard deviation σ of the noise of y.
    intercept : float
        The standard deviation of the components' intercepts.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.1 and 0.3, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    MixedRegressionData

    Examples
    --------
    >>> data = make_mixed_regression(100, 4, 2, random_state=0)
    >>> data.X.shape, data.y.shape, data.centers.shape
    ((100, 4), (100,), (2, 4))
    """
    rng = _make_generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    intercepts = intercept * rng.standard_normal(n_components)
    shares = _make_weights(rng, weights, n_components, 0.1, 0.3)
    labels = rng.choice(n_components, size=n_samples, p=shares)
    X = rng.standard_normal((n_samples, n_features))
    y = np.einsum("ij,ij->i", X, centers[labels]) + intercepts[labels] + deviation * rng.standard_normal(n_samples)
    return MixedRegressionData(X, y, labels, centers, intercepts, shares)


def make_subspaces(
    n_samples: int = 10_000,
    n_features: int = 500,
    n_components: int = 5,
    *,
    dim: int = 10,
    deviation: float = 0.1,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> SubspacesData:
    """Draw from a mixture of random subspaces with standard normal coordinates and white noise.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    dim : int
        The dimension of every subspace.
    deviation : float
        The standard deviation σ of the noise in every direction.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.1 and 0.3, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    SubspacesData

    Examples
    --------
    >>> data = make_subspaces(100, 20, 3, dim=2, random_state=0)
    >>> data.X.shape, data.bases.shape
    ((100, 20), (3, 20, 2))
    """
    rng = _make_generator(random_state)
    bases = np.linalg.qr(rng.standard_normal((n_components, n_features, dim)))[0]
    shares = _make_weights(rng, weights, n_components, 0.1, 0.3)
    labels = rng.choice(n_components, size=n_samples, p=shares)
    coordinates = rng.standard_normal((n_samples, dim))
    X = deviation * rng.standard_normal((n_samples, n_features))
    for component, basis in enumerate(bases):
        members = labels == component
        X[members] += coordinates[members] @ basis.T
    return SubspacesData(X, labels, bases, shares)


def make_hint(parameters: ArrayLike, target: int = 0, *, gamma: float = 0.7, random_state: RandomState = 0) -> Array:
    """Make a hint of a chosen strength: √γ v₁ + √((1-γ)/(k-1)) Σ vᵢ, as in section 4.1 of the paper.

    Parameters
    ----------
    parameters : array of shape (k, d) or (k, d, r)
        Centers, or bases of subspaces.
    target : int
        The index of the component that the hint is for.
    gamma : float
        The strength, in (0, 1]: the fraction of the squared hint that is orthogonal to all other components.
    random_state : int, RandomState instance or None
        The seed of a random rotation of the vᵢ.

    Returns
    -------
    array of shape (d,)
        v₁ is the direction of the target orthogonal to the span of the others, and the vᵢ are an orthonormal basis of
        that span.

    Examples
    --------
    >>> import numpy as np
    >>> make_hint(np.eye(3), target=1, gamma=1.0).round(6) + 0.0
    array([0., 1., 0.])
    """
    if not 0 < gamma <= 1:
        raise ArgumentError(
            "{argument} must be above 0 and at most 1, got {value!r}.", argument=Option("gamma"), value=gamma
        )
    given = np.asarray(parameters)
    shaped = given[:, :, None] if given.ndim == 2 else given
    own = shaped[target]
    if len(shaped) == 1:
        return np.asarray(own[:, 0] / np.linalg.norm(own[:, 0]))
    span, _ = np.linalg.qr(np.concatenate(np.delete(shaped, target, axis=0), axis=1))
    rng = _make_generator(random_state)
    rotation, _ = np.linalg.qr(rng.standard_normal((span.shape[1], span.shape[1])))
    direction = own @ rng.standard_normal(own.shape[1]) if given.ndim == 3 else own[:, 0]
    residual = direction - span @ (span.T @ direction)
    mixed = span @ rotation.sum(axis=1) / np.sqrt(span.shape[1])
    return np.asarray(np.sqrt(gamma) * residual / np.linalg.norm(residual) + np.sqrt(1 - gamma) * mixed)


def _make_weights(rng: np.random.Generator, given: ArrayLike | None, n: int, low: float, high: float) -> Array:
    if given is None:
        drawn = rng.uniform(low, high, size=n)
        return np.asarray(drawn / drawn.sum())
    weights = np.asarray(given, dtype=float)
    if weights.shape != (n,) or weights.min() < 0 or not np.isclose(weights.sum(), 1):
        raise ArgumentError(
            "{argument} must be {n} non-negative numbers with sum 1, got {value}.",
            argument=Option("weights"),
            n=n,
            value=weights.tolist(),
        )
    return weights


def _make_generator(random_state: RandomState) -> np.random.Generator:
    """Return a NumPy generator from a scikit-learn random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

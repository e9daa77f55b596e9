"""Mixtures drawn at random, with the truth: the paper's parameters are the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.errors import HintError, SearchError


@dataclass(frozen=True, slots=True)
class GaussianMixtureData:
    """Samples of a mixture of spherical Gaussians."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    centers: Array  # (k, d)
    weights: Array  # (k,)
    deviations: Array  # (k,), σᵢ

    def oracle(self) -> Array:
        """The centers of someone who knows every label: means of the true members, (k, d)."""
        return np.array([self.X[self.labels == i].mean(axis=0) for i in range(len(self.centers))])


@dataclass(frozen=True, slots=True)
class TopicData:
    """Documents of an LDA model."""

    counts: sp.csr_array  # (n, d)
    topics: Array  # (k, d), rows on the simplex
    alpha: Array  # (k,), Dirichlet parameters
    shares: Array  # (n, k), the topics' shares in each document
    vocabulary: list[str]  # (d,)

    def labelled_word(self, topic: int) -> int:
        """The column of the word that singles out a topic best: its probability there over that in any other."""
        others = np.delete(self.topics, topic, axis=0).max(axis=0)
        frequent = self.topics[topic] >= np.quantile(self.topics[topic], 0.9)
        return int(np.argmax(np.where(frequent, self.topics[topic] / (others + 1e-12), 0)))

    def oracle(self) -> Array:
        """The topics of someone who knows the shares of every document, by least squares, (k, d).

        A count has a variance in proportion to its document's length.
        """
        root = np.sqrt(np.asarray(self.counts.sum(axis=1)))[:, None]
        return np.asarray(np.linalg.lstsq(self.shares * root, self.counts.toarray() / root, rcond=None)[0])


@dataclass(frozen=True, slots=True)
class MixedRegressionData:
    """Samples of a mixture of linear regressions."""

    X: Array  # (n, d)
    y: Array  # (n,)
    labels: Array  # (n,)
    centers: Array  # (k, d), the coefficients
    intercepts: Array  # (k,)
    weights: Array  # (k,)

    def oracle(self) -> Array:
        """The coefficients of someone who knows every label: least squares with an intercept, (k, d)."""
        X = np.hstack([self.X, np.ones((len(self.X), 1))])
        members = [self.labels == i for i in range(len(self.centers))]
        return np.array([np.linalg.lstsq(X[own], self.y[own], rcond=None)[0][:-1] for own in members])


@dataclass(frozen=True, slots=True)
class SubspacesData:
    """Samples of a mixture of subspaces."""

    X: Array  # (n, d)
    labels: Array  # (n,)
    bases: Array  # (k, d, r), orthonormal columns
    weights: Array  # (k,)

    def oracle(self) -> Array:
        """The bases of someone who knows every label: top eigenvectors of the members' second moments, (k, d, r)."""
        members = [self.X[self.labels == i] for i in range(len(self.bases))]
        return np.array([np.linalg.eigh(X.T @ X)[1][:, -self.bases.shape[2] :] for X in members])


def make_gaussian_mixture(
    n_samples: int = 10_000,
    n_features: int = 500,
    n_components: int = 10,
    *,
    deviation: float | Array = 0.5,
    norm: float = 10.0,
    weights: Array | None = None,
    random_state: Any = None,
) -> GaussianMixtureData:
    """Draw from a mixture of spherical Gaussians, its centers uniform on a sphere.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        n, d and k.
    deviation : float or array of shape (k,)
        σ, or one per component.
    norm : float
        The length of every center.
    weights : array of shape (k,), optional
        Drawn between .05 and .2 and made to sum to one, where not given.
    random_state : int, RandomState instance or None
    """
    rng = _generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers *= norm / np.linalg.norm(centers, axis=1, keepdims=True)
    shares = _weights(rng, weights, n_components, 0.05, 0.2)
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
    alpha: float | Array = 0.2,
    concentration: float = 0.1,
    random_state: Any = None,
) -> TopicData:
    """Draw documents from an LDA model, their lengths from a Poisson distribution.

    Parameters
    ----------
    n_documents, n_words, n_topics : int
        n, d and k.
    mean_length : float
        L, the mean number of words of a document.
    alpha : float or array of shape (k,)
        The Dirichlet parameter of every topic.
    concentration : float
        Topics are drawn from a symmetric Dirichlet with this parameter: smaller makes them differ more.
    random_state : int, RandomState instance or None
    """
    rng = _generator(random_state)
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
    weights: Array | None = None,
    random_state: Any = None,
) -> MixedRegressionData:
    """Draw from a mixture of linear regressions with standard normal X and coefficients on the unit sphere.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        n, d and k.
    deviation : float
        σ, of the noise of y.
    intercept : float
        The standard deviation of the components' intercepts.
    weights : array of shape (k,), optional
        Drawn between .1 and .3 and made to sum to one, where not given.
    random_state : int, RandomState instance or None
    """
    rng = _generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    intercepts = intercept * rng.standard_normal(n_components)
    shares = _weights(rng, weights, n_components, 0.1, 0.3)
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
    weights: Array | None = None,
    random_state: Any = None,
) -> SubspacesData:
    """Draw from a mixture of random subspaces with standard normal coordinates and white noise.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        n, d and k.
    dim : int
        The dimension of every subspace.
    deviation : float
        σ, of the noise in every direction.
    weights : array of shape (k,), optional
        Drawn between .1 and .3 and made to sum to one, where not given.
    random_state : int, RandomState instance or None
    """
    rng = _generator(random_state)
    bases = np.linalg.qr(rng.standard_normal((n_components, n_features, dim)))[0]
    shares = _weights(rng, weights, n_components, 0.1, 0.3)
    labels = rng.choice(n_components, size=n_samples, p=shares)
    coordinates = rng.standard_normal((n_samples, dim))
    X = deviation * rng.standard_normal((n_samples, n_features))
    for component, basis in enumerate(bases):
        members = labels == component
        X[members] += coordinates[members] @ basis.T
    return SubspacesData(X, labels, bases, shares)


def make_hint(parameters: Array, target: int = 0, *, gamma: float = 0.7, random_state: Any = 0) -> Array:
    """A hint of a chosen strength, √γ v₁ + √((1-γ)/(k-1)) Σ vᵢ, as in section 4.1 of the paper.

    Parameters
    ----------
    parameters : array of shape (k, d) or (k, d, r)
        Centers, or bases of subspaces.
    target : int
        The component that the hint is for.
    gamma : float
        The strength, in (0, 1]: the part of the hint that no other component explains.
    random_state : int, RandomState instance or None
        Of the basis of the others' span. The one that the decomposition gives is turned at random.

    Returns
    -------
    array of shape (d,)
        Here v₁ is the direction of the target that is orthogonal to the span of the others, and the vᵢ are an
        orthonormal basis of that span.
    """
    if not 0 < gamma <= 1:
        raise HintError(f"gamma must lie above 0 and at most 1; found {gamma!r}.")
    shaped = parameters[:, :, None] if parameters.ndim == 2 else parameters
    own = shaped[target]
    if len(shaped) == 1:
        return np.asarray(own[:, 0] / np.linalg.norm(own[:, 0]))
    span, _ = np.linalg.qr(np.concatenate(np.delete(shaped, target, axis=0), axis=1))
    rng = _generator(random_state)
    turn, _ = np.linalg.qr(rng.standard_normal((span.shape[1], span.shape[1])))
    beside = own @ rng.standard_normal(own.shape[1]) if parameters.ndim == 3 else own[:, 0]
    beside = beside - span @ (span.T @ beside)
    mixed = span @ turn.sum(axis=1) / np.sqrt(span.shape[1])
    return np.asarray(np.sqrt(gamma) * beside / np.linalg.norm(beside) + np.sqrt(1 - gamma) * mixed)


def _weights(rng: np.random.Generator, given: Array | None, n: int, low: float, high: float) -> Array:
    if given is None:
        drawn = rng.uniform(low, high, size=n)
        return np.asarray(drawn / drawn.sum())
    weights = np.asarray(given, dtype=float)
    if weights.shape != (n,) or weights.min() < 0 or not np.isclose(weights.sum(), 1):
        raise SearchError(f"weights must be {n} numbers from 0 that sum to one; found {weights.tolist()}.")
    return weights


def _generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from whatever scikit-learn takes as a random state."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

"""The best that data without labels allow: EM of the whole mixture, started at the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import measuring  # noqa: F401  (makes paper_experiments importable)
import numpy as np
from paper_experiments.baselines import Regressions, run_em
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture
from workloads import ShapedGaussians

from mixsearch._typing import Array
from mixsearch.datasets.mixtures import GaussianMixtureData, MixedRegressionData, SubspacesData
from mixsearch.datasets.topics import TopicData

State = TypeVar("State")
# Nats over all samples together: parameters then move by less than a hundredth of their standard errors.
TOLERANCE = 1e-4
MAX_ITER = 1000
SWEEPS = 500


def gaussian_mle(data: GaussianMixtureData | ShapedGaussians, shape: str, precisions: Array) -> Array:
    """The centers of the likeliest mixture of a shape near the truth, (k, d)."""
    mixture = GaussianMixture(
        len(data.centers),
        covariance_type={"diagonal": "diag"}.get(shape, shape),
        tol=TOLERANCE / len(data.X),
        max_iter=MAX_ITER,
        reg_covar=0,
        weights_init=data.weights,
        means_init=data.centers,
        precisions_init=precisions,
    )
    return np.asarray(mixture.fit(data.X).means_)


def regression_mle(data: MixedRegressionData, deviation: float) -> Array:
    """The coefficients of the likeliest mixture near the truth, (k, d)."""
    truth = Regressions(data.weights, data.centers, data.intercepts, np.full(len(data.centers), deviation**2))
    return run_em(data.X, data.y, truth, MAX_ITER, TOLERANCE).centers


class Subspaces(NamedTuple):
    """Subspaces whose directions have different variances, with the same noise in all."""

    weights: Array  # (k,)
    bases: Array  # (k, d, r)
    variances: Array  # (k, r), without the noise's
    noise: float


def subspace_mle(data: SubspacesData, deviation: float) -> Array:
    """The bases of the likeliest mixture near the truth, (k, d, r).

    Notes
    -----
    With UU' the subspace, C = UΛU' + s²I has -2 log density = |x|²/s² - Σⱼ ⟨x, uⱼ⟩² (1/s² - 1/(λⱼ+s²)) + log det C. The
    likeliest U are top eigenvectors of the weighted second moment (Tipping and Bishop 1999); one step of orthogonal
    iteration from the last ones raises the likelihood too, and costs no (d, d) matrix.
    """
    X = data.X
    (n, d), (k, _, r) = X.shape, data.bases.shape
    squares = np.einsum("ij,ij->i", X, X)

    def step(now: Subspaces) -> tuple[Subspaces, float]:
        inside = [(X @ basis) ** 2 for basis in now.bases]
        gains = 1 / now.noise - 1 / (now.variances + now.noise)
        logdet = np.log(now.variances + now.noise).sum(axis=1) + (d - r) * np.log(now.noise)
        fits = np.transpose([own @ gain for own, gain in zip(inside, gains, strict=True)])
        chances, fit = _responsibilities(now.weights, (fits - squares[:, None] / now.noise - logdet) / 2)
        mass = chances.sum(axis=0)
        turned = [_turn(X, own, basis) for own, basis in zip(chances.T, now.bases, strict=True)]
        energies = np.array([_energies(X, own, basis) for own, basis in zip(chances.T, turned, strict=True)])
        noise = float((squares.sum() - mass @ energies.sum(axis=1)) / (n * (d - r)))
        return Subspaces(mass / n, np.array(turned), energies - noise, noise), fit

    return _climb(step, Subspaces(data.weights, data.bases, np.ones((k, r)), deviation**2)).bases


def _turn(X: Array, chances: Array, basis: Array) -> Array:
    """A basis nearer to the top eigenvectors of the weighted second moment, (d, r), along their images in the span."""
    span = np.linalg.qr(X.T @ (chances[:, None] * (X @ basis)))[0]
    inside = X @ span
    return np.asarray(span @ np.linalg.eigh((inside.T * chances) @ inside)[1])


def _energies(X: Array, chances: Array, basis: Array) -> Array:
    return np.asarray(chances @ (X @ basis) ** 2 / chances.sum())


def topic_gibbs(data: TopicData, concentration: float, seed: int) -> Array | None:
    """The topics of tomotopy's Gibbs sampler with the true priors, (k, d), each the nearest to a true one.

    None where tomotopy, one of ``requirements/peers.txt``, is not installed.
    """
    try:
        import tomotopy
    except ImportError:
        return None
    k = len(data.topics)
    model = tomotopy.LDAModel(k=k, alpha=data.alpha.tolist(), eta=concentration, seed=seed + 1, rm_top=0, min_cf=0)
    model.optim_interval = 0
    for row in range(data.counts.shape[0]):
        part = slice(data.counts.indptr[row], data.counts.indptr[row + 1])
        words = np.repeat(data.counts.indices[part], data.counts.data[part])
        model.add_doc([data.vocabulary[word] for word in words])
    model.train(SWEEPS, workers=1)
    columns = {word: column for column, word in enumerate(data.vocabulary)}
    where = [columns[word] for word in model.used_vocabs]
    found = np.zeros_like(data.topics)
    found[:, where] = [model.get_topic_word_dist(topic) for topic in range(k)]
    distances = np.linalg.norm(data.topics[:, None] - found, axis=2)
    return np.asarray(found[distances.argmin(axis=1)])


def _responsibilities(weights: Array, logs: Array) -> tuple[Array, float]:
    """Chances of the components for each sample, (n, k), and the log-likelihood but for a constant."""
    joint = logs + np.log(weights)
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())


def _climb(step: Callable[[State], tuple[State, float]], start: State) -> State:
    """Steps of expectation maximisation until they gain nothing."""
    state, best = start, -np.inf
    for _ in range(MAX_ITER):
        following, fit = step(state)
        if fit - best < TOLERANCE:
            return state
        state, best = following, fit
    raise RuntimeError(f"EM from the truth still gains after {MAX_ITER} steps.")

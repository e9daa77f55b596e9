"""EM for a whole mixture of regressions, the usual method for such mixtures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array
from mixsearch.core.hints import hint_from_direction
from mixsearch.core.validation import check_positive_int
from mixsearch.errors import SearchError

# Relative to the variance of y: a component that fits some samples exactly would have an infinite likelihood.
MIN_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Regressions:
    """All regressions of a mixture, each with its own intercept and noise variance.

    Attributes
    ----------
    weights : array of shape (k,)
        The share of samples of each regression.
    centers : array of shape (k, d)
        The coefficients.
    intercepts : array of shape (k,)
        The intercept of each regression.
    variances : array of shape (k,)
        The noise variances.
    log_likelihood : float
        Of all samples, up to a constant, before the last iteration.
    """

    weights: Array
    centers: Array
    intercepts: Array
    variances: Array
    log_likelihood: float = -np.inf

    def find_component(self, hint: ArrayLike) -> Array:
        """Find the regression with the largest inner product of coefficients and hint.

        Parameters
        ----------
        hint : array of shape (d,)
            The direction v.

        Returns
        -------
        array of shape (d,)
            Its coefficients.
        """
        return np.asarray(self.centers[np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1]))])


def em_regressions(
    X: ArrayLike,
    y: ArrayLike,
    n_components: int,
    *,
    n_init: int = 5,
    max_iter: int = 1000,
    tol: float = 0.01,
    random_state: int | np.random.RandomState | None = 0,
) -> Regressions:
    """Fit all regressions of a mixture by EM from random starts, and return the fit with the largest likelihood.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    y : array of shape (n,)
        The responses.
    n_components : int
        The number k of regressions.
    n_init : int, default=5
        The number of starts. Each assigns every sample to a random component.
    max_iter : int, default=1000
        The maximum number of iterations from each start.
    tol : float, default=0.01
        Stop when an iteration raises the log-likelihood of all samples by less, in nats.
    random_state : int, RandomState instance or None, default=0
        The seed.

    Returns
    -------
    Regressions

    Examples
    --------
    >>> from mixsearch.baselines import em_regressions
    >>> from mixsearch.datasets import make_mixed_regression
    >>> data = make_mixed_regression(2000, 5, 2, random_state=0)
    >>> found = em_regressions(data.X, data.y, 2).find_component(data.centers[0])
    >>> bool(abs(found - data.centers[0]).max() < 0.05)
    True
    """
    samples, targets = check_X_y(X, y, dtype=np.float64)
    check_positive_int("n_components", n_components)
    check_positive_int("n_init", n_init)
    check_positive_int("max_iter", max_iter)
    n, d = samples.shape
    if n < n_components * (d + 2):
        raise SearchError(
            "{n_components} regressions on {n_features} features need at least {needed:,} samples, but X has {n:,}.",
            code="too_few_samples",
            n_components=n_components,
            n_features=d,
            needed=n_components * (d + 2),
            n=n,
        )
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    starts = (np.eye(n_components)[rng.integers(n_components, size=n)] for _ in range(n_init))
    ends = [run_em(samples, targets, _m_step(samples, targets, start), max_iter, tol) for start in starts]
    return max(ends, key=lambda end: end.log_likelihood)


def run_em(X: Array, y: Array, start: Regressions, max_iter: int, tol: float) -> Regressions:
    """Run EM from a start until an iteration gains less than the tolerance.

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    y : array of shape (n,)
        The responses.
    start : Regressions
        The initial parameters.
    max_iter : int
        The maximum number of iterations.
    tol : float
        The smallest gain in log-likelihood, in nats.

    Returns
    -------
    Regressions
    """
    current = start
    for _ in range(max_iter):
        resp, log_likelihood = _e_step(X, y, current)
        updated = _m_step(X, y, resp, log_likelihood)
        if log_likelihood - current.log_likelihood < tol:
            return updated
        current = updated
    return current


def _e_step(X: Array, y: Array, current: Regressions) -> tuple[Array, float]:
    """Return responsibilities, (n, k), and the log-likelihood up to a constant."""
    squares = (y[:, None] - X @ current.centers.T - current.intercepts) ** 2
    joint = np.log(current.weights) - squares / current.variances / 2 - np.log(current.variances) / 2
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())


def _m_step(X: Array, y: Array, resp: Array, log_likelihood: float = -np.inf) -> Regressions:
    """Fit each component by weighted least squares."""
    fits = [_fit_least_squares(X, y, weights) for weights in resp.T]
    centers, intercepts, variances = (np.array(parameters) for parameters in zip(*fits, strict=True))
    variances = np.maximum(variances, MIN_VARIANCE * y.var())
    return Regressions(resp.mean(axis=0), centers, intercepts, variances, log_likelihood)


def _fit_least_squares(X: Array, y: Array, weights: Array) -> tuple[Array, float, float]:
    """Return coefficients, (d,), intercept and residual variance."""
    shares = weights / weights.sum()
    mean_x, mean_y = shares @ X, float(shares @ y)
    weighted = X * shares[:, None]
    covariance = weighted.T @ X - np.outer(mean_x, mean_x)
    center = np.linalg.lstsq(covariance, weighted.T @ y - mean_x * mean_y, rcond=None)[0]
    intercept = mean_y - float(mean_x @ center)
    return center, intercept, float(shares @ (y - X @ center - intercept) ** 2)

"""Expectation maximisation of a whole mixture of regressions: what packages for such mixtures do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array
from mixsearch.core.hints import hint_from_direction
from mixsearch.core.validation import check_positive_int
from mixsearch.errors import SearchError

# Of the variance of y: a component that passes through some samples exactly would have an endless likelihood.
LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Regressions:
    """All regressions of a mixture, each with an intercept and a noise level of its own."""

    weights: Array  # (k,)
    centers: Array  # (k, d), the coefficients
    intercepts: Array  # (k,)
    variances: Array  # (k,)
    log_likelihood: float = -np.inf  # of all samples together, before the last step

    def component_of(self, hint: Any) -> Array:
        """The coefficients, (d,), that score highest under a hint v, (d,)."""
        return np.asarray(self.centers[np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1]))])


def em_regressions(
    X: Any,
    y: Any,
    n_components: int,
    *,
    n_init: int = 5,
    max_iter: int = 1000,
    tol: float = 0.01,
    random_state: Any = 0,
) -> Regressions:
    """Learn every regression of a mixture, from random starts of which the likeliest end counts.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    n_components : int
        k.
    n_init : int, default=5
        Starts, each with every sample in a component drawn at random.
    max_iter : int, default=1000
        Steps from each start, at most.
    tol : float, default=0.01
        Stop where a step raises the log-likelihood of all samples together by less than this, in nats.
    random_state : int, RandomState instance or None, default=0

    Examples
    --------
    >>> from mixsearch.baselines import em_regressions
    >>> from mixsearch.datasets import make_mixed_regression
    >>> data = make_mixed_regression(2000, 5, 2, random_state=0)
    >>> found = em_regressions(data.X, data.y, 2).component_of(data.centers[0])
    >>> bool(abs(found - data.centers[0]).max() < 0.05)
    True
    """
    samples, answers = check_X_y(X, y, dtype=np.float64)
    check_positive_int("n_components", n_components)
    check_positive_int("n_init", n_init)
    check_positive_int("max_iter", max_iter)
    n, d = samples.shape
    if n < n_components * (d + 2):
        raise SearchError(
            f"{n_components} regressions on {d} features need at least {n_components * (d + 2):,} samples; found {n:,}."
        )
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    starts = (np.eye(n_components)[rng.integers(n_components, size=n)] for _ in range(n_init))
    ends = [climb_regressions(samples, answers, _maximise(samples, answers, start), max_iter, tol) for start in starts]
    return max(ends, key=lambda end: end.log_likelihood)


def climb_regressions(X: Array, y: Array, start: Regressions, max_iter: int, tol: float) -> Regressions:
    """Steps of expectation maximisation from a start, until one gains less than the tolerance."""
    now = start
    for _ in range(max_iter):
        chances, fit = _expect(X, y, now)
        following = _maximise(X, y, chances, fit)
        if fit - now.log_likelihood < tol:
            return following
        now = following
    return now


def _expect(X: Array, y: Array, now: Regressions) -> tuple[Array, float]:
    """Chances of the components for each sample, (n, k), and the log-likelihood but for a constant."""
    squares = (y[:, None] - X @ now.centers.T - now.intercepts) ** 2
    joint = np.log(now.weights) - squares / now.variances / 2 - np.log(now.variances) / 2
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())


def _maximise(X: Array, y: Array, chances: Array, log_likelihood: float = -np.inf) -> Regressions:
    """Weighted least squares for each component."""
    own = [_least_squares(X, y, chance) for chance in chances.T]
    centers, intercepts, variances = (np.array(part) for part in zip(*own, strict=True))
    floors = np.maximum(variances, LEAST_VARIANCE * y.var())
    return Regressions(chances.mean(axis=0), centers, intercepts, floors, log_likelihood)


def _least_squares(X: Array, y: Array, chances: Array) -> tuple[Array, float, float]:
    """Coefficients, (d,), intercept and variance of what is left."""
    shares = chances / chances.sum()
    mean_x, mean_y = shares @ X, float(shares @ y)
    weighted = X * shares[:, None]
    covariance = weighted.T @ X - np.outer(mean_x, mean_x)
    center = np.linalg.lstsq(covariance, weighted.T @ y - mean_x * mean_y, rcond=None)[0]
    intercept = mean_y - float(mean_x @ center)
    return center, intercept, float(shares @ (y - X @ center - intercept) ** 2)

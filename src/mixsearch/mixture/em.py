"""Expectation maximisation for any family that has a density, with labelled examples held in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.special import expit, logit

from mixsearch._typing import Array
from mixsearch.core.rows import CACHED_ROWS, Chunk, Chunks, row_slices, sum_chunks
from mixsearch.mixture.tuning import TUNING

P = TypeVar("P", bound=Any)


class Model(Protocol[P]):
    """The likelihood of a family. `chunk` holds rows as the family stores them."""

    def log_density(self, chunk: Any, params: P) -> Array:
        """Compute log αᵢ + log pᵢ(x), (n, k), up to one constant for all rows and components."""

    def statistics(self, chunk: Any, resp: Array) -> Array:
        """Sum the sufficient statistics weighted by responsibilities, (k, m); column 0 holds Σ resp."""

    def m_step(self, statistics: Array, weights: Array) -> P:
        """Compute the parameters that maximise the expected log-likelihood."""

    def random_start(self, chunk: Any, params: P, rng: np.random.Generator) -> P:
        """Draw a start of EM from rows, with as many components as `params`."""

    def squares(self, chunk: Any, params: P) -> Array:
        """Compute squared Mahalanobis distances, (n, k): chi-squared with `n_dims` degrees of freedom for members."""

    @property
    def n_dims(self) -> int:
        """Degrees of freedom of `squares`."""

    def scores(self, chunk: Any, params: P, component: int) -> Array:
        """Compute the score of each row as a member of a component, by that component's parameters, (n, p)."""

    def information(self, statistics: Array, params: P, component: int) -> Array:
        """Compute the information about a component's parameters if memberships were known, (p, p)."""


class Held(NamedTuple):
    """Examples whose component is known, at least in part."""

    chunk: Any  # rows as the model takes them
    allowed: Array  # (q, k), bool: components that each row may belong to


class Fit(NamedTuple, Generic[P]):
    """A mixture that EM fitted."""

    params: P
    log_likelihoods: tuple[float, ...]  # at the start and after each iteration

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of all rows."""
        return self.log_likelihoods[-1]


def fit_mixture(
    model: Model[P],
    rows: Chunks[Any],
    starts: Sequence[P],
    held: Held | None = None,
    *,
    restart: bool = False,
) -> Fit[P]:
    """Fit a mixture by EM: on a subset of the rows from every start, then on all rows from the likeliest.

    Starts drawn at random join those given (from moments, from examples) if the likeliest of these does not fit the
    rows: if it does, they would lead to the same maximum. With `restart` they join in any case.
    """
    from mixsearch.mixture.check import fit_p_values

    k = len(starts[0].weights)
    subset = thin_rows(rows, k).collect()
    fits = [run_em(model, subset, start, held) for start in starts]
    best = max(fits, key=lambda fit: fit.log_likelihood)
    is_empty = best.params.weights.min() * subset.n_rows < 1
    is_doubtful = restart or is_empty
    if k > 1 and (is_doubtful or k * fit_p_values(model, subset.chunk, best.params).min() < TUNING.restart_p_value):
        rng = np.random.default_rng(0)  # the same answer every time
        drawn = (model.random_start(subset.chunk, best.params, rng) for _ in range(TUNING.n_random_starts))
        fits = [best, *(run_em(model, subset, start, held) for start in drawn)]
        best = max(fits, key=lambda fit: fit.log_likelihood)
    return best if subset.n_rows == rows.n_rows else run_em(model, rows, best.params, held)


def thin_rows(rows: Chunks[Any], n_components: int) -> Chunks[Any]:
    """Return evenly spaced rows, enough to compare starts and to test a fit on."""
    n_needed = max(TUNING.min_subset, TUNING.subset_per_component * n_components)
    return rows.thin(max(rows.n_rows // n_needed, 1))


def run_em(
    model: Model[P],
    rows: Chunks[Any],
    start: P,
    held: Held | None = None,
    *,
    max_iter: int = TUNING.max_iter,
    tol: float = TUNING.tol,
) -> Fit[P]:
    """Run EM from a start until an iteration gains less than the tolerance.

    The log-likelihood of the last parameters costs one more E-step. An iteration that lowers it, by rounding or by a
    floor of variances, is undone and is the last one.
    """
    params, (following, log_likelihood) = start, em_step(model, rows, start, held)
    history = [log_likelihood]
    while len(history) <= max_iter:
        beyond, log_likelihood = em_step(model, rows, following, held)
        if not log_likelihood >= history[-1]:
            break
        params, following = following, beyond
        history.append(log_likelihood)
        if history[-1] - history[-2] < tol:
            break
    return Fit(params, tuple(history))


def em_step(model: Model[P], rows: Chunks[Any], params: P, held: Held | None = None) -> tuple[P, float]:
    """Return the parameters after one iteration, and the log-likelihood before it.

    Examples count in the parameters of components, but not in the weights: they are not drawn from the mixture.
    """
    statistics, log_likelihood = rows.sum(expect, model, params)
    weights = statistics[:, 0] / rows.n_rows
    if held is not None:
        joint = np.where(held.allowed, model.log_density(held.chunk, params), -np.inf)
        resp, row_likelihoods = responsibilities(joint)
        statistics = statistics + model.statistics(held.chunk, resp)
        of_allowed = np.log(np.maximum(held.allowed @ params.weights, np.finfo(np.float64).tiny))
        log_likelihood = log_likelihood + float(np.sum(row_likelihoods - of_allowed))
    return model.m_step(statistics, weights), log_likelihood


def expect(chunk: Chunk, model: Model[P], params: P) -> tuple[Array, float]:
    """Sum the statistics of rows over the posterior of their components, (k, m), and log-likelihoods: the E-step."""

    def expect_rows(rows: slice) -> tuple[Array, float]:
        piece = chunk.take(rows)
        resp, log_likelihoods = responsibilities(model.log_density(piece, params))
        return model.statistics(piece, resp), float(log_likelihoods.sum())

    return sum_chunks(expect_rows, row_slices(chunk.n_rows, 8 * CACHED_ROWS))


def responsibilities(joint: Array) -> tuple[Array, Array]:
    """Compute the posterior of components, (n, k), and log-likelihoods, (n,), from log αᵢpᵢ(x), (n, k).

    Exponentials take most of the time, and eight times less of it in single precision, which is precise enough for a
    probability computed from differences of logarithms.
    """
    top = joint.max(axis=1)
    resp = np.exp((joint - top[:, None]).astype(np.float32))
    total = resp.sum(axis=1)
    resp /= total[:, None]
    return resp.astype(np.float64), top + np.log(total, dtype=np.float64)


def posterior(model: Model[P], chunk: Chunk, params: P) -> Array:
    """Compute the posterior of components for rows, (n, k)."""
    pieces = [chunk.take(rows) for rows in row_slices(chunk.n_rows, 8 * CACHED_ROWS)]
    return np.concatenate([responsibilities(model.log_density(piece, params))[0] for piece in pieces])


def draw_start(model: Model[P], chunk: Any, Z: Array, n_components: int, rng: np.random.Generator) -> P:
    """Start from rows far from each other in some coordinates, (n, q)."""
    from sklearn.cluster import kmeans_plusplus  # type: ignore[attr-defined]  # old stubs; it takes long to import

    return start_near(model, chunk, Z, kmeans_plusplus(Z, n_components, random_state=int(rng.integers(2**31)))[0])


def start_near(model: Model[P], chunk: Any, Z: Array, centers: Array) -> P:
    """Start from the rows nearest to each of k centers in some coordinates, (n, q)."""
    nearest = np.argmin([np.sum((Z - center) ** 2, axis=1) for center in centers], axis=0)
    resp = np.eye(len(centers))[nearest]
    return model.m_step(model.statistics(chunk, resp), resp.mean(axis=0))


def clip_weight(weight: float) -> float:
    """Clip a weight to a probability strictly between 0 and 1."""
    return min(max(weight, 1e-9), 1 - 1e-9)


def posterior_of_two(weight: float, log_member: Array, log_background: Array) -> Array:
    """Return α p(x) / (α p(x) + (1 - α) q(x)), (n,), from log densities."""
    return np.asarray(expit(logit(weight) + log_member - log_background))


def log_normal(deviations: Array, covariance: Array, floor: Array) -> Array:
    """Compute the log density of a centered Gaussian, (n,), up to a constant that depends on the floor only.

    A covariance found as a difference of moments may lose its positivity to noise: no direction has less variance than
    under `floor`, (q,), the variances of another Gaussian.
    """
    units = np.sqrt(floor)
    values, vectors = np.linalg.eigh(covariance / np.outer(units, units))
    values = np.maximum(values, 1.0)
    return np.asarray(-0.5 * (((deviations / units) @ vectors) ** 2 @ (1 / values) + np.log(values).sum()))

"""Moments of regressions and subspaces against four million draws, and the paper's misprint against the same draws."""

import numpy as np
import pytest

from mixsearch.core.frame import Frame
from mixsearch.data.partitions import partition_in_memory
from mixsearch.regression._design import Design
from mixsearch.regression._family import RegressionFamily
from mixsearch.subspace._family import SubspaceFamily

pytestmark = pytest.mark.slow

BATCH, BATCHES = 250_000, 16
WHOLE = Frame(np.eye(3), np.ones(3))  # the whole space, unscaled: W = I


def batch_means(statistic):
    """The mean of a statistic over all draws, and its standard error from the batches."""
    batches = np.array([statistic(np.random.default_rng(seed)) for seed in range(BATCHES)])
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(BATCHES)


def deviations(found, expected):
    mean, error = found
    return np.abs(mean - expected) / error


@pytest.fixture(scope="module")
def regression():
    centers = np.array([[1.0, 0.2, 0.0], [-0.3, 0.8, 0.4]])
    return centers, np.array([0.4, 0.6]), np.array([0.3, -0.2]), np.array([0.3, 0.6]), np.array([0.7, -0.4, 0.5])


@pytest.mark.parametrize("multiple", [0.0, 3.0], ids=["the paper's third power", "the third Hermite polynomial"])
def test_regression_moments_agree_with_draws(regression, multiple):
    centers, weights, intercepts, noises, v = regression
    design, nobody = Design(np.zeros(3), None), partition_in_memory(np.zeros((0, 3)))
    model = RegressionFamily(WHOLE, design, 0.0, *[np.zeros(3)] * 4, linear=0.0, noise_level=0.0, partitions=nobody)
    energy = weights @ ((centers**2).sum(axis=1) + noises**2 + intercepts**2)

    def hinted(rng):
        labels = rng.choice(2, size=BATCH, p=weights)
        X = rng.standard_normal((BATCH, 3))
        y = (X * centers[labels]).sum(axis=1) + intercepts[labels] + noises[labels] * rng.standard_normal(BATCH)
        f = y**3 - multiple * energy * y
        third = (X * (f * (X @ v))[:, None]).T @ X / BATCH
        return model.correct(third, X.T @ f / BATCH, v).matrix

    expected = (centers.T * (weights * (centers @ v))) @ centers
    assert deviations(batch_means(hinted), expected).max() < 4


@pytest.fixture(scope="module")
def subspace_draws():
    """Raw fourth moments of a mixture of two lines in space, with their truth."""
    rng = np.random.default_rng(7)
    bases = np.linalg.qr(rng.normal(size=(2, 3, 1)))[0]
    weights, deviation, v = np.array([0.45, 0.55]), 0.6, np.array([0.9, -0.2, 0.4])

    def raw(rng):
        labels = rng.choice(2, size=BATCH, p=weights)
        X = bases[labels, :, 0] * rng.standard_normal((BATCH, 1)) + deviation * rng.standard_normal((BATCH, 3))
        return (X * ((X @ v) ** 2)[:, None]).T @ X / BATCH

    A = sum(a * U @ U.T for a, U in zip(weights, bases, strict=True))
    inside = [U @ U.T @ v for U in bases]
    B = sum(a * ((p @ p) * U @ U.T + 2 * np.outer(p, p)) for a, U, p in zip(weights, bases, inside, strict=True))
    return batch_means(raw), A, B, deviation**2, v


def test_subspace_moments_agree_with_draws(subspace_draws):
    (raw, error), A, B, s2, v = subspace_draws
    values, vectors = np.linalg.eigh(A)
    frame = Frame(vectors[:, :0:-1], values[:0:-1])
    W = frame.basis / np.sqrt(frame.values)
    projected = frame.basis @ (frame.basis.T @ v)
    hints = (np.sqrt(frame.values) * (frame.basis.T @ projected))[None, :]
    model = SubspaceFamily(frame, s2, 1, partition_in_memory(np.zeros((0, 3))))
    noise = model.correct(np.zeros((2, 2)), hints.T @ hints)
    # The draws were hinted by v itself, so compare in the whole space with v's own terms.
    norm, vv = v @ v, np.outer(v, v)
    whole = s2 * (v @ A @ v) * np.eye(3) + s2 * norm * A + 2 * s2 * (A @ vv + vv @ A)
    twice = whole + s2**2 * (norm * np.eye(3) + 2 * vv)
    assert (np.abs(raw - twice - B) / error).max() < 4
    same = s2 * (projected @ A @ projected) * np.eye(3) + s2 * (projected @ projected) * A
    pp = np.outer(projected, projected)
    same = same + 2 * s2 * (A @ pp + pp @ A) + s2**2 * ((projected @ projected) * np.eye(3) + 2 * pp)
    np.testing.assert_allclose(-noise, W.T @ same @ W, atol=1e-12)

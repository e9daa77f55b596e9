"""EM with examples held, and standard errors, compared with derivatives of the log-likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from tests.unit.gaussian.shaped import CENTERS, WEIGHTS, draw

from mixsearch.core.rows import Chunks, Layout, SampleChunk, chunk_in_memory
from mixsearch.gaussian import FeatureChunk, Gaussians, ShapedModel, SphericalModel
from mixsearch.mixture.em import Held, em_step, responsibilities, run_em
from mixsearch.mixture.errors import estimate_covariance, invert_information

N, D, OVERLAP = 400, 4, 1.6
MODELS = ("spherical", "diagonal", "tied", "full")


def make_chunk(model, X):
    if isinstance(model, SphericalModel):
        return FeatureChunk(0, np.column_stack([np.ones(len(X)), X, np.sum(X**2, axis=1)]))
    return SampleChunk(0, X)


def make_model(name, X):
    """Return a model, its rows, and parameters near the truth. Here the signal space has all dimensions."""
    if name == "spherical":
        model = SphericalModel(np.ones(D), D, 1e-6)
        chunk = make_chunk(model, X)
        start = Gaussians(WEIGHTS, CENTERS / OVERLAP, np.array([0.5, 1.0, 2.0]))
        return model, Chunks(Layout(len(X), D, X.dtype, False), (chunk,)), start
    model = ShapedModel(name, np.zeros(D), 1e-6)
    return model, chunk_in_memory(X), Gaussians(WEIGHTS, CENTERS / OVERLAP, np.tile(np.eye(D), (3, 1, 1)))


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    data = draw(request.param, n=N, overlap=OVERLAP)
    model, rows, start = make_model(request.param, data.X)
    return data.X, model, rows, run_em(model, rows, start, tol=1e-10, max_iter=1000).params


def covariances_of(model, params):
    if isinstance(model, SphericalModel):
        return [variance * np.eye(D) for variance in params.scales]
    return [np.linalg.inv(factor @ factor.T) for factor in params.scales]


def row_likelihoods(X, weights, centers, covariances):
    """Compute log Σ αᵢpᵢ(x), (n,), by SciPy."""
    logs = [
        np.log(weight) + multivariate_normal(center, covariance).logpdf(X)
        for weight, center, covariance in zip(weights, centers, covariances, strict=True)
    ]
    return logsumexp(logs, axis=0)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_never_falls_from_any_start(name, seed):
    X = draw(name, n=N, overlap=OVERLAP, seed=seed).X
    model, rows, start = make_model(name, X)
    start = model.random_start(rows.chunk, start, np.random.default_rng(seed))
    fit = run_em(model, rows, start, tol=1e-9)
    assert len(fit.log_likelihoods) > 3
    assert np.all(np.diff(fit.log_likelihoods) >= 0)
    before, after = (
        row_likelihoods(X, params.weights, params.centers, covariances_of(model, params)).sum()
        for params in (start, fit.params)
    )
    assert fit.log_likelihood - fit.log_likelihoods[0] == pytest.approx(after - before, rel=1e-4)


def test_responsibilities_are_posteriors(fitted):
    X, model, rows, params = fitted
    joint = [
        weight * multivariate_normal(center, covariance).pdf(X)
        for weight, center, covariance in zip(
            params.weights, params.centers, covariances_of(model, params), strict=True
        )
    ]
    expected = np.transpose(joint) / np.sum(joint, axis=0)[:, None]
    assert_allclose(responsibilities(model.log_density(rows.chunk, params))[0], expected, atol=1e-5)


def test_held_examples_move_their_component_but_not_the_weights(fitted):
    _, model, rows, params = fitted
    allowed = np.tile([True, False, False], (50, 1))
    held = Held(make_chunk(model, np.full((50, D), 9.0)), allowed)
    moved, _ = em_step(model, rows, params, held)
    free, _ = em_step(model, rows, params)
    assert_allclose(moved.weights, free.weights)
    size = N * free.weights[0]
    assert_allclose(moved.centers[0], (size * free.centers[0] + 50 * 9.0) / (size + 50), rtol=1e-6)
    assert_allclose(moved.centers[1:], free.centers[1:], rtol=1e-6)


def test_examples_that_may_belong_to_all_components_count_by_their_posterior(fitted):
    X, model, rows, params = fitted
    held = Held(make_chunk(model, X[:50]), np.ones((50, 3), dtype=bool))
    moved, log_likelihood = em_step(model, rows, params, held)
    twice = np.vstack([X, X[:50]])
    joined = Chunks(Layout(len(twice), D, twice.dtype, False), (make_chunk(model, twice),))
    expected, expected_likelihood = em_step(model, joined, params)
    assert_allclose(moved.centers, expected.centers, atol=1e-8)
    assert log_likelihood == pytest.approx(expected_likelihood)


def perturb(model, params, step):
    """Move the parameters of all components in the model's coordinates, and log weights, by (k, p + 1)."""
    logs = np.log(params.weights) + step[:, -1]
    weights = np.exp(logs - logsumexp(logs))
    centers, covariances = [], []
    for center, covariance, move in zip(params.centers, covariances_of(model, params), step, strict=True):
        if isinstance(model, SphericalModel):
            centers.append(center + np.sqrt(covariance[0, 0]) * move[:D])
            covariances.append(covariance * np.exp(move[D]))
            continue
        # In coordinates z = (x - μ)F the covariance is the identity.
        root = np.linalg.inv(np.linalg.inv(np.linalg.cholesky(covariance)).T)
        centers.append(center + move[:D] @ root)
        change = np.eye(D)
        if model.shape == "diagonal":
            change += np.diag(move[D : 2 * D])
        covariances.append(root.T @ change @ root)
    return weights, centers, covariances


def derivatives(function, size, h=1e-3):
    """Compute the gradient, (size, n), and the Hessian of the sum, (size, size), by central differences at 0."""
    steps = h * np.eye(size)
    gradient = np.array([(function(step) - function(-step)) / (2 * h) for step in steps])
    hessian = np.zeros((size, size))
    for i, j in zip(*np.triu_indices(size), strict=True):
        a, b = steps[i], steps[j]
        mixed = function(a + b) - function(a - b) - function(b - a) + function(-a - b)
        hessian[i, j] = hessian[j, i] = mixed.sum() / (4 * h * h)
    return gradient, hessian


@pytest.mark.slow
@pytest.mark.parametrize("fitted", ["spherical", "diagonal", "tied"], indirect=True)
def test_errors_are_the_sandwich_of_the_derivatives_of_the_log_likelihood(fitted):
    X, model, rows, params = fitted
    size = model.scores(make_chunk(model, X[:1]), params, 0).shape[1] + 1

    def log_likelihoods(step):
        return row_likelihoods(X, *perturb(model, params, step.reshape(3, size)))

    scores, hessian = derivatives(log_likelihoods, 3 * size)
    inverse = invert_information(-hessian)
    centered = scores - scores.mean(axis=1, keepdims=True)
    sandwich = inverse @ (centered @ centered.T) @ inverse
    last = np.arange(size - 1, 3 * size, size)
    to_answer = np.eye(size, 3 * size)
    to_answer[-1, last] -= params.weights
    to_answer[-1] *= params.weights[0]
    found = estimate_covariance(model, rows, params, 0)
    expected = to_answer @ sandwich @ to_answer.T
    answered = [*range(D), -1]  # the center and the weight, which standard errors are reported of
    assert_allclose(np.sqrt(np.diag(found))[answered], np.sqrt(np.diag(expected))[answered], rtol=0.01)

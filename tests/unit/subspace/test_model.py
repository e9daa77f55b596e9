"""The likelihood of subspaces: against textbook densities, numerical derivatives and a direct M-step."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from mixsearch.subspace import SubspaceChunk, SubspaceModel, SubspaceParameters, split_span

MODEL = SubspaceModel(dim=2, n_dims=7, min_noise=1e-9)


def make_parameters(seed=0):
    """Make three planes in five dimensions, with noise in two more."""
    rng = np.random.default_rng(seed)
    bases = np.linalg.qr(rng.normal(size=(3, 5, 2)))[0]
    variances = np.sort(rng.uniform(0.5, 2, size=(3, 2)))[:, ::-1]
    return SubspaceParameters(np.array([0.2, 0.3, 0.5]), bases, variances, np.array([0.1, 0.2, 0.3]))


def make_chunk(X):
    return SubspaceChunk(0, X[:, :5], np.sum(X**2, axis=1), np.zeros(len(X)))


def covariances(params):
    padded = [np.vstack([U, np.zeros((2, 2))]) for U in params.bases]
    return [
        (U * variances) @ U.T + noise * np.eye(7)
        for U, variances, noise in zip(padded, params.variances, params.noise_variances, strict=True)
    ]


def test_log_densities_and_squares_are_those_of_the_textbook():
    params, X = make_parameters(), np.random.default_rng(0).normal(size=(7, 7))
    logs = [multivariate_normal(cov=C).logpdf(X) for C in covariances(params)]
    expected = np.log(params.weights) + np.array(logs).T
    assert_allclose(MODEL.log_density(make_chunk(X), params), expected)
    squares = [np.sum(X * np.linalg.solve(C, X.T).T, axis=1) for C in covariances(params)]
    assert_allclose(MODEL.squares(make_chunk(X), params), np.array(squares).T)


def test_the_m_step_has_the_top_eigenvectors_and_the_mean_of_the_other_variances():
    rng = np.random.default_rng(1)
    X, resp = rng.normal(size=(500, 7)) * np.sqrt([3, 1, 2, 1, 1, 1, 1]), rng.dirichlet(np.ones(2), size=500)
    params = MODEL.m_step(MODEL.statistics(make_chunk(X), resp), resp.mean(axis=0))
    for i in range(2):
        second = (X.T * resp[:, i]) @ X / resp[:, i].sum()
        values, vectors = np.linalg.eigh(second[:5, :5])
        noise = (np.trace(second) - values[-2:].sum()) / 5
        assert params.noise_variances[i] == pytest.approx(noise)
        assert_allclose(params.variances[i], values[:-3:-1] - noise)
        assert_allclose(np.abs(params.bases[i].T @ vectors[:, :-3:-1]), np.eye(2), atol=1e-10)


def move(params, component, step):
    """Move a subspace along the parameters of the scores: rotations, log(l + s), log s."""
    basis, complement = split_span(params, component)
    noise, totals = params.noise_variances[component], params.variances[component] + params.noise_variances[component]
    units = np.sqrt(noise * totals) / params.variances[component]
    turned = basis + complement @ (step[:6].reshape(3, 2) * units)
    totals, noise = totals * np.exp(step[6:8]), noise * np.exp(step[8])
    bases, variances, noises = params.bases.copy(), params.variances.copy(), params.noise_variances.copy()
    bases[component], variances[component] = scipy.linalg.polar(turned)[0], totals - noise
    noises[component] = noise
    return params._replace(bases=bases, variances=variances, noise_variances=noises)


def test_scores_and_information_are_the_derivatives_of_the_log_density():
    params, component = make_parameters(), 1
    X = np.random.default_rng(2).multivariate_normal(np.zeros(7), covariances(params)[component], size=2000)
    params = MODEL.m_step(MODEL.statistics(make_chunk(X), np.ones((2000, 1))), np.ones(1))
    chunk, step = make_chunk(X), 1e-4

    def log_density(*steps):
        return MODEL.log_density(chunk, move(params, 0, sum(steps)))[:, 0]

    units = step * np.eye(9)
    slopes = np.array([(log_density(unit) - log_density(-unit)) / (2 * step) for unit in units]).T
    assert_allclose(MODEL.scores(chunk, params, 0), slopes, atol=1e-4)
    information = MODEL.information(MODEL.statistics(chunk, np.ones((2000, 1))), params, 0)
    curved = [
        [
            -np.sum(log_density(a, b) - log_density(a, -b) - log_density(-a, b) + log_density(-a, -b)) / (4 * step**2)
            for b in units
        ]
        for a in units
    ]
    assert_allclose(information, curved, atol=0.02 * 2000)

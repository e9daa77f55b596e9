"""Moments and likelihood of subspaces: against textbook densities, derivatives, a direct M-step and refits."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from mixsearch import SubspaceSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace import (
    Noise,
    SubspaceChunk,
    SubspaceModel,
    SubspaceParameters,
    fit_subspace,
    split_span,
    subtract_noise,
)

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


data = make_subspaces(1200, 10, 2, dim=2, deviation=0.2, random_state=2)


@pytest.mark.parametrize("paper", [False, True])
def test_energies_average_to_the_noise(paper):
    family = fit_subspace(chunk_in_memory(data.X), 2, dim=2, paper=paper, seed=0, center=np.zeros(10))
    values = np.sort(np.linalg.eigvalsh(data.X.T @ data.X / 1200))[::-1]
    assert family.chunks.chunk.energy.mean() == pytest.approx(family.noise.variance)
    assert family.noise.variance == pytest.approx(values[4] if paper else values[4:].mean())


def test_noise_that_differs_between_subspaces_leaves_no_trace_in_the_hinted_moment():
    rng = np.random.default_rng(3)
    bases, deviations = np.linalg.qr(rng.normal(size=(2, 12, 2)))[0], np.array([0.2, 0.6])
    labels = np.arange(100_000) % 2
    X = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(100_000, 2)))
    X += deviations[labels][:, None] * rng.normal(size=X.shape)
    family = fit_subspace(chunk_in_memory(X), 2, dim=2, paper=False, seed=0, center=np.zeros(12))
    V, root = family.frame.basis, family.root
    v = V.T @ (bases[0] @ [1.0, 0.5] + bases[1] @ [0.5, 1.0])
    planes = [V.T @ U @ U.T @ V for U in bases]
    exact = sum(0.5 * ((v @ P @ v) * P + 2 * P @ np.outer(v, v) @ P) for P in planes)
    found = family.hinted(v[:, None]) * np.outer(root, root)
    assert_allclose(found, exact, atol=0.05)
    s2 = family.noise.variance
    same = Noise(s2, s2 * np.diag(family.frame.values), s2**2)
    change = subtract_noise(np.zeros((4, 4)), np.outer(v, v), same) - subtract_noise(
        np.zeros((4, 4)), np.outer(v, v), family.noise
    )
    assert np.abs(change).max() > 3 * np.abs(found - exact).max()


def test_standard_errors_are_those_of_fits_without_a_group():
    v = data.bases[0] @ [1, 1]
    answer = SubspaceSearch(2, dim=2).fit(data.X).search(v)
    others = [SubspaceSearch(2, dim=2).fit(data.X[np.arange(1200) % 40 != group]).search(v) for group in range(40)]
    bases = [other.basis @ scipy.linalg.polar(other.basis.T @ answer.basis)[0] for other in others]
    spread = np.sqrt(39 * np.var(bases, axis=0))
    assert_allclose(np.sqrt(np.mean(answer.stderr.basis**2)), np.sqrt(np.mean(spread**2)), rtol=0.1)
    assert answer.stderr.weight == pytest.approx(np.sqrt(39 * np.var([other.weight for other in others])), rel=0.1)

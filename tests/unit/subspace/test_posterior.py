"""Which subspace a hint means: against textbook densities, projections and exact ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import multivariate_normal, ortho_group

from mixsearch.core.frame import Frame
from mixsearch.data.partitions import partition_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace.em import SubspaceMixture
from mixsearch.subspace.family import fit_subspace
from mixsearch.subspace.posterior import (
    match_subspace,
    posterior_of_examples,
    simulate_projections,
    squared_projections,
)


def make_mixture(seed=0):
    """Three planes in five dimensions, with noise in two more."""
    rng = np.random.default_rng(seed)
    bases = np.array([np.linalg.qr(rng.normal(size=(5, 2)))[0] for _ in range(3)])
    noise = np.array([0.1, 0.2, 0.3])
    return SubspaceMixture(bases, rng.uniform(0.5, 2, size=(3, 2)), np.array([0.2, 0.3, 0.5]), noise, 2)


def test_the_posterior_of_examples_is_that_of_textbook_densities():
    mixture = make_mixture()
    X = np.random.default_rng(1).normal(size=(3, 7))
    logs = [np.log(a) + normal.logpdf(X).sum() for a, normal in zip(mixture.weights, normals(mixture), strict=True)]
    energy = np.mean(X[:, 5:] ** 2, axis=1)
    own = posterior_of_examples(mixture, X[:, :5], energy)
    assert own.sum() < 1  # they may be of several
    assert_allclose(own / own.sum(), softmax(logs), rtol=1e-9)


def normals(mixture):
    """Make the density of each subspace in the span and outside, all dimensions together."""
    bases = [np.vstack([U, np.zeros((mixture.n_outside, U.shape[1]))]) for U in mixture.bases]
    return [
        multivariate_normal(cov=(U * variances) @ U.T + noise * np.eye(len(U)))
        for U, variances, noise in zip(bases, mixture.variances, mixture.noise_variances, strict=True)
    ]


def test_log_densities_are_those_of_the_textbook():
    mixture = make_mixture()
    X = np.random.default_rng(0).normal(size=(7, 7))
    expected = [np.log(a) + normal.logpdf(X) for a, normal in zip(mixture.weights, normals(mixture), strict=True)]
    own = mixture.log_densities(X[:, :5], np.mean(X[:, 5:] ** 2, axis=1)) - 3.5 * np.log(2 * np.pi)
    assert_allclose(own, np.array(expected).T)


@pytest.mark.parametrize("index", [0, 2])
def test_directions_match_their_subspace_whatever_the_basis(index):
    mixture, values = make_mixture(), np.array([5.0, 4, 3, 2, 1])
    frame = Frame(np.eye(5), values)
    basis = mixture.bases[index] @ ortho_group.rvs(2, random_state=0)
    assert match_subspace(frame, mixture, basis / np.sqrt(values)[:, None]) == index


def test_a_point_between_two_subspaces_means_either():
    data = make_subspaces(2000, 10, 2, dim=2, deviation=0.2, random_state=0)
    family = fit_subspace(partition_in_memory(data.X), 2, dim=2, paper=False, seed=0)
    bases = np.array([np.linalg.qr(family.frame.basis.T @ U)[0] for U in data.bases])
    mixture = SubspaceMixture(bases, np.ones((2, 2)), data.weights, np.full(2, 0.04), 6)
    # The point with the projections (1, 0) onto both.
    tie = np.linalg.lstsq(np.hstack(list(bases)).T, np.array([1.0, 0, 1, 0]), rcond=None)[0]
    assert_allclose(squared_projections(mixture, tie[None, :]), [1, 1])
    between = simulate_projections(family, mixture, tie[None, :]).argmax(axis=1)
    assert 0.2 < between.mean() < 0.8
    clear = simulate_projections(family, mixture, (bases[1] @ [1, 1])[None, :]).argmax(axis=1)
    assert clear.mean() > 0.99

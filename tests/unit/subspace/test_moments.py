from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch.core.rows import N_GROUPS, chunk_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace import fit_subspace

data = make_subspaces(800, 12, 2, dim=2, deviation=0.3, random_state=0)


@pytest.mark.parametrize("paper", [False, True])
def test_energies_average_to_the_noise(paper):
    family = fit_subspace(chunk_in_memory(data.X), 2, dim=2, paper=paper, seed=0)
    values = np.sort(np.linalg.eigvalsh(data.X.T @ data.X / 800))[::-1]
    assert family.chunks.chunk.energy.mean() == pytest.approx(family.noise_variance)
    assert family.noise_variance == pytest.approx(values[4] if paper else values[4:].mean())


def test_replicates_are_the_moments_without_a_group_in_the_frame_of_all():
    family = fit_subspace(chunk_in_memory(data.X), 2, dim=2, paper=False, seed=0)
    V = family.frame.basis
    W = V / np.sqrt(family.frame.values)
    points = np.random.default_rng(1).normal(size=(3, 12)) @ V @ V.T
    replicates = family.leave_one_out(points @ V * np.sqrt(family.frame.values))
    for group in (0, 7):
        X = data.X[np.arange(800) % N_GROUPS != group]
        s2 = (np.sum(X**2) - np.sum((X @ V) ** 2)) / len(X) / 8
        A = X.T @ X / len(X) - s2 * np.eye(12)
        energy = (np.sum(X**2, axis=1) - np.sum((X @ V) ** 2, axis=1)) / 8
        fourth = np.mean(energy**2) * 8 / 10
        noise = (X.T * energy) @ X / len(X) - fourth * np.eye(12)
        B = np.mean([_hinted_moment(X, noise, fourth, v) for v in points], axis=0)
        assert_allclose(replicates.second[group], W.T @ A @ W, atol=1e-10)
        assert_allclose(replicates.hinted[group], W.T @ B @ W, atol=1e-10)


def _hinted_moment(X, noise, s4, v):
    """Compute B in all dimensions, as `SubspaceFamily.correct` writes it."""
    identity, vv, norm = np.eye(len(v)), np.outer(v, v), v @ v
    fourth = (X.T * (X @ v) ** 2) @ X / len(X)
    removed = (v @ noise @ v) * identity + norm * noise + s4 * (norm * identity + 2 * vv)
    return fourth - removed - 2 * (noise @ vv + vv @ noise)


def test_noise_that_differs_between_subspaces_leaves_no_trace_in_the_hinted_moment():
    rng = np.random.default_rng(3)
    bases, deviations = np.linalg.qr(rng.normal(size=(2, 12, 2)))[0], np.array([0.2, 0.6])
    labels = np.arange(100_000) % 2
    X = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(100_000, 2)))
    X += deviations[labels][:, None] * rng.normal(size=X.shape)
    family = fit_subspace(chunk_in_memory(X), 2, dim=2, paper=False, seed=0)
    W = family.frame.basis / np.sqrt(family.frame.values)
    v = family.frame.basis @ family.frame.basis.T @ (bases[0] @ [1.0, 0.5] + bases[1] @ [0.5, 1.0])
    exact = sum(0.5 * ((v @ U @ U.T @ v) * U @ U.T + 2 * U @ U.T @ np.outer(v, v) @ U @ U.T) for U in bases)
    own = family.hinted(v @ family.frame.basis * np.sqrt(family.frame.values)).matrix
    assert_allclose(own, W.T @ exact @ W, atol=0.15)
    one_level = replace(family, noise=None).hinted(v @ family.frame.basis * np.sqrt(family.frame.values)).matrix
    assert np.abs(one_level - W.T @ exact @ W).max() > 3 * np.abs(own - W.T @ exact @ W).max()

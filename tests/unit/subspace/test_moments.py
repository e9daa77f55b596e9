import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch.data.partitions import N_GROUPS, partition_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace._moments import fit_subspace

data = make_subspaces(800, 12, 2, dim=2, deviation=0.3, random_state=0)


@pytest.mark.parametrize("paper", [False, True])
def test_energies_average_to_the_noise(paper):
    family = fit_subspace(partition_in_memory(data.X), 2, dim=2, paper=paper, seed=0)
    values = np.sort(np.linalg.eigvalsh(data.X.T @ data.X / 800))[::-1]
    assert family.partitions.partition.energy.mean() == pytest.approx(family.noise_variance)
    assert family.noise_variance == pytest.approx(values[4] if paper else values[4:].mean())


def test_replicates_are_the_moments_without_a_group_in_the_frame_of_all():
    family = fit_subspace(partition_in_memory(data.X), 2, dim=2, paper=False, seed=0)
    V = family.frame.basis
    W = V / np.sqrt(family.frame.values)
    points = np.random.default_rng(1).normal(size=(3, 12)) @ V @ V.T
    replicates = family.leave_one_out(points @ V * np.sqrt(family.frame.values))
    for group in (0, 7):
        X = data.X[np.arange(800) % N_GROUPS != group]
        s2 = (np.sum(X**2) - np.sum((X @ V) ** 2)) / len(X) / 8
        A = X.T @ X / len(X) - s2 * np.eye(12)
        B = np.mean([_hinted_moment(X, A, s2, v) for v in points], axis=0)
        assert_allclose(replicates.second[group], W.T @ A @ W, atol=1e-10)
        assert_allclose(replicates.hinted[group], W.T @ B @ W, atol=1e-10)


def _hinted_moment(X, A, s2, v):
    """Compute B in all dimensions, as `SubspaceFamily.correct` writes it."""
    identity, vv, norm = np.eye(len(v)), np.outer(v, v), v @ v
    fourth = (X.T * (X @ v) ** 2) @ X / len(X)
    noise = s2 * (v @ A @ v) * identity + s2 * norm * A + s2**2 * (norm * identity + 2 * vv)
    return fourth - noise - 2 * s2 * (A @ vv + vv @ A)


def test_without_a_group_left_out_the_moment_is_that_of_the_search():
    family = fit_subspace(partition_in_memory(data.X), 2, dim=2, paper=False, seed=0)
    hints = np.random.default_rng(2).normal(size=(1, 4))
    replicates = family.leave_one_out(hints)
    assert_allclose(replicates.hinted.mean(axis=0), family.hinted(hints).matrix, rtol=0.02, atol=0.02)

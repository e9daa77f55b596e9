"""Moments and their replicates: against moments in all dimensions, and refits without a group."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from mixsearch import SubspaceSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_subspaces
from mixsearch.subspace import Noise, fit_subspace, subtract_noise

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

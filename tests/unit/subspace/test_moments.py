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
    family = fit_subspace(chunk_in_memory(data.X), 2, dim=2, paper=paper, seed=0)
    values = np.sort(np.linalg.eigvalsh(data.X.T @ data.X / 1200))[::-1]
    assert family.chunks.chunk.energy.mean() == pytest.approx(family.noise.variance)
    assert family.noise.variance == pytest.approx(values[4] if paper else values[4:].mean())


def test_noise_that_differs_between_subspaces_leaves_no_trace_in_the_hinted_moment():
    rng = np.random.default_rng(3)
    bases, deviations = np.linalg.qr(rng.normal(size=(2, 12, 2)))[0], np.array([0.2, 0.6])
    labels = np.arange(100_000) % 2
    X = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(100_000, 2)))
    X += deviations[labels][:, None] * rng.normal(size=X.shape)
    family = fit_subspace(chunk_in_memory(X), 2, dim=2, paper=False, seed=0)
    V, root = family.frame.basis, family.root
    v = V.T @ (bases[0] @ [1.0, 0.5] + bases[1] @ [0.5, 1.0])
    planes = [V.T @ U @ U.T @ V for U in bases]
    exact = sum(0.5 * ((v @ P @ v) * P + 2 * P @ np.outer(v, v) @ P) for P in planes)
    found = family.hinted((root * v)[None]) * np.outer(root, root)
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


# The moments of two normal coordinates up to the fourth: half of the mass at zero, the rest on a hexagon of radius 2.
ANGLES = np.arange(6) * np.pi / 3
DISC = np.vstack([np.zeros((6, 2)), 2 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])])


@pytest.mark.parametrize("scales", [(1.0, 2.0, 3.0), (2.0, 2.0, 2.0)])
@pytest.mark.parametrize("target", range(3))
def test_the_weight_of_exact_moments_is_exact_whatever_the_variances(target, scales):
    bases = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 8, 2)))[0]
    parts = [np.tile(s * DISC @ U.T, (n, 1)) for s, n, U in zip(scales, (300, 200, 100), bases, strict=True)]
    found = SubspaceSearch(3, dim=2).fit(np.vstack(parts)).search(bases[target] @ [1, 0.3])
    assert found.weight == pytest.approx([1 / 2, 1 / 3, 1 / 6][target], rel=1e-6)
    assert found.variances == pytest.approx(np.full(2, scales[target] ** 2), rel=1e-6)


def test_the_standard_error_of_a_weight_from_fourth_moments_is_its_spread():
    rng, deviations = np.random.default_rng(5), []
    bases = np.linalg.qr(rng.normal(size=(3, 20, 2)))[0]
    for _ in range(30):
        labels = rng.choice(3, size=3000, p=[0.5, 0.3, 0.2])
        inside = rng.normal(size=(3000, 2)) * np.array([1.0, 1.5, 2.0])[labels, None]
        X = np.einsum("ndr,nr->nd", bases[labels], inside) + 0.3 * rng.normal(size=(3000, 20))
        found = SubspaceSearch(3, dim=2).fit(X).search(bases[0] @ [1, 1])
        deviations.append((found.weight - 0.5) / found.stderr.weight)
    assert np.sqrt(np.mean(np.square(deviations))) == pytest.approx(1, abs=0.35)

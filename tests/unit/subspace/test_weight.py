"""Weights from second and fourth moments: on samples with exact moments, and on planted data."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch import SubspaceSearch
from mixsearch.core.rows import DetachedChunks
from mixsearch.subspace import trace_share

# The moments of two normal coordinates up to the fourth: half of the mass at zero, the rest on a hexagon of radius 2.
ANGLES = np.arange(6) * np.pi / 3
DISC = np.vstack([np.zeros((6, 2)), 2 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])])


def exact_samples(scales, times):
    """Make samples with the exact moments of a mixture of planes with these deviations, weighted by repetition."""
    bases = np.linalg.qr(np.random.default_rng(0).normal(size=(len(scales), 8, 2)))[0]
    parts = [np.tile(scale * DISC @ U.T, (n, 1)) for scale, n, U in zip(scales, times, bases, strict=True)]
    return np.vstack(parts), bases


@pytest.mark.parametrize("target", range(3))
def test_the_weight_of_exact_moments_is_exact_whatever_the_variances(target):
    X, bases = exact_samples([1.0, 2.0, 3.0], [300, 200, 100])
    found = SubspaceSearch(3, dim=2).fit(X).search(bases[target] @ [1, 0.3], refine=False)
    assert found.weight == pytest.approx([1 / 2, 1 / 3, 1 / 6][target], rel=1e-6)
    assert found.variances == pytest.approx(np.full(2, [1.0, 4.0, 9.0][target]), rel=1e-6)
    assert found._moment_weight.is_fourth


def test_the_weight_of_equal_variances_is_the_part_of_the_trace():
    X, bases = exact_samples([2.0, 2.0, 2.0], [300, 200, 100])
    search = SubspaceSearch(3, dim=2).fit(X)
    found = search.search(bases[1] @ [1, 0.3])
    assert found.weight == pytest.approx(1 / 3, rel=1e-6)
    assert not found._moment_weight.is_fourth
    assert trace_share(search._family, found._directions) == pytest.approx(1 / 3, rel=1e-6)


def draw(seed, scales, noise=0.3, n=3000):
    rng = np.random.default_rng(seed)
    bases = np.linalg.qr(rng.normal(size=(3, 40, 2)))[0]
    labels = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    inside = np.einsum("ndr,nr->nd", bases[labels], rng.normal(size=(n, 2)) * np.array(scales)[labels, None])
    return inside + noise * rng.normal(size=(n, 40)), bases


def test_the_standard_error_of_a_weight_from_fourth_moments_is_its_spread():
    deviations = []
    for seed in range(40):
        X, bases = draw(seed, (1.0, 1.5, 2.0))
        found = SubspaceSearch(3, dim=2).fit(X).search(bases[0] @ [1, 1])
        assert found._moment_weight.is_fourth
        deviations.append((found.weight - 0.5) / found.stderr.weight)
    assert np.sqrt(np.mean(np.square(deviations))) == pytest.approx(1, abs=0.3)


def test_an_answer_without_its_samples_still_knows_its_weight_and_members():
    X, bases = draw(0, (1.0, 1.0, 1.0))
    found = SubspaceSearch(3, dim=2).fit(X).search(bases[0] @ [1, 1])
    copy = pickle.loads(pickle.dumps(found))
    layout = found._family.chunks.layout
    object.__setattr__(copy._candidates, "family", replace(found._family, chunks=DetachedChunks(layout)))
    assert copy.weight == found.weight
    assert_allclose(copy.membership(X[:50]), found.membership(X[:50]))
    assert pickle.loads(pickle.dumps(copy)).weight == found.weight

"""Points in the plane: planted groups stay together, whatever their number."""

import numpy as np
import pytest

from mixsearch.index.document_map import MAX_LANDMARKS, embed_in_plane


def draw_groups(n, n_groups=6, k=20, noise=0.25, seed=0):
    """Unit vectors around orthogonal directions, and their groups."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    points = np.eye(k)[groups] + noise * rng.normal(size=(n, k)) / np.sqrt(k) * 2
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), groups


@pytest.mark.parametrize("n", [300, MAX_LANDMARKS + 200])
def test_neighbours_in_the_plane_are_of_the_same_group(n):
    units, groups = draw_groups(n)
    points = embed_in_plane(units)
    assert points.shape == (n, 2)
    assert points.min() >= 0
    assert points.max() <= 1
    some = np.arange(0, n, max(n // 200, 1))
    distances = np.linalg.norm(points[some][:, None] - points, axis=2)
    distances[np.arange(len(some)), some] = np.inf
    nearest = np.argsort(distances, axis=1)[:, :5]
    assert np.mean(groups[nearest] == groups[some][:, None]) > 0.95


@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_documents_have_places(n):
    points = embed_in_plane(draw_groups(n)[0])
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()


@pytest.mark.parametrize("units", [np.ones((50, 1)), np.tile([[0.6, 0.8]], (60, 1)), np.zeros((30, 3))])
def test_documents_that_are_all_the_same_have_places(units):
    points = embed_in_plane(units.astype(np.float32))
    assert np.isfinite(points).all()
    assert points.min() >= 0
    assert points.max() <= 1

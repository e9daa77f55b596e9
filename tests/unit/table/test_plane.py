"""Rows in the plane that sets the components of a table apart."""

import numpy as np
import pytest

from mixsearch import SearchError, TableSearch
from mixsearch.table import place_rows


def clouds(n=60, n_features=5, seed=0):
    """Three clouds that differ in two of the columns; the others vary more, and mean nothing."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], n)
    X = rng.normal(size=(3 * n, n_features))
    X[:, :2] = 0.2 * X[:, :2] + np.array([[0, 0], [3, 0], [0, 3]])[labels]
    return X, labels


def test_clouds_are_apart_in_the_plane():
    X, labels = clouds()
    plane = place_rows(TableSearch().fit(X))
    centers = np.array([plane.coordinates[labels == k].mean(axis=0) for k in range(3)])
    spread = max(plane.coordinates[labels == k].std(axis=0).max() for k in range(3))
    distances = [np.linalg.norm(centers[i] - centers[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(distances) > 4 * spread


def test_of_many_rows_some_are_placed_in_order():
    X, _ = clouds(n=400)
    search = TableSearch().fit(X)
    plane = place_rows(search, 100)
    assert len(plane.rows) <= 100
    assert np.all(np.diff(plane.rows) > 0)
    assert plane.coordinates.shape == (len(plane.rows), 2)
    with pytest.raises(SearchError, match="max_rows"):
        place_rows(search, 0)


def test_one_column_makes_a_line():
    plane = place_rows(TableSearch().fit({"x": [1.0, 1.1, 0.9, 9.0, 9.2, 8.9]}))
    assert np.all(plane.coordinates[:, 1] == 0)
    first, second = np.split(plane.coordinates[:, 0], 2)
    assert first.max() < second.min()

"""The rankings of rows that `benchmarks/tables.py` compares with: definitions, planted rows, another implementation."""

import numpy as np
import pytest
from benchmarks.row_rankings import N_STEPS, PEERS, RESTART, neighbor_affinity, random_walk
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mixsearch.datasets import make_gaussian_mixture


def planted(deviation=0.3):
    """Three Gaussians in standardised columns, and five rows of the first."""
    data = make_gaussian_mixture(150, 4, 3, deviation=deviation, random_state=0)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    return Z, data.labels == 0, np.flatnonzero(data.labels == 0)[:5]


@pytest.mark.parametrize("name", PEERS)
def test_every_ranking_finds_a_planted_class(name):
    Z, is_member, rows = planted(deviation=0.1)
    scores = PEERS[name](Z)(rows)
    rest = np.setdiff1d(np.arange(len(Z)), rows)
    assert scores.shape == (len(Z),)
    assert roc_auc_score(is_member[rest], scores[rest]) > 0.95


def test_the_random_walk_counts_visits():
    Z, _, rows = planted()
    affinity = neighbor_affinity(Z).toarray()
    degree = affinity.sum(axis=1)
    step = (1 - RESTART) * affinity / degree[:, None]
    last = np.linalg.matrix_power(step, N_STEPS)
    visits = last + RESTART * np.linalg.solve(np.eye(len(Z)) - step, np.eye(len(Z)) - last)
    assert_allclose(random_walk(Z)(rows), visits[:, rows] @ (1 / np.sqrt(degree[rows])), rtol=1e-6, atol=1e-12)


def test_neighbours_weigh_by_the_distance_of_the_last_one():
    affinity = neighbor_affinity(np.arange(12.0)[:, None]).toarray()
    # The last neighbour of the first row is 10 away, those of the next rows are nearer and make for less.
    assert_allclose(affinity[0, [1, 2, 11]], [np.exp(-0.01), np.exp(-0.04), 0])
    assert_allclose(affinity, affinity.T)
    assert np.all(np.diag(affinity) == 0)

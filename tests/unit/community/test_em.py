"""Belief propagation is exact on trees, and finds what was planted down to the threshold."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.community.em import Links, propagate, sweep
from mixsearch.community.moments import fit_community
from mixsearch.community.refinement import refine_graph
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_communities
from mixsearch.mixture.em import EMOptions

TREE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6), (5, 7)]


def tree(weights):
    rows, columns = np.array(TREE).T
    upper = sp.coo_array((weights, (rows, columns)), shape=(8, 8))
    return sp.csr_array(upper + upper.T)


def test_beliefs_are_exact_on_a_tree():
    affinity, shares = np.array([[2.2, 0.4], [0.4, 1.5]]), np.array([0.3, 0.7])
    links = Links(tree(np.ones(7)))
    posterior, messages = np.full((8, 2), 0.5), np.full((2 * len(TREE), 2), 0.5, dtype=np.float32)
    for _ in range(60):
        posterior, _, _ = sweep(links, np.log(shares), affinity, posterior, messages)
    field = affinity @ (links.strengths @ posterior) / links.strengths.sum()
    exact = np.zeros((8, 2))
    for labels in product(range(2), repeat=8):
        z = np.array(labels)
        mass = np.prod(shares[z] * np.exp(-links.strengths * field[z]))
        mass *= np.prod([affinity[z[i], z[j]] for i, j in TREE])
        exact[np.arange(8), z] += mass
    np.testing.assert_allclose(posterior, exact / exact.sum(axis=1, keepdims=True), atol=1e-4)


def test_moments_lead_to_where_the_truth_does():
    data = make_communities(2000, 3, mean_degree=15, signal=3, random_state=0)
    truth, links = 0.8 * np.eye(3)[data.labels] + 0.2 / 3, Links(data.adjacency)
    family = fit_community(chunk_in_memory(data.adjacency), 3, seed=0)
    rough = refine_graph(family, links, EMOptions(100, 1e-4)).beliefs
    order = [int(np.bincount(data.labels, weights=column, minlength=3).argmax()) for column in rough.posterior.T]
    found = [
        replace(rough, posterior=rough.posterior[:, np.argsort(order)]),
        propagate(links, truth, EMOptions(100, 1e-4)),
    ]
    assert all(each.is_converged for each in found)
    np.testing.assert_allclose(found[0].posterior, found[1].posterior, atol=0.05)
    # Beliefs are as sure as they are right.
    accuracy = np.mean(found[0].posterior.argmax(axis=1) == data.labels)
    assert accuracy > 0.85
    assert found[0].posterior.max(axis=1).mean() == pytest.approx(accuracy, abs=0.03)


def test_nodes_without_links_keep_the_prior():
    adjacency = sp.block_diag([tree(np.ones(7)), sp.csr_array((2, 2))], format="csr")
    found = propagate(Links(sp.csr_array(adjacency)), np.full((10, 2), 0.5), EMOptions(20, 1e-6))
    np.testing.assert_allclose(found.posterior[-2:], 0.5)


def test_assortative_densities_are_the_same_between_all_communities():
    data = make_communities(900, 3, mean_degree=15, signal=6, weights=[0.2, 0.3, 0.5], random_state=0)
    truth = 0.8 * np.eye(3)[data.labels] + 0.2 / 3
    beliefs = propagate(Links(data.adjacency), truth, EMOptions(max_iter=50, tol=1e-3), assortative=True)
    between = beliefs.model.affinity[~np.eye(3, dtype=bool)]
    np.testing.assert_allclose(between, between[0])
    assert np.all(np.diag(beliefs.model.affinity) > between[0])
    assert beliefs.shows_communities
    assert np.mean(np.argmax(beliefs.posterior, axis=1) == data.labels) > 0.95

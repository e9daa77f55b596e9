"""Moments of a block model, compared with their definition: sums over different links of a node."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import raises

from mixsearch.community.moments import fit_community
from mixsearch.core.rows import chunk_in_memory

K = 2


def small_graph(weighted):
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((9, 9)) < 0.6, k=1) * (rng.gamma(2.0, size=(9, 9)) if weighted else 1.0)
    return upper + upper.T


def sums_over_different_links(X, order):
    """Σ fᵢ/tᵢ Σ x_a x_b ... over different links, where tᵢ is the sum over all such and f the weight of the node."""
    d = X.shape[1]
    strengths = X.sum(axis=1)
    total, weight = np.zeros((d,) * order), 0.0
    for x, strength in zip(X, strengths, strict=True):
        triples = sum(x[list(each)].prod() for each in permutations(range(d), 3))
        share = triples / (strength + strengths.mean()) ** 2
        weight += share
        sums = np.zeros_like(total)
        for each in permutations(range(d), order):
            sums[each] = x[list(each)].prod()
        if triples > 0:
            total += share * sums / sums.sum()
    return total / weight


@pytest.mark.parametrize("weighted", [False, True])
def test_the_moments_are_those_of_pairs_and_triples_of_different_links(weighted):
    X = small_graph(weighted)
    family = fit_community(chunk_in_memory(sp.csr_array(X)), K, seed=0)
    W = family.whitener
    mean, second, third = (sums_over_different_links(X, order) for order in (1, 2, 3))
    np.testing.assert_allclose(family.link_mean, mean, atol=1e-12)
    np.testing.assert_allclose(W.T @ second @ W, np.eye(K), atol=1e-8)
    hint = np.array([0.3, -1.2])
    expected = np.einsum("abc,ai,bj,ck,k->ij", third, W, W, W, hint)
    np.testing.assert_allclose(family.hinted(hint).matrix, expected, atol=1e-10)


def test_a_graph_whose_nodes_have_two_links_at_most_says_nothing():
    path = sp.diags_array([np.ones(9), np.ones(9)], offsets=[-1, 1]).tocsr()
    with raises("too_few_links"):
        fit_community(chunk_in_memory(sp.csr_array(path)), 2, seed=0)

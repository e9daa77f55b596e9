import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mixsearch.graph.check import leave_one_out
from mixsearch.graph.pagerank import PageRank, contrast


def make_two_groups(n=40, seed=0):
    rng = np.random.default_rng(seed)
    same = np.equal.outer(np.arange(n) < n // 2, np.arange(n) < n // 2)
    edges = np.triu(rng.random((n, n)) < np.where(same, 0.5, 0.02), 1) * rng.random((n, n))
    return sp.csr_array(edges + edges.T)


def test_pagerank_solves_the_equation_of_the_walk():
    affinity, restart = make_two_groups(), 0.1
    degrees = affinity.sum(axis=1)
    transition = affinity.toarray() / degrees[:, None]
    start = np.eye(40)[3]
    visits = restart * np.linalg.solve(np.eye(40) - (1 - restart) * transition.T, start)
    found = PageRank(affinity, restart).from_nodes(np.array([3, 30]))
    # The symmetric system scales the visits of the walk by the degree of its start.
    assert_allclose(found[:, 0], visits / degrees * np.sqrt(degrees[3]), atol=1e-3 * found.max())


def test_nodes_without_edges_get_nothing_from_others():
    affinity = sp.block_diag([make_two_groups(), np.zeros((2, 2))], format="csr")
    found = PageRank(sp.csr_array(affinity), 0.05).from_nodes(np.array([0]))
    assert np.all(found[-2:] == 0)
    assert np.isfinite(found).all()


def test_negative_examples_lower_scores_and_keep_those_without_them():
    p, n = np.array([0.4, 0.4, 0.0]), np.array([0.0, 0.4, 0.3])
    assert_allclose(contrast(p, n), [0.4, 0.2, 0.0])


def test_left_out_examples_of_one_group_come_first():
    pagerank, examples = PageRank(make_two_groups(), 0.05), np.array([1, 5, 9])
    check = leave_one_out(pagerank.from_nodes(examples), np.zeros(40), examples)
    assert check.ranks.max() <= 17
    assert check.expected_recall(17) >= 3 / 4
    mixed = np.array([1, 5, 30])
    check = leave_one_out(pagerank.from_nodes(mixed), np.zeros(40), mixed)
    assert check.ranks.max() > 10


def test_one_example_has_no_check():
    pagerank = PageRank(make_two_groups(), 0.05)
    assert len(leave_one_out(pagerank.from_nodes(np.array([1])), np.zeros(40), np.array([1])).ranks) == 0

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.unit.graph.planted import make_two_groups

from mixsearch.graph.pagerank import PageRank, contrast


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

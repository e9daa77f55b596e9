"""Links between neighbours of a node: a block model explains them in its own graphs, but not in geometric graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch import CommunitySearch
from mixsearch.community._closure import measure_closure
from mixsearch.community._em import Links, estimate_model
from mixsearch.datasets import make_communities
from mixsearch.errors import collect_warnings

N_ARCS, N_NODES = 6, 600


def circle():
    """Nodes on a circle, each linked to the five next ones and to some anywhere; six arcs of it are the truth."""
    rng = np.random.default_rng(0)
    near = [(i, (i + step) % N_NODES) for i in range(N_NODES) for step in range(1, 6)]
    rows, columns = np.array([*near, *rng.integers(N_NODES, size=(300, 2)).tolist()]).T
    once = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(N_NODES, N_NODES))
    adjacency = sp.csr_array(once.maximum(once.T))
    adjacency.setdiag(0)
    adjacency.eliminate_zeros()
    adjacency.data[:] = 1.0
    return adjacency, np.arange(N_NODES) * N_ARCS // N_NODES


def closure_with_truth(adjacency, labels):
    links, truth = Links(adjacency), np.eye(labels.max() + 1)[labels]
    return measure_closure(links, truth, estimate_model(links, truth))


@pytest.mark.parametrize("options", [{}, {"degree_exponent": 2.7}, {"weights": [0.1, 0.2, 0.7]}])
def test_communities_explain_the_links_of_a_block_model(options):
    data = make_communities(1000, 3, mean_degree=15, signal=4, random_state=0, **options)
    closure = closure_with_truth(data.adjacency, data.labels)
    assert closure.is_explained
    assert closure.ratio == pytest.approx(1, abs=0.3)


def test_communities_do_not_explain_the_links_of_near_nodes():
    assert closure_with_truth(*circle()).ratio > 2


def test_a_graph_without_triangles_closes_nothing():
    star = sp.csr_array(np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], dtype=float))
    assert closure_with_truth(star, np.array([0, 0, 1, 1])).linked == 0
    pairs = sp.csr_array(np.kron(np.eye(3), [[0, 1.0], [1, 0]]))
    assert closure_with_truth(pairs, np.array([0, 0, 1, 1, 1, 1])) == (0, 0)


@pytest.mark.parametrize("refine", [True, False])
def test_another_grouping_than_the_one_meant_is_not_sure(refine):
    adjacency, labels = circle()
    with collect_warnings():
        fitted = CommunitySearch(3).fit(adjacency)
        answers = [
            fitted.search(examples=np.flatnonzero(labels == arc)[40:60:8], refine=refine) for arc in range(N_ARCS)
        ]
    for arc, found in enumerate(answers):
        doubt = next(each for each in found.doubts if each.code == "not_block_model")
        assert "times as often as these communities explain" in str(doubt)
        assert doubt.fields["ratio"] > 2
        # Each of three communities holds two of the six arcs.
        assert np.mean((found.membership > 0.5) == (labels == arc)) < 0.95
        assert found.confidence < 0.95

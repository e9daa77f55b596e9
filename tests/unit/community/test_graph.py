"""Graphs in all accepted forms."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import raises, warns

from mixsearch.community.graph import as_graph, graph_from_links
from mixsearch.errors import GraphWarning, SearchError


def test_links_become_a_symmetric_matrix_with_names_in_their_order():
    graph = graph_from_links(["b", "a", "b", "a"], ["a", "c", "c", "b"], [1.5, 1.0, 0.5, 0.5])
    assert graph.names == ["b", "a", "c"]
    np.testing.assert_allclose(graph.adjacency.toarray(), [[0, 2, 0.5], [2, 0, 1], [0.5, 1, 0]])
    assert (graph.n_nodes, graph.n_links) == (3, 3)
    assert graph.find(["c", "b", "c"]).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("sources", "targets", "code"),
    [
        (["a", "b"], ["b", "a"], "repeated_links"),
        (["a", "a"], ["a", "b"], "self_loops"),
        (["a", None], ["b", "a"], "links_incomplete"),
    ],
)
def test_what_is_changed_is_said(sources, targets, code):
    with pytest.warns(GraphWarning) as caught:
        graph = graph_from_links(sources, targets)
    assert [each.message.code for each in caught] == [code]
    np.testing.assert_allclose(graph.adjacency.toarray(), [[0, 1], [1, 0]])


def test_a_directed_graph_counts_in_both_directions():
    with warns("directed_graph"):
        graph = as_graph(np.array([[0, 3.0, 0], [1, 0, 0], [0, 2, 0]]))
    np.testing.assert_allclose(graph.adjacency.toarray(), [[0, 3, 0], [3, 0, 2], [0, 2, 0]])


@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        (np.ones((2, 3)), "not_square"),
        (np.array([[0, np.nan], [np.nan, 0]]), "weights_not_finite"),
        (np.array([[0, -1.0], [-1, 0]]), "negative_weights"),
        (np.zeros((3, 3)), "no_links"),
    ],
)
def test_a_matrix_of_no_graph_is_refused(matrix, code):
    with pytest.raises(SearchError) as caught:
        as_graph(matrix)
    assert caught.value.code == code


@pytest.mark.parametrize(("names", "code"), [(["a"], "other_length"), (["a", "a"], "repeated_name")])
def test_names_are_checked(names, code):
    with pytest.raises(SearchError) as caught:
        as_graph(np.array([[0, 1], [1, 0]]), names)
    assert caught.value.code == code


def test_an_unknown_node_is_answered_with_its_nearest():
    graph = graph_from_links(["alice", "bob"], ["bob", "carol"])
    with raises("unknown_node", node="alise", nearest="alice"):
        graph.find("alise")
    numbered = as_graph(graph.adjacency)
    for wrong in (3, -1, "alice"):
        with raises("unknown_node", last=2):
            numbered.find(wrong)
    with raises("no_nodes_named"):
        graph.find([])


class LikeIgraph:
    """The part of `igraph.Graph` that is used."""

    class vs(dict):
        attributes = classmethod(lambda cls: ["name"])

        def __class_getitem__(cls, name):
            return ["x", "y"]

    class es:
        attributes = staticmethod(lambda: [])

    def get_adjacency_sparse(self, weight):
        assert weight is None
        return sp.csr_matrix(np.array([[0, 1], [1, 0]]))


def test_objects_of_graph_packages_bring_their_names():
    assert as_graph(LikeIgraph()).names == ["x", "y"]
    networkx = pytest.importorskip("networkx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = as_graph(networkx.Graph([("x", "y"), ("y", "z")]))
        numbered = as_graph(networkx.path_graph(3))
    assert (named.names, numbered.names) == (["x", "y", "z"], None)

"""Graphs as users have them become the same symmetric matrix, or an error says what is wrong with them."""

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from tests.coded import raises, warns

from mixsearch.graph.links import read_graph

LINKS = [("ann", "bob", 2.0), ("bob", "cid", 1.0), ("cid", "ann", 1.0), ("cid", "dan", 3.0)]
MATRIX = np.array([[0, 2, 1, 0], [2, 0, 1, 0], [1, 1, 0, 3], [0, 0, 3, 0.0]])


def as_networkx():
    graph = networkx.Graph()
    graph.add_weighted_edges_from(LINKS)
    return graph


@pytest.mark.parametrize(
    "source",
    [
        MATRIX,
        MATRIX.tolist(),
        sp.csc_array(MATRIX),
        sp.coo_matrix(np.triu(MATRIX)),
        pl.DataFrame(LINKS, schema=["from", "to", "n"], orient="row"),
        pd.DataFrame(LINKS),
        as_networkx(),
    ],
    ids=["array", "list", "csc", "one direction", "polars", "pandas", "networkx"],
)
def test_every_kind_of_graph_is_read(source):
    names = ["ann", "bob", "cid", "dan"]
    graph = read_graph(source)
    if not hasattr(source, "columns") and not hasattr(source, "nodes"):
        names = [0, 1, 2, 3]
    order = [graph.names.index(name) for name in names]
    np.testing.assert_array_equal(graph.adjacency.toarray()[order][:, order], MATRIX)
    np.testing.assert_array_equal(graph.find([names[3], names[0], names[3]]), [order[3], order[0]])


def test_repeated_links_count_once_unless_they_have_weights():
    twice = pl.DataFrame({"a": ["x", "y", "x"], "b": ["y", "x", "z"]})
    assert read_graph(twice).adjacency.toarray().max() == 1
    weighted = read_graph(twice.with_columns(n=pl.Series([1.0, 2.0, 5.0])))
    np.testing.assert_array_equal(weighted.adjacency.toarray(), [[0, 3, 5], [3, 0, 0], [5, 0, 0]])


def test_a_node_without_links_stays():
    graph = as_networkx()
    graph.add_node("eve")
    assert read_graph(graph).adjacency.shape == (5, 5)


def test_what_is_left_out_is_said():
    with warns("self_loops"):
        graph = read_graph(np.ones((3, 3)))
    assert graph.adjacency.diagonal().sum() == 0
    with warns("links_incomplete") as caught:
        graph = read_graph(pl.DataFrame({"a": ["x", None, "z"], "b": ["y", "x", ""]}))
    assert caught[0].message.fields["n"] == 2
    assert list(graph.names) == ["x", "y"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (np.ones((2, 3)), "not_a_graph"),
        ("edges.csv", "not_a_graph"),
        ([], "not_a_graph"),
        (pl.DataFrame({"a": ["x"]}), "not_a_graph"),
        (np.zeros((3, 3)), "no_links"),
        (np.zeros((0, 0)), "no_links"),
        (pl.DataFrame({"a": [], "b": []}), "no_links"),
        (networkx.Graph(), "no_links"),
        (np.array([[0, -1.0], [-1, 0]]), "weights_not_positive"),
        (np.array([[0, np.nan], [1, 0]]), "weights_not_positive"),
        (pl.DataFrame({"a": ["x"], "b": ["y"], "n": ["many"]}), "not_numbers"),
    ],
)
def test_a_wrong_graph_has_a_code(source, code):
    with raises(code):
        read_graph(source)


def test_unknown_names_are_answered_with_the_nearest():
    with raises("unknown_node", node="anne", nearest="ann"):
        read_graph(as_networkx()).find(["anne"])
    for node in (4, -1, 2.5, None, [1]):
        with raises("unknown_node"):
            read_graph(MATRIX).find([node])

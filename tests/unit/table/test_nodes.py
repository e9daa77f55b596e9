import numpy as np
import pytest

from mixsearch.data.partitions import Layout, LocalPartitions
from mixsearch.table import _nodes
from mixsearch.table._nodes import PlacedRows, choose_nodes, find_nearest


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.dirichlet(np.ones(4), size=n)


def choose(X, resp, max_nodes):
    rows = LocalPartitions(Layout(*X.shape, X.dtype, False), PlacedRows(0, X, X, resp))
    return choose_nodes(rows, max_nodes)[0]


def test_few_rows_are_all_nodes():
    X, resp = draw()
    nodes = choose(X, resp, 200)
    assert nodes.rows.tolist() == list(range(200))
    assert nodes.of_row.tolist() == list(range(200))
    assert (nodes.sizes == 1).all()


@pytest.mark.parametrize("max_nodes", [2, 30, 67, 199])
def test_other_rows_have_the_nearest_node_of_their_component(max_nodes, monkeypatch):
    monkeypatch.setattr(_nodes, "CHUNK_ROWS", 16)
    X, resp = draw()
    nodes = choose(X, resp, max_nodes)
    assert len(nodes.rows) <= max_nodes
    assert nodes.sizes.sum() == 200
    assert len(nodes.of_row) == 200
    component = resp.argmax(axis=1)
    for row, found in enumerate(nodes.of_row):
        own = [node for node in nodes.rows if component[node] == component[row]] or nodes.rows.tolist()
        expected = row if row in nodes.rows else min(own, key=lambda node: np.linalg.norm(X[node] - X[row]))
        assert nodes.rows[found] == expected


def test_components_far_out_have_their_nearest_node_too():
    X, resp = draw()
    resp = np.eye(4)[resp.argmax(axis=1)]
    far = X + 1e4 * resp[:, :3]
    expected, found = (find_nearest(rows, resp, rows[::3], resp[::3]) for rows in (X, far))
    assert found.tolist() == expected.tolist()


def test_a_component_without_nodes_has_the_nearest_of_all():
    X, nodes = np.array([[0.9], [0.1]]), np.array([[0.0], [1.0]])
    assert find_nearest(X, np.array([[0.0, 1.0]] * 2), nodes, np.array([[1.0, 0.0]] * 2)).tolist() == [1, 0]


def test_copies_of_a_row_are_one_node():
    X, resp = draw(n=20)
    copies = np.random.default_rng(1).integers(20, size=500)
    nodes = choose(X[copies], resp[copies], 1000)
    assert len(nodes.rows) == len(np.unique(copies))
    assert nodes.rows.tolist() == sorted(nodes.rows)
    assert (copies[nodes.rows[nodes.of_row]] == copies).all()
    assert sorted(nodes.sizes) == sorted(np.unique(copies, return_counts=True)[1])
    assert nodes.copies.tolist() == nodes.sizes.tolist()


def test_there_are_two_nodes_though_the_rows_chosen_are_equal():
    X = np.zeros((50, 2))
    X[13] = 1
    nodes = choose(X, np.ones((50, 1)), 5)
    assert 13 in nodes.rows
    assert sorted(nodes.sizes) == [1, 49]

"""The graph of a table: rows drawn as nodes, edges between neighbours, walks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mixsearch import TableSearch
from mixsearch.core.rows import Chunks, Layout
from mixsearch.graph.walk import STAY
from mixsearch.table import fit as _fit
from mixsearch.table import graph as _graph
from mixsearch.table.graph import N_NEIGHBOURS, PlacedRows, build_graph, choose_nodes, find_nearest
from mixsearch.table.rows import draw_uniform, spread_rows


def make_graph(X, labels=None):
    labels = np.zeros(len(X), dtype=int) if labels is None else labels
    return build_graph(X, X, np.eye(labels.max() + 1)[labels], np.ones(len(X)))


def two_blobs(distance=50.0, n=40, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, 3)) + distance * labels[:, None], labels


def dense_visits(walk, starts):
    """Solve (I - sG)h = (1 - s)a, and divide by the root of the degrees."""
    system = np.eye(len(walk.scale)) - STAY * walk.graph.toarray()
    return np.linalg.solve(system, (1 - STAY) * starts) * walk.scale[:, None]


def test_visits_solve_the_equations_of_the_walk():
    X, labels = two_blobs(distance=2.0)
    walk = make_graph(X, labels).with_examples(5)
    starts = np.eye(len(X))[:, [0, 7, 60]]
    expected = dense_visits(walk, starts)
    assert_allclose(walk.visits(starts), expected, atol=2e-3 * expected.max())


def test_edges_are_symmetric_and_join_the_nearest_rows():
    X, _ = two_blobs(distance=1.0)
    edges = make_graph(X).edges.toarray()
    assert_allclose(edges, edges.T)
    assert not np.diag(edges).any()
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    nearest = np.argsort(distances, axis=1)[:, 1 : N_NEIGHBOURS + 1]
    expected = np.zeros(edges.shape, dtype=bool)
    expected[np.arange(len(X))[:, None], nearest] = True
    assert np.array_equal(edges > 0, expected | expected.T)
    # Relative to the distance of the tenth neighbour, seen from the end for which the other is nearer.
    relative = distances / np.sort(distances, axis=1)[:, [N_NEIGHBOURS]]
    weights = np.where(expected, np.exp(-(relative**2)), 0)
    assert_allclose(edges, np.maximum(weights, weights.T))


def test_the_walk_is_scaled_by_its_degrees():
    X, labels = two_blobs(distance=2.0)
    graph = make_graph(X, labels)
    walk = graph.with_examples(2)
    weights = walk.graph.toarray() / np.outer(walk.scale, walk.scale)
    assert_allclose(weights, weights.T)
    assert_allclose(weights.sum(axis=1), walk.scale**-2.0)
    kept = graph.kept_between + 2 / (2 + _graph.EXAMPLES_FOR_EDGES)
    same = labels[:, None] == labels
    assert_allclose(weights, graph.edges.toarray() * (same + kept))


def test_edges_between_components_count_less_if_components_are_clusters():
    X, labels = two_blobs(distance=2.5)
    assert make_graph(X, labels).kept_between < 0.1
    shuffled = np.random.default_rng(0).permutation(labels)
    assert make_graph(X, shuffled).kept_between > 1


def test_whitening_counts_if_it_brings_neighbours_of_a_component_together():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 60)
    # Two parallel stripes: long in one direction, so that neighbours are often of the other one.
    whitened = rng.normal(size=(120, 2)) + np.outer(labels, [0, 6.0])
    X = whitened * [30, 1]
    resp = np.eye(2)[labels]
    same = build_graph(X, whitened, resp, np.ones(120)).edges.toarray()[labels == 0][:, labels == 0]
    alone = build_graph(X, X, resp, np.ones(120)).edges.toarray()[labels == 0][:, labels == 0]
    assert same.sum() > 1.5 * alone.sum()


def test_copies_of_a_row_are_its_neighbours():
    X, labels = two_blobs(distance=1.0)
    copies = np.ones(len(X))
    copies[[3, 5]] = 4, 100
    resp = np.eye(2)[labels]
    graph, plain = build_graph(X, X, resp, copies), build_graph(X, X, resp, np.ones(len(X)))
    loops = np.zeros(len(X))
    loops[[3, 5]] = 3, N_NEIGHBOURS
    assert_allclose(graph.edges.toarray(), plain.edges.toarray() + np.diag(loops))
    assert graph.kept_between < plain.kept_between
    walk = graph.with_examples(1)
    starts = np.eye(len(X))[:, [3, 5]]
    expected = dense_visits(walk, starts)
    assert_allclose(walk.visits(starts), expected, atol=2e-3 * expected.max())


def draw(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.dirichlet(np.ones(4), size=n)


def choose(X, resp, max_nodes):
    rows = Chunks(Layout(*X.shape, X.dtype, False), (PlacedRows(0, X, X, resp),))
    return choose_nodes(rows, max_nodes)[0]


@pytest.mark.parametrize("max_nodes", [2, 67])
def test_other_rows_have_the_nearest_node_of_their_component(max_nodes, monkeypatch):
    monkeypatch.setattr(_graph, "CHUNK_ROWS", 16)
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


def test_positions_are_drawn_evenly_and_by_themselves():
    whole = draw_uniform(0, 100_000)
    assert_array_equal(np.concatenate([draw_uniform(0, 7), draw_uniform(7, 99_993)]), whole)
    assert_allclose(np.histogram(whole, 10, (0, 1))[0], 10_000, rtol=0.05)
    assert abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize(("n", "max_rows"), [(10, 10), (1000, 30), (5, 1)])
def test_one_row_of_each_run_is_drawn(n, max_rows):
    rows, step = spread_rows(n, max_rows), -(-n // max_rows)
    assert_array_equal(rows // step, np.arange(-(-n // step)))
    assert len(rows) <= max_rows
    assert rows.max() < n


def test_groups_that_take_turns_all_have_nodes(monkeypatch):
    """With every sixth row as a node, two of three groups that take turns would have none."""
    for name in ("MAX_NODES", "N_NODES", "MAX_MIXTURE_ROWS"):
        monkeypatch.setattr(_fit, name, 100)
    group = np.arange(600) % 3
    X = 8 * np.eye(3)[group] + np.random.default_rng(0).normal(size=(600, 3))
    search = TableSearch().fit(X)
    for asked in range(3):
        called = search.search(like=np.flatnonzero(group == asked)[:3]).predict()
        assert_allclose([called[group == each].mean() for each in range(3)], np.eye(3)[asked], atol=0.1)

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch.core.walk import STAY
from mixsearch.table import _graph
from mixsearch.table._graph import N_NEIGHBOURS, build_graph


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


@pytest.mark.parametrize("n_examples", [1, 5, 1000])
def test_visits_solve_the_equations_of_the_walk(n_examples):
    X, labels = two_blobs(distance=2.0)
    walk = make_graph(X, labels).with_examples(n_examples)
    starts = np.eye(len(X))[:, [0, 7, 60]]
    expected = dense_visits(walk, starts)
    assert_allclose(walk.visits(starts), expected, atol=2e-3 * expected.max())


def test_visits_from_several_starts_add_up():
    X, labels = two_blobs(distance=2.0)
    walk = make_graph(X, labels).with_examples(3)
    alone = np.eye(len(X))[:, [0, 7, 60]]
    together = walk.visits(alone.sum(axis=1, keepdims=True))[:, 0]
    assert_allclose(walk.visits(alone).sum(axis=1), together, atol=2e-3 * together.max())


def test_no_start_gives_no_visit():
    X, _ = two_blobs()
    assert not make_graph(X).with_examples(1).visits(np.zeros((len(X), 2))).any()


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


def test_a_walk_stays_in_its_part_of_a_disconnected_graph():
    X, labels = two_blobs()
    visits = make_graph(X, labels).with_examples(1).visits(np.eye(len(X))[:, [3]])[:, 0]
    assert (visits[labels == 0] > 0).all()
    assert not visits[labels == 1].any()


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


@pytest.mark.parametrize("n", [2, 3, 30])
def test_equal_rows_have_a_graph(n):
    graph = make_graph(np.zeros((n, 2)))
    visits = graph.with_examples(1).visits(np.eye(n)[:, [0]])
    assert np.isfinite(visits).all()
    assert graph.edges.nnz > 0


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

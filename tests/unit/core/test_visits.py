import numpy as np
from numpy.testing import assert_allclose

from mixsearch.core import walk as walk_module
from mixsearch.core.walk import Visits, score_nodes, start_at
from mixsearch.table._graph import build_graph


def make_walk(seed=0, n=60):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return build_graph(X, X, np.ones((n, 1)), np.ones(n)).with_examples(4)


def walk_from(walk, node):
    return walk.visits(np.eye(len(walk.scale))[:, [node]])[:, 0]


def visit(walk, nodes, nodes_not):
    return Visits.of(walk, *(start_at(each, len(walk.scale)) for each in (nodes, nodes_not)))


def test_visits_are_the_sum_over_examples():
    walk, nodes = make_walk(), np.array([3, 8, 8, 20])
    visits = visit(walk, nodes, np.array([50, 51]))
    each = np.column_stack([walk_from(walk, node) for node in nodes])
    atol = 2e-3 * each.max()
    assert_allclose(visits.alone, each, atol=atol)
    assert_allclose(visits.total, each.sum(axis=1), atol=atol)
    assert_allclose(visits.no_members, (walk_from(walk, 50) + walk_from(walk, 51)) / 4, atol=atol)
    without_first = score_nodes(each[:, 1:].mean(axis=1), visits.no_members)
    assert_allclose(visits.left_out()[:, 0], without_first, atol=atol)


def test_only_some_of_many_examples_are_left_out_in_turn(monkeypatch):
    walk, nodes = make_walk(), np.arange(0, 60, 3)
    full = visit(walk, nodes, np.array([1]))
    monkeypatch.setattr(walk_module, "MAX_TESTED", 5)
    few = visit(walk, nodes, np.array([1]))
    assert few.alone.shape == (60, 5)
    assert few.n_examples == 20
    atol = 2e-3 * full.total.max()
    assert_allclose(few.scores(), full.scores(), atol=atol)
    assert_allclose(few.left_out(), full.left_out()[:, few.tested], atol=atol)


def test_visits_from_no_members_lower_the_score():
    score = score_nodes(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 1.0, 3.0, 0.0]))
    assert_allclose(score, [1, 1 / 2, 1 / 4, 0])

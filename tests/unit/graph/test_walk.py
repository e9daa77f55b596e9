import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from mixsearch.graph import walk as walk_module
from mixsearch.graph.walk import (
    CutFacts,
    Visits,
    Walk,
    count_interval,
    find_cut,
    find_members,
    membership_by_rank,
    score_nodes,
    start_at,
    sweep_conductance,
)
from mixsearch.table.graph import NeighbourGraph, build_graph


def walk_of(weights):
    edges = sp.csr_array(weights)
    return NeighbourGraph(edges, np.ones(edges.nnz), 0.0).with_examples(0)


def conductance(weights, members):
    inside = np.isin(np.arange(len(weights)), members)
    cut = weights[inside][:, ~inside].sum()
    return cut / min(weights[inside].sum(), weights[~inside].sum())


def test_conductance_is_that_of_every_beginning_of_an_order():
    rng = np.random.default_rng(0)
    weights = rng.random((9, 9)) * (rng.random((9, 9)) < 0.6)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    order = rng.permutation(9)
    found = sweep_conductance(walk_of(weights), order)
    expected = [conductance(weights, order[: size + 1]) for size in range(8)]
    assert_allclose(found[:-1], expected, atol=1e-12)


def test_membership_falls_with_the_rank_and_is_a_probability():
    for n_examples in (1, 3, 30):
        for cut in (0.0, 0.01, 0.3, 1.0):
            membership = membership_by_rank(np.geomspace(0.5, 2, 20), CutFacts(n_examples, cut, 0.5))
            assert (np.diff(membership) < 0).all()
            assert (membership > 0).all()
            assert (membership < 1).all()


def test_an_interval_contains_its_number_and_narrows_with_examples_and_clean_cuts():
    widths = []
    for facts in (CutFacts(1, 0.5, 0.5), CutFacts(1, 0.05, 0.5), CutFacts(5, 0.05, 0.5), CutFacts(10, 0.05, 0.5)):
        low, high = count_interval(100.0, facts)
        assert low <= 100 <= high
        widths.append(high / low)
    assert (np.diff(widths) < 0).all()
    # Where no labelled table was searched, the interval stays as it is.
    assert count_interval(100.0, CutFacts(10_000, 0.05, 0.5)) == (low, high)


NO_RANKS = np.empty(0)


def test_the_number_of_members_is_that_of_a_clean_cut_nearby():
    counts, conductances = np.arange(1.0, 401.0), np.ones(399)
    conductances[[21, 23]] = np.inf, 0.1
    assert find_cut(20.0, NO_RANKS, counts, conductances) == (24.0, 0.1)
    conductances[23] = np.inf
    conductances[299] = 0.1
    assert find_cut(20.0, NO_RANKS, counts, conductances) == (20.0, 1.0)


def test_ranks_of_left_out_examples_say_how_many_members_there_are():
    """They are even among 100 members; the mixture expects twice as many, and every cut is as clean."""
    counts, conductances = np.arange(1.0, 1001.0), np.full(999, 0.5)
    alone, _ = find_cut(200.0, NO_RANKS, counts, conductances)
    many, _ = find_cut(200.0, np.arange(2.0, 100.0, 5.0), counts, conductances)
    assert alone == 200
    assert many == pytest.approx(100, rel=0.25)


@pytest.mark.parametrize("expected", [55.0, 95.0, 1000.0])
def test_rows_that_no_walk_visits_are_not_counted_as_members(expected):
    assert search([3], expected=expected)[0].n == 50


def blobs(n=50, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], n)
    X = rng.normal(size=(3 * n, 2)) + np.array([[0, 0], [30, 0], [0, 30]])[labels]
    return X, labels


def search(nodes, expected, nodes_not=(), sizes=None):
    X, labels = blobs()
    walk: Walk = build_graph(X, X, np.eye(3)[labels], np.ones(len(X))).with_examples(len(nodes))
    starts = (start_at(np.array(each, dtype=int), len(walk.scale)) for each in (nodes, nodes_not))
    visits = Visits.of(walk, *starts)
    sizes = np.ones(len(X)) if sizes is None else sizes
    return find_members(walk, visits, np.array(nodes), sizes, expected), visits, labels


@pytest.mark.parametrize("nodes", [[3], [3, 30], [1, 10, 20, 40]])
def test_the_members_are_the_part_of_the_graph(nodes):
    found, visits, labels = search(nodes, expected=40.0)
    assert found.n == 50
    assert found.facts.conductance == pytest.approx(0, abs=1e-9)
    assert found.membership[labels == 0].min() > found.membership[labels != 0].max()
    order = np.argsort(-visits.scores(), kind="stable")
    assert (np.diff(found.membership[order]) <= 1e-15).all()


def test_a_node_counts_as_many_rows_as_it_stands_for():
    sizes = np.full(150, 4.0)
    found, _, labels = search([1, 10, 20, 40], expected=200.0, sizes=sizes)
    assert found.n == 200
    assert found.membership[labels == 0].min() > found.membership[labels != 0].max()


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

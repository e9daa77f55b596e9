"""Whether links follow the block model, and members by a random walk if they do not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.neighbors import kneighbors_graph

from mixsearch import CommunitySearch
from mixsearch.community.em import Links, estimate_model
from mixsearch.community.refinement import communities_meant, measure_closure, walk_agreement, walk_membership
from mixsearch.datasets import make_communities
from mixsearch.errors import collect_warnings
from mixsearch.graph.walk import Walk

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


@pytest.mark.parametrize("options", [{}, {"degree_exponent": 2.7, "weights": [0.1, 0.2, 0.7]}])
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


N_GROUPS, N_EACH = 6, 80


def near_points():
    """Ten nearest neighbours among points of six groups on a circle, each a long cloud with places of its own."""
    rng = np.random.default_rng(0)
    angles = np.repeat(2 * np.pi * np.arange(N_GROUPS) / N_GROUPS, N_EACH)
    points = 4 * np.column_stack([np.cos(angles), np.sin(angles)]) + rng.normal(size=(len(angles), 2)) * [1, 0.6]
    near = kneighbors_graph(points, 10)
    return sp.csr_array(near.maximum(near.T)), np.repeat(np.arange(N_GROUPS), N_EACH)


@pytest.fixture(scope="module")
def cliques():
    """Two cliques of six nodes with one link between them, and a node without links."""
    links = np.zeros((13, 13))
    links[:6, :6] = links[6:12, 6:12] = 1 - np.eye(6)
    links[5, 6] = links[6, 5] = 1
    adjacency = sp.csr_array(links)
    return Walk.on(adjacency, adjacency.data), links.sum(axis=1)


def test_a_walk_finds_as_many_members_as_the_community_has(cliques):
    walk, strengths = cliques
    community = (np.arange(13) < 6).astype(float)
    membership = walk_membership(walk, strengths, np.array([1]), community)
    np.testing.assert_allclose(walk_membership(walk, strengths, np.array([1, 12]), community), membership)
    np.testing.assert_array_equal(membership > 0.5, np.arange(13) < 6)
    assert np.all((membership >= 0) & (membership <= 1))
    assert membership[12] < 0.01


def test_a_walk_agrees_with_the_part_of_the_graph_that_it_cannot_leave():
    adjacency = sp.csr_array(np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6)))
    walk, starts = Walk.on(adjacency, adjacency.data), np.eye(12)[2]
    assert walk_agreement(walk, starts, (np.arange(12) < 6).astype(float)) == 1
    assert walk_agreement(walk, starts, (np.arange(12) >= 6).astype(float)) == 0
    assert walk_agreement(walk, starts, np.zeros(12)) == 0


@pytest.mark.parametrize(
    ("named", "expected"),
    [([0, 1], [True, False, False]), ([0, 1, 2, 3], [True, True, False]), ([4], [True, False, False])],
)
def test_named_nodes_say_which_communities_go_together(named, expected):
    posterior = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0.55, 0.45, 0]], dtype=float)
    np.testing.assert_array_equal(communities_meant(posterior, np.array(named), 0), expected)


def test_groups_of_near_points_are_counted_and_found_but_never_sure():
    adjacency, labels = near_points()
    with collect_warnings():
        fitted = CommunitySearch().fit(adjacency)
        answers = [fitted.search(examples=np.flatnonzero(labels == group)[5:65:20]) for group in range(N_GROUPS)]
    # Every eigenvalue beyond the threshold is a place; there are several in each group.
    assert N_GROUPS <= fitted.n_components_ <= 3 * N_GROUPS
    assert fitted.spectrum_.n_components > fitted.n_components_
    scores = [f1_score(labels == group, found.membership > 0.5) for group, found in enumerate(answers)]
    assert np.mean(scores) > 0.75
    for found in answers:
        assert "not_block_model" in [warning.code for warning in found.warnings]
        assert found.confidence <= 0.9
        assert found.weight == pytest.approx(found.membership.mean())
        low, high = found.n_members_interval
        assert low <= found.n_members <= high


def test_small_cliques_in_a_ring_are_counted_without_an_error():
    n_cliques = 3
    n = 4 * n_cliques
    links = np.kron(np.eye(n_cliques), np.ones((4, 4))) - np.eye(n)
    for first in range(3, n, 4):
        links[first, (first + 1) % n] = links[(first + 1) % n, first] = 1
    with collect_warnings():
        fitted = CommunitySearch().fit(links)
        found = fitted.search(examples=[0, 1])
    assert 1 <= fitted.n_components_ <= n_cliques
    assert np.isfinite(found.membership).all()
    assert found.confidence <= 0.9


def test_many_groups_of_near_points_are_counted_by_their_links():
    """More than half of the rough communities that are tried first, each with communities of its own within it."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1600, 8)) + np.repeat(4 * rng.normal(size=(20, 8)), 80, axis=0)
    near = kneighbors_graph(points, 10)
    with collect_warnings():
        fitted = CommunitySearch().fit(sp.csr_array(near.maximum(near.T)))
    assert 15 <= fitted.n_components_ <= 25

"""Members by PageRank: the graph of neighbours, the walk, left-out examples, and membership as a probability."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from mixsearch import Check
from mixsearch.graph.affinity import connect_neighbors, select_mixture, weigh_by_component
from mixsearch.graph.members import estimate_membership, find_members, leave_one_out, rank_scores
from mixsearch.graph.pagerank import PageRank, contrast

NONE = np.empty(0, dtype=np.intp)


def make_two_groups(n=40, seed=0):
    """Draw a graph of two groups of the same size."""
    rng = np.random.default_rng(seed)
    same = np.equal.outer(np.arange(n) < n // 2, np.arange(n) < n // 2)
    edges = np.triu(rng.random((n, n)) < np.where(same, 0.5, 0.02), 1) * rng.random((n, n))
    return sp.csr_array(edges + edges.T)


def test_left_out_examples_of_one_group_come_first():
    pagerank, examples = PageRank(make_two_groups(), 0.05), np.array([1, 5, 9])
    check = leave_one_out(pagerank.from_nodes(examples), np.zeros(40), examples)
    assert check.ranks.max() <= 17
    assert check.expected_recall(17) >= 3 / 4
    mixed = np.array([1, 5, 30])
    check = leave_one_out(pagerank.from_nodes(mixed), np.zeros(40), mixed)
    assert check.ranks.max() > 10


def test_examples_that_nothing_reaches_rank_in_the_middle_of_such_rows():
    check = leave_one_out(np.zeros((101, 3)), np.zeros(101), np.array([0, 1, 2]))
    assert_allclose(check.ranks, 50, atol=1)


def test_nodes_count_as_often_as_they_have_rows():
    scores, sizes = np.array([0.5, 0.9, 0.5, 0.0]), np.array([2, 1, 3, 4])
    repeated = np.repeat(np.arange(4), sizes)
    assert_allclose(rank_scores(scores, sizes)[repeated], rank_scores(scores[repeated]))


def draw_scores(rng, n_members, n=1000, overlap=0.0):
    """Scores of members and of other rows, a fraction of which have those of members."""
    is_member = np.arange(n) < n_members
    looks_like_one = is_member | (rng.random(n) < overlap)
    return is_member, np.where(looks_like_one, rng.uniform(0.7, 1, n), rng.uniform(0, 0.2, n))


def check_examples(rng, is_member, scores, n_examples):
    ranks = rank_scores(scores)[rng.choice(np.flatnonzero(is_member), n_examples, replace=False)]
    return Check(np.sort(np.ceil(ranks)).astype(int), len(scores))


@pytest.mark.parametrize("n_examples", [3, 5, 10])
@pytest.mark.parametrize("n_members", [50, 200, 400])
def test_membership_counts_the_members_that_stand_apart(n_members, n_examples):
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(50):
        is_member, scores = draw_scores(rng, n_members)
        membership = estimate_membership(scores, check_examples(rng, is_member, scores, n_examples), np.ones(1000))
        ratios.append(membership.sum() / n_members)
    assert 0.8 < np.median(ratios) < 1.25
    assert np.mean((np.array(ratios) > 0.5) & (np.array(ratios) < 2)) >= 0.9


def test_scores_that_say_nothing_make_nobody_a_likely_member():
    rng, is_member = np.random.default_rng(0), np.arange(1000) < 300
    highest = []
    for _ in range(50):
        scores = rng.random(1000)
        check = check_examples(rng, is_member, scores, 10)
        highest.append(estimate_membership(scores, check, np.ones(1000)).max())
    assert np.median(highest) < 0.4


@pytest.mark.parametrize("n_examples", [3, 5, 10])
def test_the_check_expects_the_recall_of_membership(n_examples):
    rng, n = np.random.default_rng(0), 200
    pagerank, sizes = PageRank(make_two_groups(n), 0.02), rng.integers(1, 3, n)
    for _ in range(20):
        examples = rng.choice(n // 2, n_examples, replace=False)
        members = find_members(pagerank, examples, np.array([150]), sizes)
        is_other = ~np.isin(np.arange(n), [*examples, 150])
        membership = np.sort(np.repeat(members.membership[is_other], sizes[is_other]))[::-1]
        n_read = members.check.n_to_read()
        recall = members.check.expected_recall(n_read)
        assert recall >= 0.8
        assert_allclose(recall, membership[:n_read].sum() / membership.sum(), atol=0.02)
        assert recall * membership.sum() <= n_read + 1e-9


def test_membership_is_monotone_in_the_score_and_known_for_examples():
    pagerank = PageRank(make_two_groups(), 0.05)
    for positive, negative in (([1, 5, 9], []), ([1, 5, 9, 30], [25, 2]), ([3], [30])):
        members = find_members(pagerank, np.array(positive), np.array(negative, dtype=np.intp))
        order = np.argsort(members.scores, kind="stable")
        assert np.all(np.diff(members.membership[order]) >= 0)
        assert_allclose(members.membership[positive], 1)
        assert_allclose(members.membership[negative], 0)
        assert members.is_probability == (len(positive) >= 3)


def test_examples_of_two_groups_are_told_apart():
    pagerank = PageRank(make_two_groups(100), 0.02)
    for examples, apart in (([1, 5, 9, 70, 80], [3, 4]), ([1, 70, 75, 80, 9], [0, 4]), ([1, 5, 9, 20, 40], [])):
        assert find_members(pagerank, np.array(examples), NONE).apart.tolist() == apart


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


def test_weights_of_neighbours_fall_with_the_distance_to_the_last_one():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    affinity = connect_neighbors(X, 2).toarray()
    assert_allclose(affinity, affinity.T)
    assert_allclose(affinity[0, 2], np.exp(-1))  # the last neighbour of both
    assert_allclose(affinity[0, 1], np.exp(-1 / 9))  # from the first row; from the second it is 1 of 2
    assert affinity[0, 3] == 0


def test_edges_between_components_count_less():
    X = np.array([[0.0], [1.0], [2.0]])
    edges = connect_neighbors(X, 2)
    resp = np.array([[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]])
    weighed = weigh_by_component(edges, resp, 0.1).toarray()
    assert_allclose(weighed, edges.toarray() * (0.1 + resp @ resp.T))


def test_mixture_has_the_components_of_the_rows():
    X, label = make_blobs(400, 4, centers=3, random_state=0)
    mixture = select_mixture(X)
    assert mixture.n_components == 3
    assert adjusted_rand_score(label, mixture.predict(X)) > 0.98

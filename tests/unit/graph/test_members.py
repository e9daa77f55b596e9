import numpy as np
from numpy.testing import assert_allclose
from tests.unit.graph.planted import make_two_groups

from mixsearch import Check
from mixsearch.graph.members import estimate_membership, find_members, leave_one_out, rank_scores
from mixsearch.graph.pagerank import PageRank

NONE = np.empty(0, dtype=np.intp)


def test_left_out_examples_of_one_group_come_first():
    pagerank, examples = PageRank(make_two_groups(), 0.05), np.array([1, 5, 9])
    check = leave_one_out(pagerank.from_nodes(examples), np.zeros(40), examples)
    assert check.ranks.max() <= 17
    assert check.expected_recall(17) >= 3 / 4
    mixed = np.array([1, 5, 30])
    check = leave_one_out(pagerank.from_nodes(mixed), np.zeros(40), mixed)
    assert check.ranks.max() > 10


def test_one_example_has_no_check():
    pagerank = PageRank(make_two_groups(), 0.05)
    assert len(leave_one_out(pagerank.from_nodes(np.array([1])), np.zeros(40), np.array([1])).ranks) == 0


def test_examples_that_nothing_reaches_rank_in_the_middle_of_such_rows():
    check = leave_one_out(np.zeros((101, 3)), np.zeros(101), np.array([0, 1, 2]))
    assert_allclose(check.ranks, 50, atol=1)


def test_nodes_count_as_often_as_they_have_rows():
    scores, sizes = np.array([0.5, 0.9, 0.5, 0.0]), np.array([2, 1, 3, 4])
    repeated = np.repeat(np.arange(4), sizes)
    assert_allclose(rank_scores(scores, sizes)[repeated], rank_scores(scores[repeated]))


def test_membership_is_right_on_average_where_it_falls_as_a_curve_does():
    rng, n = np.random.default_rng(0), 2000
    truth = 1 / (1 + (np.arange(n) / 300) ** 2.5)
    members = [np.flatnonzero(rng.random(n) < truth) for _ in range(200)]
    checks = [Check(1 + np.sort(rng.choice(rows, 20, replace=False)), n) for rows in members]
    estimated = np.mean([estimate_membership(np.arange(n), check) for check in checks], axis=0)
    assert_allclose(estimated[[10, 100, 300, 600, 1500]], truth[[10, 100, 300, 600, 1500]], atol=0.1)


def test_membership_is_monotone_in_the_score_and_known_for_examples():
    pagerank = PageRank(make_two_groups(), 0.05)
    for positive, negative in (([1, 5, 9], []), ([1, 5, 9, 30], [25, 2]), ([3], [30])):
        members = find_members(pagerank, np.array(positive), np.array(negative, dtype=np.intp))
        order = np.argsort(members.scores, kind="stable")
        assert np.all(np.diff(members.membership[order]) >= 0)
        assert_allclose(members.membership[positive], 1)
        assert_allclose(members.membership[negative], 0)
        assert members.is_probability == (len(positive) >= 3)


def test_members_of_a_clear_group_are_about_as_many_as_it_has():
    rng, pagerank = np.random.default_rng(0), PageRank(make_two_groups(200), 0.05)
    draws = [rng.choice(100, 10, replace=False) for _ in range(20)]
    n_members = [find_members(pagerank, examples, NONE).membership.sum() for examples in draws]
    assert 75 < np.median(n_members) < 130


def test_examples_of_two_groups_are_told_apart():
    pagerank = PageRank(make_two_groups(100), 0.02)
    for examples, apart in (([1, 5, 9, 70, 80], [3, 4]), ([1, 70, 75, 80, 9], [0, 4]), ([1, 5, 9, 20, 40], [])):
        assert find_members(pagerank, np.array(examples), NONE).apart.tolist() == apart

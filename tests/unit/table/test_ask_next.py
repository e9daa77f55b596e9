import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mixsearch.table import TableSearch
from mixsearch.table._questions import choose_questions


def _groups(n=60, seed=0):
    """Three round groups of likely members, far from each other."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], n)
    return np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])[labels] + rng.normal(size=(3 * n, 2)), labels


def test_every_group_of_likely_members_is_asked_for_once():
    X, labels = _groups()
    rows = choose_questions(X, np.full(len(X), 0.5), 3)
    assert sorted(labels[rows]) == [0, 1, 2]


def test_a_question_is_in_the_middle_of_its_group():
    X, labels = _groups()
    for row in choose_questions(X, np.full(len(X), 0.5), 3):
        group = X[labels == labels[row]]
        distances = np.linalg.norm(group - group.mean(axis=0), axis=1)
        assert np.linalg.norm(X[row] - group.mean(axis=0)) <= np.quantile(distances, 0.1)


def test_a_group_that_has_hardly_a_member_is_not_asked_for():
    X, labels = _groups()
    rows = choose_questions(X, np.where(labels == 2, 1e-6, 0.5), 2)
    assert sorted(labels[rows]) == [0, 1]


def test_the_likeliest_rows_follow_if_many_rows_are_equal():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    rows = choose_questions(X, np.linspace(0.9, 0.1, 40), 5)
    assert len(set(rows)) == 5
    assert {tuple(row) for row in X[rows]} == {(0, 0), (1, 1)}


@pytest.mark.parametrize("n", [1, 5, 12])
def test_all_rows_are_asked_for_if_there_are_no_more(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    assert_array_equal(choose_questions(X, np.full(n, 0.5), 12), np.arange(n))


@pytest.fixture(scope="module")
def found():
    X, labels = _groups()
    return TableSearch().fit(X).search(like=np.flatnonzero(labels == 0)[:2], not_like=np.flatnonzero(labels == 1)[:2])


def test_rows_with_a_label_are_not_asked_for_again(found):
    asked = found.ask_next(20)
    assert len(set(asked.tolist())) == 20
    assert not set(asked.tolist()) & {*found.like, *found.not_like}


def test_the_likeliest_row_is_asked_for_first(found):
    assert np.all(np.diff(found.membership[found.ask_next(5)]) <= 0)


def test_the_labels_asked_for_find_a_class_of_two_clusters():
    """One example shows one of two clusters: only a label can say that the other one belongs to the class."""
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], 80)
    X = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 40.0]])[groups] + rng.normal(size=(240, 2))
    is_member = groups < 2
    search = TableSearch().fit(X)
    like = np.flatnonzero(groups == 0)[:3]
    asked = search.search(like=like).ask_next(5)
    assert np.any(groups[asked] == 1)
    again = search.search(like=[*like, *asked[is_member[asked]]], not_like=asked[~is_member[asked]])
    assert again.score[groups == 1].min() > again.score[groups == 2].max()

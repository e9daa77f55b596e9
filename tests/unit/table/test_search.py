from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import roc_auc_score
from tests.coded import raises, warns

import mixsearch
from mixsearch import TableSearch
from mixsearch.errors import SearchError
from mixsearch.table import fit as _fit

SIZES = (120, 80, 60)


def draw(seed=0, sizes=SIZES):
    """Three Gaussians of different widths far from each other, in columns of very different units."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0, 0, 0], [30, 0, 0], [0, 30, 0]])
    labels = np.repeat(np.arange(3), sizes)
    X = centers[labels] + rng.normal(size=(len(labels), 3)) * np.array([1.0, 3.0, 0.5])[labels, None]
    return X * [1, 100, 0.01], labels


@pytest.fixture(scope="module")
def planted():
    return draw()


@pytest.fixture(scope="module")
def search(planted):
    return TableSearch().fit(planted[0])


def assert_finds(found, members):
    """Check that members rank before all others, and that nearly all predicted members are right."""
    assert found.membership[members].min() > found.membership[~members].max()
    called = found.predict()
    assert members[called].all()
    assert called.sum() > 0.6 * members.sum()


def test_categories_that_all_groups_share_do_not_split_a_group():
    rng, (X, labels) = np.random.default_rng(5), draw(sizes=(400, 300, 200))
    colors = {f"color {j}": rng.choice(["red", "green", "blue", "grey"], len(X)) for j in range(3)}
    search = TableSearch().fit({f"x{j}": X[:, j] for j in range(3)} | colors)
    for target, n_examples in product(range(3), (1, 3)):
        own = labels == target
        called = search.search(np.flatnonzero(own)[:n_examples]).predict()
        assert own[called].mean() > 0.9
        assert called[own].mean() > 0.7


@pytest.mark.parametrize("target", range(3))
@pytest.mark.parametrize("n_examples", [1, 5])
def test_examples_find_their_cluster(planted, search, target, n_examples):
    own = np.flatnonzero(planted[1] == target)
    rows = np.random.default_rng(n_examples).choice(own, n_examples, replace=False)
    found = search.search(rows)
    assert_finds(found, planted[1] == target)
    low, high = found.n_members.low, found.n_members.high
    assert low <= len(own) <= high
    assert found.like == tuple(sorted(rows.tolist()))
    assert not found.warnings


@pytest.mark.parametrize("side", [0, 1])
def test_bananas_are_followed(side):
    X, labels = make_moons(600, noise=0.05, random_state=0)
    members = labels == side
    rows = np.random.default_rng(0).choice(np.flatnonzero(members), 4, replace=False)
    found = mixsearch.find(X, like=rows)
    order = np.argsort(-found.membership, kind="stable")
    assert members[order[: members.sum()]].mean() > 0.97


def test_rows_that_are_no_members_take_their_cluster_out():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 80)
    X = np.array([[0, 0], [4, 0], [100, 100]])[labels] + rng.normal(size=(240, 2))
    # A mixture of two components does not separate the two groups that are near each other.
    search = TableSearch("spherical", max_components=2).fit(X)
    like = np.argsort(np.abs(X[:80, 0] - 1))[:1]
    alone = search.search(like=like)
    second = np.flatnonzero(labels == 1)
    without = search.search(like=like, not_like=second[:10])
    rest = second[10:]
    assert without.membership[rest].mean() < 0.7 * alone.membership[rest].mean()
    near = np.setdiff1d(np.flatnonzero(labels < 2), [*like, *second[:10]])
    before, after = (roc_auc_score(labels[near] == 0, found.membership[near]) for found in (alone, without))
    assert after > max(0.95, before)


@pytest.mark.parametrize("like", [[9, 2, 5, 9], {2, 5, 9}, (np.int64(2), 5, -251), np.isin(np.arange(260), [2, 5, 9])])
def test_rows_may_be_named_in_several_ways(search, like):
    found, expected = search.search(like=like, not_like=150), search.search(like=[2, 5, 9], not_like=[150])
    assert (found.like, found.not_like) == ((2, 5, 9), (150,))
    assert_allclose(found.membership, expected.membership, atol=1e-6)


def test_examples_are_surely_members_and_the_others_are_none(search):
    found = search.search(like=[0, 5], not_like=[1, 150])
    assert found.membership[[0, 5]].tolist() == [1, 1]
    assert found.membership[[1, 150]].tolist() == [0, 0]
    assert (found.like, found.not_like) == ((0, 5), (1, 150))
    assert found.predict()[[0, 5]].all()
    assert not found.predict()[[1, 150]].any()


def test_permuted_rows_have_permuted_answers(planted, search):
    X, labels = planted
    order = np.random.default_rng(1).permutation(len(X))
    position = np.argsort(order)
    found = TableSearch().fit(X[order]).search(like=position[[2, 5, 9]])
    expected = search.search(like=[2, 5, 9])
    assert_finds(found, labels[order] == 0)
    assert_allclose(found.membership, expected.membership[order], atol=0.02)


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X * [1, 1, -1e-3] + [5e3, 0, 0],
        lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
        lambda X: pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}),
    ],
    ids=["scaled and shifted", "constant column", "pyarrow"],
)
def test_units_constant_columns_and_kinds_of_tables_change_nothing(planted, search, change):
    found = TableSearch().fit(change(planted[0])).search(like=[2, 5, 9])
    expected = search.search(like=[2, 5, 9])
    assert_allclose(found.membership, expected.membership, atol=0.02)


def test_fewer_nodes_than_rows_give_nearly_the_same_answer(monkeypatch):
    X, labels = draw(sizes=(700, 500, 300))
    max_nodes = 300
    search = TableSearch().fit(X)
    monkeypatch.setattr(_fit, "MAX_NODES", max_nodes)
    monkeypatch.setattr(_fit, "N_NODES", max_nodes)
    coarse = TableSearch().fit(X)
    assert len(coarse._fit.nodes.rows) <= max_nodes
    for target in range(3):
        rows = np.random.default_rng(target).choice(np.flatnonzero(labels == target), 10, replace=False)
        found, expected = coarse.search(rows), search.search(rows)
        own = labels == target
        assert found.membership[own].min() > found.membership[~own].max()
        assert own[found.predict()].all()
        assert found.n_members.low <= own.sum() <= found.n_members.high
        assert spearmanr(found.score[own], expected.score[own]).statistic > 0.15


@pytest.mark.parametrize(
    "table",
    [
        [[0.0], [1.0]],
        [[0.0], [1.0], [5.0], [5.5]],
        {"name": ["a", "b"] * 30},
        {"name": ["a", "b", "c"] * 20, "number": [1.0, 2.0, 3.0] * 20},
        np.vstack([np.ones((40, 2)), [[2.0, 3.0]]]),
    ],
    ids=["two rows", "one column", "categories", "few points", "all rows but one equal"],
)
def test_tables_of_few_points_have_answers(table):
    found = mixsearch.find(table, like=[0])
    assert np.isfinite(found.membership).all()
    assert np.isfinite(found.score).all()
    assert found.differences()
    assert repr(found)


def test_all_rows_may_be_examples(search):
    with warns("examples_disagree", n_far=140):
        found = search.search(like=range(260))
    assert found.predict().all()
    assert found.n_members == (260, 260, 260)
    assert len(found.typical_rows()) == 0
    everything = search.search(like=range(120), not_like=range(120, 260))
    assert everything.n_members == (120, 120, 120)
    assert everything.predict().tolist() == [True] * 120 + [False] * 140


def test_rows_of_their_own_are_as_good_as_their_positions(planted, search):
    rows, others = [2, 5, 9], [130, 150]
    expected = search.search(like=rows, not_like=others)
    found = search.search(like=planted[0][rows], not_like=planted[0][others])
    unnamed = np.delete(np.arange(260), rows + others)
    assert_allclose(found.membership[unnamed], expected.membership[unnamed], atol=1e-6)
    assert found.membership[rows].max() < 1


@pytest.mark.parametrize(
    ("like", "not_like", "code"),
    [
        ([], (), "no_rows_named"),
        (np.empty((0, 3)), (), "no_rows_named"),
        ([0, -261], (), "row_out_of_range"),
        ([1.0, 2.5], (), "bad_rows"),
        ("12", (), "bad_rows"),
        (True, (), "bad_rows"),
        ([0], None, "bad_rows"),
        ([0], [True, False], "bad_mask"),
        ([[1.0, 2.0]], (), "other_columns"),
        ([1, 2, 5], [2, 5, 9], "contradicting_rows"),
    ],
)
def test_bad_examples_are_refused(search, like, not_like, code):
    with pytest.raises(SearchError) as caught:
        search.search(like=like, not_like=not_like)
    assert caught.value.code == code


@pytest.mark.parametrize(("name", "value"), [("covariance", "round"), ("max_components", 0), ("max_components", 2.5)])
def test_bad_options_are_refused(planted, name, value):
    with raises("bad_argument", argument=name, value=value):
        TableSearch(**{name: value}).fit(planted[0])


@pytest.mark.parametrize("as_rows", [False, True])
def test_an_example_far_from_all_others_has_a_warning(planted, search, as_rows):
    rows = [2, 5, 9, 250]
    like, named = (planted[0][rows], 3) if as_rows else (rows, 250)
    with warns("examples_disagree") as caught:
        found = search.search(like=like)
    assert [warning.code for warning in found.warnings] == ["examples_disagree"]
    assert found.warnings[0].fields["rows"] == [named]
    assert str(caught[0].message) == str(found.warnings[0])


@pytest.mark.parametrize("seed", range(2))
def test_examples_of_one_cluster_have_no_warning(planted, search, seed):
    """Warnings are errors: the farthest rows of a cluster are its members."""
    X, labels = planted
    for target in range(3):
        own = np.flatnonzero(labels == target)
        distances = np.linalg.norm(X[own] - X[own].mean(axis=0), axis=1)
        outer = own[np.argsort(-distances)[:6]]
        assert not search.search(np.random.default_rng(seed).choice(outer, 3, replace=False)).warnings


def draw_with_missing(seed=0, n=400):
    """Two Gaussians far from each other, with a category for each; a tenth of two columns is missing."""
    rng, labels = np.random.default_rng(seed), np.repeat([0, 1], [n // 3, n - n // 3])
    numbers = rng.normal(size=(n, 3)) + np.array([[0, 0, 0], [5, -4, 0]])[labels]
    numbers[rng.random(n) < 0.1, 1] = np.nan
    category = np.array(["a", "b"], dtype=object)[labels]
    category[rng.random(n) < 0.1] = None
    return {"x": numbers[:, 0], "y": numbers[:, 1], "z": numbers[:, 2], "category": category}, labels


def test_rows_with_missing_values_do_not_connect_two_groups():
    table, labels = draw_with_missing(seed=1)
    search = TableSearch().fit(table)
    with warns("examples_disagree", n_examples=2, n_far=2, listed="0, 399"):
        search.search([0, 399])
    for target, seed in product(range(2), range(2)):
        own = np.random.default_rng(seed).choice(np.flatnonzero(labels == target), 4, replace=False)
        assert not search.search(own).warnings


@pytest.mark.parametrize("like", ["r5", np.array(["r5"])])
def test_ids_name_rows_if_the_fit_has_a_column_of_them(planted, like):
    table = {"x": planted[0][:, 0], "y": planted[0][:, 1], "name": [f"r{row}" for row in range(260)]}
    found = mixsearch.find(table, like=like, not_like="r150", id="name")
    assert (found.like, found.not_like) == ((5,), (150,))
    assert repr(found).startswith("Rows like r5\n")
    with raises("unknown_rows", n_rows=260, missing="r999"):
        mixsearch.find(table, like="r999", id="name")
    with raises("bad_rows", argument="like"):
        mixsearch.find(table, like=like)


def test_a_number_of_members_that_is_hardly_known_has_a_warning():
    X, digit = load_digits(return_X_y=True)
    search, like = TableSearch().fit(X), [1246, 1310, 1727]
    assert digit[like].tolist() == [3, 3, 3]
    with warns("size_unknown", n_rows=1797, like="like", not_like="not_like") as warned:
        found = search.search(like)
    n, low, high = found.n_members
    assert n > 1797 / 2
    assert high > 8 * low
    assert [warning.code for warning in found.warnings] == ["size_unknown"]
    assert (warned[0].message.fields["low"], warned[0].message.fields["high"]) == (low, high)
    assert found.verdict not in ("clear", "likely")
    called = np.setdiff1d(np.flatnonzero(found.predict()), like)
    assert found.confidence == pytest.approx(found.membership[called].mean())
    assert (digit[called] == 3).mean() < 0.5


@pytest.mark.parametrize("n_examples", [1, 5])
def test_a_clean_cluster_of_most_rows_has_no_warning(n_examples):
    X, _ = draw(sizes=(400, 80, 60))
    found = TableSearch().fit(X).search(range(n_examples))  # warnings are errors
    assert not found.warnings
    assert found.n_members.n > 270

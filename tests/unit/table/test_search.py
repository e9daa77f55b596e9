import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_wine, make_moons
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from tests.coded import raises, warns

import mixsearch
from mixsearch import TableSearch
from mixsearch.errors import SearchError

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


@pytest.mark.parametrize("side", [0, 1])
def test_bananas_are_followed(side):
    X, labels = make_moons(600, noise=0.05, random_state=0)
    members = labels == side
    rows = np.random.default_rng(0).choice(np.flatnonzero(members), 4, replace=False)
    found = mixsearch.find(X, examples=rows)
    order = np.argsort(-found.scores, kind="stable")
    assert members[order[: members.sum()]].mean() > 0.97


@pytest.mark.parametrize(
    "examples", [[9, 2, 5, 9], {2, 5, 9}, (np.int64(2), 5, -251), np.isin(np.arange(260), [2, 5, 9])]
)
def test_rows_may_be_named_in_several_ways(search, examples):
    found, expected = (
        search.search(examples=examples, not_examples=150),
        search.search(examples=[2, 5, 9], not_examples=[150]),
    )
    assert (found.examples, found.not_examples) == ((2, 5, 9), (150,))
    assert_allclose(found.membership, expected.membership, atol=1e-6)


def test_examples_are_surely_members_and_the_others_are_none(search):
    found = search.search(examples=[0, 5], not_examples=[1, 150])
    assert found.membership[[0, 5]].tolist() == [1, 1]
    assert found.membership[[1, 150]].tolist() == [0, 0]
    assert (found.examples, found.not_examples) == ((0, 5), (1, 150))
    assert found.predict()[[0, 5]].all()
    assert not found.predict()[[1, 150]].any()


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
    found = mixsearch.find(table, examples=[0])
    assert np.isfinite(found.membership).all()
    assert np.isfinite(found.scores).all()
    assert found.differences()
    assert repr(found)


def test_rows_of_their_own_are_as_good_as_their_positions(planted, search):
    rows, others = [2, 5, 9], [130, 150]
    expected = search.search(examples=rows, not_examples=others)
    found = search.search(examples=planted[0][rows], not_examples=planted[0][others])
    unnamed = np.delete(np.arange(260), rows + others)
    assert_allclose(found.membership[unnamed], expected.membership[unnamed], atol=1e-6)


@pytest.mark.parametrize(
    ("examples", "not_examples", "code"),
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
def test_bad_examples_are_refused(search, examples, not_examples, code):
    with pytest.raises(SearchError) as caught:
        search.search(examples=examples, not_examples=not_examples)
    assert caught.value.code == code


@pytest.mark.parametrize("examples", ["r5", np.array(["r5"])])
def test_ids_name_rows_if_the_fit_has_a_column_of_them(planted, examples):
    table = {"x": planted[0][:, 0], "y": planted[0][:, 1], "name": [f"r{row}" for row in range(260)]}
    found = mixsearch.find(table, examples=examples, not_examples="r150", id="name")
    assert (found.examples, found.not_examples) == ((5,), (150,))
    assert repr(found).startswith("Rows like r5\n")
    with raises("unknown_rows", n_rows=260, missing="r999"):
        mixsearch.find(table, examples="r999", id="name")
    with raises("bad_rows", argument="examples"):
        mixsearch.find(table, examples=examples)


@pytest.mark.parametrize("target", range(3))
def test_examples_find_their_cluster(planted, search, target):
    members = planted[1] == target
    for n_examples in (1, 5, 10):
        rows = np.random.default_rng(n_examples).choice(np.flatnonzero(members), n_examples, replace=False)
        found = search.search(rows)
        assert found.scores[members].min() > found.scores[~members].max()
        assert np.all(np.diff(found.membership[np.argsort(found.scores, kind="stable")]) >= 0)
        assert found.is_probability == (n_examples >= 3)
        assert not found.warnings
    assert 0.75 * members.sum() < found.n_members < 1.25 * members.sum()
    assert found.check.expected_recall(members.sum()) > 0.9
    assert found.predict().tolist() == members.tolist()


@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")
@pytest.mark.parametrize("n_examples", [3, 5, 10])
def test_wines_are_about_as_many_as_there_are_and_no_number_contradicts_another(n_examples):
    X, kinds = load_wine(return_X_y=True)
    search, rng, ratios = TableSearch().fit(X), np.random.default_rng(0), []
    for kind in range(3):
        for _ in range(10):
            found = search.search(rng.choice(np.flatnonzero(kinds == kind), n_examples, replace=False))
            ratios.append(found.n_members / np.sum(kinds == kind))
            n_read = found.check.n_to_read()
            recall = found.check.expected_recall(n_read)
            first = found.membership[found.typical_rows(n_read)].sum()
            assert_allclose(n_examples + first / recall, found.membership.sum(), rtol=1e-6)
    assert 0.9 < np.median(ratios) < 1.1
    assert np.mean(np.abs(np.log2(ratios)) < 1) >= 0.9


def test_rows_that_are_not_members_take_their_cluster_out():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 100)
    X = np.array([[0, 0], [3.5, 0]])[labels] + rng.normal(size=(200, 2))
    search, examples = TableSearch().fit(X), np.argsort(np.abs(X[:100, 0] - 1.2))[:2]
    not_examples = np.flatnonzero(labels)[:10]
    found = search.search(examples), search.search(examples, not_examples=not_examples)
    rest = np.setdiff1d(np.arange(200), [*examples, *not_examples])
    before, after = (roc_auc_score(labels[rest] == 0, each.scores[rest]) for each in found)
    assert after >= before
    assert after > 0.95


def test_a_table_may_be_a_file(planted, tmp_path):
    path = tmp_path / "planted.csv"
    pl.DataFrame(planted[0], schema=["x", "y", "z"]).write_csv(path)
    for table in (path, str(path)):
        found = mixsearch.find(table, [3, 40, 90])
        assert_allclose(found.membership, mixsearch.find(planted[0], [3, 40, 90]).membership)
        assert found.to_frame().columns[:3] == ["x", "y", "z"]
    with raises("file_missing"):
        mixsearch.find("nothing.csv", [3])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_accepts_the_search():
    check_estimator(TableSearch())


def test_labels_may_be_unknown_and_new_rows_follow_their_neighbours(planted):
    X, labels = planted
    y = np.full(len(X), -1)
    y[np.flatnonzero(labels == 0)[:5]], y[np.flatnonzero(labels == 1)[:3]] = 1, 0
    search = TableSearch().fit(X, y)
    assert search.classes_.tolist() == [0, 1]
    new, truth = draw(seed=1)
    proba = search.predict_proba(new)
    assert_allclose(proba.sum(axis=1), 1)
    assert_allclose(search.decision_function(new), proba[:, 1] - 0.5)
    assert roc_auc_score(truth == 0, proba[:, 1]) > 0.99
    assert np.mean(search.predict(new) == (truth == 0)) > 0.8
    assert_allclose(search.predict_proba(X)[:, 1], search.found_.membership)
    assert search.predict(X[y >= 0]).tolist() == y[y >= 0].tolist()


def test_search_is_a_step_of_pipelines_and_of_cross_validation():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), TableSearch())
    assert cross_val_score(pipeline, X.iloc[:300, :9], y[:300], cv=3, scoring="roc_auc").min() > 0.95
    assert pipeline.fit(X, y)[-1].feature_names_in_.tolist() == X.columns.tolist()


@pytest.mark.parametrize(
    ("y", "code"),
    [
        ([0] * 260, "no_rows_named"),
        ([-1] * 260, "no_rows_named"),
        ([0, 1, 2, 3] * 65, "bad_labels"),
        ([1], "other_length"),
    ],
)
def test_labels_that_say_nothing_are_refused(planted, y, code):
    with pytest.raises(SearchError) as caught:
        TableSearch().fit(planted[0], y)
    assert caught.value.code == code
    with raises("no_labels"):
        TableSearch().fit(planted[0]).predict(planted[0])


def test_all_rows_may_be_examples(search):
    everything = search.search(examples=range(120), not_examples=range(120, 260))
    assert everything.n_members == 120
    assert everything.predict().tolist() == [True] * 120 + [False] * 140
    assert len(everything.typical_rows()) == 0


def test_missing_values_do_not_connect_rows():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 6)) + 4 * labels[:, None]
    X[rng.random(X.shape) < 0.3] = np.nan
    examples = np.flatnonzero(~np.isnan(X).all(axis=1) & (labels == 0))[:5]
    found = mixsearch.find(X, examples)
    assert roc_auc_score(labels == 0, found.scores) > 0.95


def test_rows_that_others_stand_for_are_found_too():
    X, labels = draw(sizes=(5000, 4000, 3000))
    found = TableSearch().fit(X).search(np.flatnonzero(labels == 1)[:10])
    assert roc_auc_score(labels == 1, found.scores) > 0.98
    assert len(np.unique(found.scores)) > 1000


@pytest.mark.parametrize("as_rows", [False, True])
def test_examples_of_two_clusters_have_a_warning(planted, search, as_rows):
    rows = [2, 5, 9, 250, 255]
    examples, named = (planted[0][rows], [3, 4]) if as_rows else (rows, [250, 255])
    with warns("examples_disagree", n_far=2):
        found = search.search(examples)
    assert [warning.fields["rows"] for warning in found.warnings] == [named]

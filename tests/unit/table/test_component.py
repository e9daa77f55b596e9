"""What a search in a table found: members, rows, differences, the answer as plain data, and the plane of its rows."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.coded import raises
from tests.unit.table.planted import group_of_row, make_patients

from mixsearch import TableSearch
from mixsearch.table import TableAnswer, describe_members
from mixsearch.table.plane import place_rows

NAMES = ["area", "price", "city"]


def draw(seed=0, sizes=(150, 100, 80), elsewhere=0.1):
    """Three groups of homes: they differ in area and price, and are in different cities, but for some in Rome."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], sizes)
    area = np.array([50.0, 100.0, 200.0])[labels] + rng.normal(size=len(labels)) * 5
    price = np.array([3e5, 1e5, 9e5])[labels] + rng.normal(size=len(labels)) * 1e4
    city = np.where(rng.random(len(labels)) < elsewhere, "Rome", np.array(["Oslo", "Rome", "Lima"])[labels])
    return pd.DataFrame({"area": area, "price": price, "city": city}), labels


@pytest.fixture(scope="module")
def planted():
    return draw()


@pytest.fixture(scope="module")
def search(planted):
    return TableSearch().fit(planted[0])


@pytest.fixture(scope="module")
def found(search):
    return search.search(like=[3, 17, 40], not_like=[160])


@pytest.mark.parametrize("target", range(3))
def test_rows_held_out_have_the_membership_of_their_group(planted, search, target):
    held_out, labels = draw(seed=5, elsewhere=0)
    rows = np.flatnonzero(planted[1] == target)[[3, 17, 40]]
    membership = search.search(rows).membership_of(held_out)
    assert membership.shape == (len(held_out),)
    assert membership[labels == target].min() > membership[labels != target].max()


def test_confidence_is_the_mean_of_the_members_that_are_no_examples(found):
    called = np.setdiff1d(np.flatnonzero(found.predict()), found.like)
    assert found.confidence == pytest.approx(found.membership[called].mean())
    assert found.verdict in ("clear", "likely", "doubtful", "unclear")


def test_separate_groups_are_carried_by_the_mixture(found):
    assert found.carried_by == "mixture"
    blob = np.random.default_rng(0).normal(size=(300, 2))
    assert TableSearch().fit(blob).search(like=[0]).carried_by == "neighbours"


def test_typical_rows_are_the_likeliest_that_are_no_examples(planted, found):
    rows = found.typical_rows(20)
    assert len(rows) == 20
    assert not set(rows.tolist()) & {*found.like, *found.not_like}
    assert (planted[1][rows] == 0).all()
    others = np.setdiff1d(np.arange(330), [*rows, *found.like, *found.not_like])
    assert found.membership[rows].min() >= found.membership[others].max()
    assert len(found.typical_rows(1000)) == 330 - 4


def test_differences_are_in_the_units_of_the_table(planted, found):
    table, _ = planted
    by_name = {each.column: each for each in found.differences()}
    assert set(by_name) == set(NAMES)
    weights = found.membership / found.membership.sum()
    for name in ("area", "price"):
        values = table[name].to_numpy()
        mean = weights @ values
        each = by_name[name]
        assert each.members == pytest.approx(mean)
        assert each.all_rows == pytest.approx(values.mean())
        assert each.effect == pytest.approx((mean - values.mean()) / values.std())
        assert each.stderr == pytest.approx(np.sqrt(weights @ (values - mean) ** 2 * (weights @ weights)))
    shares = by_name["city"].members
    assert shares["Oslo"] == pytest.approx(weights[table["city"] == "Oslo"].sum())
    assert by_name["city"].all_rows["Rome"] == pytest.approx((table["city"] == "Rome").mean())
    assert by_name["city"].stderr is None
    effects = [abs(each.effect) for each in found.differences()]
    assert effects == sorted(effects, reverse=True)


@pytest.fixture(scope="module")
def answer() -> TableAnswer:
    found = TableSearch().fit(make_patients(), id="patient").search([0, 3, 6], not_like=[1])
    return describe_members(found, n_rows=4, id="patient")


def test_rows_come_with_their_ids_and_values(answer):
    assert [row.id for row in answer.like] == ["P-0", "P-3", "P-6"]
    assert [row.membership for row in answer.not_like] == [0.0]
    assert len(answer.typical_rows) == 4
    for row in answer.typical_rows:
        assert group_of_row()[row.row] == 0
        assert row.values["patient"] == row.id == f"P-{row.row}"


def test_the_answer_is_plain_json(answer):
    shown = json.loads(json.dumps(answer.as_dict(), allow_nan=False))
    assert shown["n_members"] == answer.n_members._asdict()
    assert shown["like"][0]["values"]["admitted"].startswith("2024-01-")
    dates = next(each for each in shown["differences"] if each["column"] == "admitted")
    assert dates["members"] < "2024-02" < dates["all_rows"]


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UncertainSizeWarning")
@pytest.mark.parametrize(("n_levels", "seed"), [(2, 0), (4, 1)])
def test_the_sign_of_a_category_is_that_of_the_category_shown_first(n_levels, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [60, 140])
    kinds = np.array(["a", "b", "c", "d"])[:n_levels]
    kind = np.where((labels == 0) & (rng.random(200) < 0.8), kinds[seed % n_levels], rng.choice(kinds, 200))
    numbers = rng.normal(size=(200, 2)) + 8 * labels[:, None]
    search = TableSearch().fit({"x": numbers[:, 0], "y": numbers[:, 1], "kind": kind})
    for own in ([0, 1, 2], [100, 101, 102]):
        by_column = {each.column: each for each in search.search(own).differences()}
        members, all_rows = by_column["kind"].members, by_column["kind"].all_rows
        first = next(iter(members))
        assert np.sign(by_column["kind"].effect) == np.sign(members[first] - all_rows[first])
        assert np.sign(by_column["x"].effect) == np.sign(by_column["x"].members - by_column["x"].all_rows)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")
def test_nothing_sets_all_rows_apart():
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=90) + 1e3, "y": rng.normal(size=90) / 7, "kind": rng.choice(["a", "b", "c"], 90)}
    found = TableSearch().fit(table).search(range(90))
    assert [each.effect for each in found.differences()] == [0, 0, 0]
    assert "█" not in repr(found)
    assert "none sets the members apart from all rows" in repr(found)


def clouds(n=60, n_features=5, seed=0):
    """Three clouds that differ in two of the columns; the others vary more, and mean nothing."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], n)
    X = rng.normal(size=(3 * n, n_features))
    X[:, :2] = 0.2 * X[:, :2] + np.array([[0, 0], [3, 0], [0, 3]])[labels]
    return X, labels


def test_clouds_are_apart_in_the_plane():
    X, labels = clouds()
    plane = place_rows(TableSearch().fit(X))
    centers = np.array([plane.coordinates[labels == k].mean(axis=0) for k in range(3)])
    spread = max(plane.coordinates[labels == k].std(axis=0).max() for k in range(3))
    distances = [np.linalg.norm(centers[i] - centers[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(distances) > 4 * spread


def test_of_many_rows_some_are_placed_in_order():
    X, _ = clouds(n=400)
    search = TableSearch().fit(X)
    plane = place_rows(search, 100)
    assert len(plane.rows) <= 100
    assert np.all(np.diff(plane.rows) > 0)
    assert plane.coordinates.shape == (len(plane.rows), 2)
    with raises("bad_argument", argument="max_rows"):
        place_rows(search, 0)


def test_one_column_makes_a_line():
    plane = place_rows(TableSearch().fit({"x": [1.0, 1.1, 0.9, 9.0, 9.2, 8.9]}))
    assert np.all(plane.coordinates[:, 1] == 0)
    first, second = np.split(plane.coordinates[:, 0], 2)
    assert first.max() < second.min()

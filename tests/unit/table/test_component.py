"""What a search in a table found: members, rows, differences, the answer as plain data, and missing values."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.unit.table.planted import group_of_row, make_patients

from mixsearch import TableSearch

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
    return search.search(examples=[3, 17, 40], not_examples=[160])


def test_typical_rows_are_the_likeliest_that_are_no_examples(planted, found):
    rows = found.typical_rows(20)
    assert len(rows) == 20
    assert not set(rows.tolist()) & {*found.examples, *found.not_examples}
    assert (planted[1][rows] == 0).all()
    others = np.setdiff1d(np.arange(330), [*rows, *found.examples, *found.not_examples])
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
        assert each.others == pytest.approx((1 - found.membership) @ values / (1 - found.membership).sum())
        assert each.effect == pytest.approx((mean - values.mean()) / values.std())
        assert each.stderr == pytest.approx(np.sqrt(weights @ (values - mean) ** 2 * (weights @ weights)))
    shares = by_name["city"].members
    assert shares["Oslo"] == pytest.approx(weights[table["city"] == "Oslo"].sum())
    assert sum(by_name["city"].others.values()) == pytest.approx(1)
    assert by_name["city"].stderr is None
    effects = [abs(each.effect) for each in found.differences()]
    assert effects == sorted(effects, reverse=True)


@pytest.fixture(scope="module")
def answer():
    return TableSearch().fit(make_patients(), id="patient").search([0, 3, 6], not_examples=[1]).as_dict(4)


def test_rows_come_with_their_ids_and_values(answer):
    assert [row["id"] for row in answer["examples"]] == ["P-0", "P-3", "P-6"]
    assert [row["membership"] for row in answer["not_examples"]] == [0.0]
    assert len(answer["typical_rows"]) == 4
    for row in answer["typical_rows"]:
        assert group_of_row()[row["row"]] == 0
        assert row["values"]["patient"] == row["id"] == f"P-{row['row']}"


def test_the_answer_is_plain_json(answer):
    shown = json.loads(json.dumps(answer, allow_nan=False))
    assert len(shown["differences"]) == len(shown["columns"])
    assert shown["examples"][0]["values"]["admitted"].startswith("2024-01-")
    dates = next(each for each in shown["differences"] if each["column"] == "admitted")
    assert dates["members"] < dates["others"]


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
        members, others = by_column["kind"].members, by_column["kind"].others
        first = next(iter(members))
        assert np.sign(by_column["kind"].effect) == np.sign(members[first] - others[first])
        assert np.sign(by_column["x"].effect) == np.sign(by_column["x"].members - by_column["x"].others)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")
def test_missing_values_are_told_and_do_not_count():
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], 150)
    x, y = rng.normal(size=300) + 6 * labels, rng.normal(size=300) + 6 * labels
    y[(labels == 0) & (rng.random(300) < 0.6)] = np.nan
    found = TableSearch().fit({"x": x, "y": y}).search(np.flatnonzero(labels == 0)[:8])
    (missing,) = found.missing_apart()
    assert missing.missing > missing.missing_others + 0.25
    assert missing.members < 2 < missing.others
    assert "y missing in" in repr(found)


def test_membership_of_few_examples_is_called_a_rank(search):
    found = search.search(examples=[3])
    assert not found.is_probability
    assert found.n_members is None
    assert found.predict().sum() == 1
    assert "no check: it needs two examples" in repr(found)
    assert "ranked" in repr(found)


def test_the_frame_has_the_columns_of_the_answer(planted, found):
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == [*NAMES, "score", "membership", "is_member"]
    assert frame["is_member"].tolist() == found.predict().tolist()

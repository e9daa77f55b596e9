import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mixsearch import TableSearch
from mixsearch.errors import SearchError

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


def test_rows_of_the_table_have_their_own_membership(planted, found):
    unnamed = np.setdiff1d(np.arange(330), [*found.like, *found.not_like])
    assert_allclose(found.membership_of(planted[0].iloc[unnamed]), found.membership[unnamed], atol=1e-12)


def test_rows_held_out_may_come_in_any_kind_of_table(planted, found):
    table = planted[0].iloc[[5, 200, 300]]
    expected = found.membership_of(table)
    assert_allclose(found.membership_of({name: table[name].to_list() for name in reversed(NAMES)}), expected)
    assert len(found.membership_of(table.iloc[:0])) == 0
    with pytest.raises(SearchError, match="missing: price"):
        found.membership_of(table[["area", "city"]])


def test_membership_cannot_be_changed_by_accident(found):
    with pytest.raises(ValueError, match="read-only"):
        found.membership[0] = 0


def test_as_many_rows_are_called_members_as_there_are(found):
    called = found.predict()
    assert called.sum() == found.n_members.n
    assert found.membership[called].min() >= found.membership[~called].max()
    assert found.n_members.low <= found.n_members.n <= found.n_members.high


def test_more_examples_give_a_narrower_interval(planted, search):
    rows = np.flatnonzero((planted[1] == 0) & (planted[0]["city"] == "Oslo"))
    few, many = search.search(rows[:1]).n_members, search.search(rows[:10]).n_members
    assert many.high / many.n < few.high / few.n or many.low / many.n > few.low / few.n


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


def test_rows_to_ask_about_are_different_and_no_examples(found):
    for n in (1, 5, 30):
        rows = found.ask_next(n).tolist()
        assert len(set(rows)) == len(rows) == n
        assert not set(rows) & {*found.like, *found.not_like}
    assert len(found.ask_next(0)) == 0


def test_rows_to_ask_about_are_more_doubtful_than_typical_ones(found):
    assert found.membership[found.ask_next(5)].mean() < found.membership[found.typical_rows(5)].mean()


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


def test_the_card_says_what_was_found(found):
    text = repr(found)
    assert "Rows like 3, 17, 40" in text
    assert f"{found.n_members.n:,} (" in text
    assert "area" in text
    assert "Rows like 3, 17, 40" in found._repr_html_()

"""Topics over time and by group agree with what was planted."""

import csv
import io

import numpy as np
import pytest
from tests.coded import raises
from tests.dated_corpus import FOOD, SHOPS, SPORT, YEARS, draw_rows, open_made

from mixsearch.index.groups import GroupShare, estimate_means

ROWS = draw_rows()
SUBJECT = np.array([row["title"].split(",")[0].removeprefix("Notes on ") for row in ROWS])
# Four fifths of a document's words are on its subject; the others are those of the language, on no topic.
MIN_SHARE, MAX_SHARE = 0.75, 1.05


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


def shares_of(found, topic=0):
    return np.array([group.share for group in found.topics[topic].groups])


def test_a_planted_topic_rises_and_another_falls(index):
    found = index.group(["sushi", "judge"], over="year")
    assert (found.column, found.kind, found.every, found.n_missing) == ("year", "period", "year", 0)
    assert found.labels == tuple(map(str, YEARS))
    assert found.starts == tuple(f"{year}-01-01" for year in YEARS)
    food, law = shares_of(found, 0), shares_of(found, 1)
    for year, group in zip(YEARS, found.topics[0].groups, strict=True):
        own = [row for row, subject in zip(ROWS, SUBJECT, strict=True) if row["year"] == year and subject == "food"]
        assert group.n_documents == sum(row["year"] == year for row in ROWS)
        assert abs(group.n_about - len(own)) <= 3
        assert group.n_holding == sum("sushi" in row["text"].split() for row in ROWS if row["year"] == year)
        assert 0 <= group.low <= group.share <= group.high <= 1
        assert 0 <= group.n_about_low <= group.n_about <= group.n_about_high <= group.n_documents
    assert np.corrcoef(food, FOOD)[0, 1] > 0.99
    assert np.corrcoef(law, 1 - SPORT - FOOD)[0, 1] > 0.99
    assert found.topics[0].groups[0].high < found.topics[0].groups[-1].low
    assert found.topics[1].groups[-1].high < found.topics[1].groups[0].low


def test_dates_are_periods_and_every_chooses_which(index):
    years = index.group("sushi", over="date", every="year")
    assert years.labels == tuple(map(str, YEARS))
    assert shares_of(years) == pytest.approx(shares_of(index.group("sushi", over="year")))
    quarters = index.group("sushi", over="date", every="quarter")
    assert len(quarters.labels) == 4 * len(YEARS)
    assert sum(group.n_documents for group in quarters.topics[0].groups) == len(ROWS)
    assert index.group("sushi", over="year", every=5).labels == ("2015 to <2020", "2020 to <2025")


def test_groups_are_the_values_of_a_column(index):
    found = index.group({"food": "sushi"}, by="shop")
    assert (found.kind, found.starts, found.topics[0].hint) == ("category", None, "food")
    assert set(found.labels) == set(SHOPS)
    for group in found.topics[0].groups:
        is_own = np.array([row["shop"] == group.label for row in ROWS])
        part = np.mean(SUBJECT[is_own] == "food")
        assert MIN_SHARE * part <= group.share <= MAX_SHARE * part + 0.01
    rome, oslo = (next(group for group in found.topics[0].groups if group.label == shop) for shop in SHOPS)
    assert oslo.high < rome.low


def test_topics_that_were_found_keep_their_shares(index):
    found = index.group([index.search("sushi"), index.search("sushi", where="shop = 'Oslo'")], over="year")
    assert len({topic.hint for topic in found.topics}) == 2
    assert shares_of(found, 0) == pytest.approx(shares_of(found, 1))
    within = index.group(index.search("sushi", where="shop = 'Oslo'", within=True), over="year")
    assert np.corrcoef(shares_of(within), FOOD)[0, 1] > 0.98
    rough = index.group(index.search("sushi", refine=False), over="year")
    assert np.corrcoef(shares_of(rough), FOOD)[0, 1] > 0.98
    assert {group.n_holding for group in rough.topics[0].groups} == {None}


def test_a_group_without_documents_has_no_share(index):
    found = index.group("sushi", over="date", every="year", where="year in (2015, 2018)")
    middle = found.topics[0].groups[1]
    assert (middle.label, middle.n_documents) == ("2016", 0)
    assert middle.share is middle.low is middle.high is middle.n_about is None


def test_frames_and_tables_have_a_row_for_each_topic_and_group(index):
    found = index.group(["sushi", "judge"], over="year")
    frame = found.to_frame()
    assert frame["hint"].unique(maintain_order=True).to_list() == ["sushi", "judge"]
    assert frame["share"].to_list() == [*shares_of(found, 0), *shares_of(found, 1)]
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == len(frame)
    assert [row["label"] for row in rows[: len(YEARS)]] == list(map(str, YEARS))
    assert set(rows[0]) == {"hint", "column", *GroupShare.__dataclass_fields__}
    assert found.as_dict()["topics"][0]["groups"][0]["label"] == str(YEARS[0])


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        ({"over": "yeer"}, "unknown_column", {"column": "yeer", "suggestion": "year"}),
        ({"over": "shop"}, "not_ordered", {"column": "shop", "type": "text"}),
        ({"over": "year", "by": "shop"}, "one_column_needed", {"over": "over", "by": "by"}),
        ({"over": "date", "every": "fortnight"}, "bad_period", {"argument": "every", "found": "fortnight"}),
    ],
)
def test_groups_that_cannot_be_made_are_an_error(index, arguments, code, fields):
    with raises(code, **fields):
        index.group("sushi", **arguments)


def test_means_have_no_bias_from_clipping_and_intervals_hold_them():
    rng = np.random.default_rng(5)
    truth, n, held, means = 0.02, 400, [], []
    for _ in range(150):
        shares = np.where(rng.random(n) < truth / 0.5, 0.5, 0.0)
        found = estimate_means((shares + rng.normal(0, 0.1, n))[:, None], np.zeros(n, dtype=int), 1)
        held.append(found.low[0, 0] <= truth <= found.high[0, 0])
        means.append(found.value[0, 0])
    assert np.mean(means) == pytest.approx(truth, abs=0.003)
    assert 0.9 <= np.mean(held) <= 1

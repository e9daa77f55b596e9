"""Filters of any query: which documents are listed and counted, and what a search within them finds."""

import numpy as np
import pytest
from tests.coded import raises
from tests.dated_corpus import draw_rows, open_made
from tests.served_corpus import SUBJECTS

from mixsearch.errors import SearchError
from mixsearch.index import AnswerOptions, Query, describe

ROWS = draw_rows()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


def is_on(subject, rows=ROWS):
    return np.array([f"on {subject}," in row["title"] for row in rows])


def test_a_filter_counts_only_documents_that_match(index):
    early = np.array([row["year"] <= 2018 for row in ROWS])
    whole, narrowed = index.search("judge"), index.search("judge", where="year <= 2018")
    truth = np.count_nonzero(is_on("law") & early)
    assert abs(narrowed.document_count.n - truth) <= 0.1 * truth
    assert narrowed.document_count.n < whole.document_count.n
    holding = sum("judge" in row["text"].split() for row, is_early in zip(ROWS, early, strict=True) if is_early)
    assert narrowed.document_count.n_holding == holding
    assert narrowed.document_count.high <= np.count_nonzero(early)


def test_a_search_within_finds_the_topic_of_these_documents(index):
    topic = index.search("sushi", where="shop = 'Oslo'", within=True)
    assert {word for word, _ in topic.top_words(5)} <= set(SUBJECTS["food"])
    assert all(ROWS[row]["shop"] == "Oslo" for row, _ in topic.documents(20))
    oslo = np.array([row["shop"] == "Oslo" for row in ROWS])
    truth = np.count_nonzero(is_on("food") & oslo)
    assert abs(topic.document_count.n - truth) <= max(0.15 * truth, 3)
    # A rare topic there, though it is frequent in the corpus.
    assert topic.weight < index.search("sushi").weight


def test_a_search_within_all_documents_is_a_search(index):
    whole, within = index.search("judge"), index.search("judge", where="year > 0", within=True)
    assert np.allclose(within.probabilities, whole.probabilities, atol=2e-3)
    assert within.document_count.n == pytest.approx(whole.document_count.n, rel=0.02)


def test_answers_carry_the_columns_of_their_documents(index):
    answer = describe(index.find(Query("judge", words={"judge": 1.0}, where="year = 2017")), AnswerOptions())
    assert (answer.where, answer.within) == ("year = 2017", False)
    assert answer.n_matching == sum(row["year"] == 2017 for row in ROWS)
    for document in answer.documents:
        row = ROWS[document.row]
        assert (document.title, document.link) == (row["title"], row["url"])
        assert document.columns["date"] == row["date"]
        assert document.columns["stars"] == row["stars"]
    (found,) = index.documents([answer.documents[0].row])
    assert found.columns["date"].isoformat() == ROWS[found.row]["date"]


@pytest.mark.parametrize(
    ("where", "code", "fields"),
    [
        ("yeer > 3", "unknown_column", {"column": "yeer", "suggestion": "year"}),
        ("year > 3000", "filter_matches_nothing", {"filter": "year > 3000", "n_documents": len(ROWS)}),
        ("year >", "filter_syntax", {"position": 7}),
    ],
)
def test_a_filter_that_cannot_be_used_is_an_error(index, where, code, fields):
    for within in (False, True):
        with raises(code, **fields):
            index.search("judge", where=where, within=within)


def test_a_search_within_needs_a_filter_and_some_documents(index):
    with pytest.raises(SearchError) as caught:
        index.search("judge", within=True)
    assert caught.value.code == "no_filter"
    with pytest.raises(SearchError) as caught:
        index.search("judge", where="year = 2015 and stars = 1 and shop = 'Oslo'", within=True)
    assert caught.value.code == "too_few_documents"


def test_shares_of_all_documents_tell_what_each_is_about(index):
    shares = index.document_shares([index.search("sushi"), index.search("judge")])
    assert shares.shape == (len(ROWS), 2)
    assert shares.min() >= 0
    assert shares.sum(axis=1).max() <= 1 + 1e-9
    assert np.mean((shares[:, 0] > 0.5) == is_on("food")) > 0.98
    assert np.mean((shares[:, 1] > 0.5) == is_on("law")) > 0.98
    within = index.search("sushi", where="shop = 'Oslo'", within=True)
    assert np.mean((index.document_shares([within])[:, 0] > 0.5) == is_on("food")) > 0.98


def test_marked_documents_outside_of_a_filter_do_not_count_within_it(index):
    food = np.flatnonzero(is_on("food"))
    early, late = (next(row for row in food if (ROWS[row]["year"] <= 2018) == is_early) for is_early in (True, False))
    where = "year <= 2018"
    both = index.search(documents=[early, late], where=where, within=True)
    alone = index.search(documents=[early], where=where, within=True)
    assert np.abs(both.probabilities - alone.probabilities).sum() < 1e-6
    avoided = index.search("sushi", not_documents=[early, late], where=where, within=True)
    assert not {early, late} & {row for row, _ in avoided.documents(500)}
    with raises("filter_excludes_hint"):
        index.search(documents=[late], where=where, within=True)

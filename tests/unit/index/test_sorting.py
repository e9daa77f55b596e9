"""Documents of a topic in the order of a column."""

import pytest
from tests.dated_corpus import draw_rows, open_made

from mixsearch.index import AnswerOptions, Query, describe
from mixsearch.index.description import sort_documents

ROWS = draw_rows()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


def list_rows(index, **options):
    found = index.find(Query("sushi", words={"sushi": 1.0}))
    documents = describe(found, AnswerOptions(n_documents=40, **options)).documents
    return [ROWS[each.row] for each in documents]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("column", ["date", "title"])
def test_documents_about_the_topic_are_sorted(index, column, descending):
    rows = list_rows(index, sort_by=column, descending=descending)
    values = [row[column] for row in rows]
    assert values == sorted(values, reverse=descending)
    assert all(row["title"].startswith("Notes on food") for row in rows)


@pytest.mark.parametrize("descending", [False, True])
def test_missing_values_come_last(index, descending):
    topic = index.search("sushi")
    rows = [ROWS[row] for row, _ in sort_documents(index, topic, "stars", descending=descending)]
    stars = [row["stars"] for row in rows]
    n_known = sum(each is not None for each in stars)
    assert 0 < n_known < len(stars)
    assert stars[:n_known] == sorted(stars[:n_known], reverse=descending)
    assert stars[n_known:] == [None] * (len(stars) - n_known)


def test_equal_values_keep_the_order_of_their_shares(index):
    topic = index.search("sushi")
    shares = dict(sort_documents(index, topic, "stars", descending=True))
    place = {row: i for i, (row, _) in enumerate(topic.documents(len(shares)))}
    for stars in range(1, 6):
        places = [place[row] for row in shares if ROWS[row]["stars"] == stars]
        assert places == sorted(places)

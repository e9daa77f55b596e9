"""Filters and groups of an index that grew: its documents are in segments."""

import numpy as np
import pytest
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

from mixsearch.index import add_documents, open_index

FIRST, MORE = make_reviews(list_subjects(300), 0), make_reviews(["food"] * 60, 1000)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = build_reviews(tmp_path_factory.mktemp("grown"), FIRST)
    add_documents(path, write_reviews(path.parent / "more.parquet", MORE))
    return open_index(path)


def test_groups_count_the_documents_of_all_segments(index):
    found = index.group("sushi", by="shop")
    table = index.columns.table
    for group in found.topics[0].groups:
        assert group.n_documents == table["shop"].to_list().count(group.label)
    assert sum(group.n_about for group in found.topics[0].groups) == index.search("sushi").document_count.n


def test_a_filter_lists_documents_of_the_last_segment(index):
    rows = [row for row, _ in index.search("sushi", where="row >= 300").documents(30)]
    assert rows
    assert min(rows) >= len(FIRST)
    topic = index.search("sushi", where="stars >= 2", within=True)
    stars = dict(zip(index.columns.table["row"].to_list(), index.columns.table["stars"].to_list(), strict=True))
    assert all(stars[row] >= 2 for row, _ in topic.documents(200))
    assert topic.document_count.n == pytest.approx(index.search("sushi", where="stars >= 2").document_count.n, rel=0.2)


def test_a_filter_by_row_matches_the_added_documents(index):
    is_new = index.match("row >= 300")
    assert is_new.sum() == 54
    assert np.flatnonzero(is_new).min() >= len(is_new) - 54


def test_columns_of_few_documents_are_those_of_the_table(index):
    few = open_index(index.path).columns
    for indices in ([3, 310, 3, 0], [len(index.columns.table) - 1], [250, 20, 301]):
        for names in (None, ["shop", "day"]):
            table = index.columns.table if names is None else index.columns.table.select(names)
            assert few.take(np.array(indices), names).equals(table[indices])
    assert "table" not in vars(few)
    selected = few.select(["stars"])
    assert selected["stars"].to_list() == index.columns.table["stars"].to_list()
    assert "shop" not in selected.columns


def test_columns_that_some_documents_do_not_have_are_missing_there(tmp_path):
    path = build_reviews(tmp_path, FIRST)
    more = MORE.append_column("mood", [["good"] * len(MORE)])
    add_documents(path, write_reviews(tmp_path / "more.parquet", more))
    columns = open_index(path).columns
    assert [row.get("mood") for row in columns.list_values(np.array([2, 1]))] == [None, None]
    if "mood" in columns.names:
        assert columns.list_values(np.array([300, 2]))[0]["mood"] == "good"

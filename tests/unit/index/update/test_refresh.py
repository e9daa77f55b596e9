"""A refreshed index is the one that a build from scratch would make of the same documents."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute
from tests.coded import raises
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

from mixsearch.index import IndexOptions, add_documents, build_index, open_index, refresh_index, remove_documents
from mixsearch.text import CorpusOptions

FIRST = make_reviews(list_subjects(300), 0)
SPACE = make_reviews(list_subjects(60, ("space", "food")), 1000)
LAST = make_reviews(list_subjects(30), 2000)


@pytest.fixture
def path(tmp_path):
    folder = build_reviews(tmp_path, FIRST)
    for name, reviews in (("space", SPACE), ("last", LAST)):
        add_documents(folder, write_reviews(tmp_path / f"{name}.parquet", reviews))
    remove_documents(folder, where="stars = 1")
    return folder


def test_a_refreshed_index_equals_one_from_scratch(tmp_path, path):
    rows = open_index(path).topics.kept_rows_
    refresh_index(path)
    whole = pa.concat_tables([FIRST, SPACE, LAST])
    whole = whole.filter(compute.not_equal(whole["stars"], 1))
    ours, theirs = open_index(path), open_index(build_reviews(tmp_path, whole, "scratch"))
    ours.verify()
    assert ours.vocabulary == theirs.vocabulary
    assert ours.n_documents == theirs.n_documents
    assert list(ours.names()) == list(theirs.names())
    assert ours.columns.table.drop("row").equals(theirs.columns.table.drop("row"))
    for word in ("sushi", "judge", "rocket"):
        one, other = ours.search(word), theirs.search(word)
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)
        assert one.weight == pytest.approx(other.weight, abs=1e-6)
        shares = [[share for _, share in each.documents(20)] for each in (one, other)]
        np.testing.assert_allclose(*shares, atol=1e-6)
        names = [
            [index.documents([row])[0].name for row, _ in each.documents(20)]
            for index, each in ((ours, one), (theirs, other))
        ]
        assert names[0] == names[1]
    assert ours.contents().n_short == theirs.contents().n_short
    # A document has the row that it had before, unless it was too short for a topic then.
    assert set(rows.tolist()) <= set(ours.topics.kept_rows_.tolist())
    assert ours.contents().growth.n_added == 0


def test_an_index_without_texts_says_to_build_it_again(tmp_path):
    write_reviews(tmp_path / "r.parquet", FIRST)
    build_index(
        tmp_path / "r.parquet",
        tmp_path / "index",
        IndexOptions(n_components=3),
        CorpusOptions(text="review", keep_texts=False),
    )
    before = open_index(tmp_path / "index").generation
    with raises("cannot_refresh"):
        refresh_index(tmp_path / "index")
    assert open_index(tmp_path / "index").generation == before


def test_options_of_the_build_are_those_of_the_refresh(tmp_path):
    write_reviews(tmp_path / "r.parquet", FIRST)
    reading = CorpusOptions(text="review", id="review_id", min_df=3, max_df=0.9, keep=["stars"])
    options = IndexOptions(n_components="auto", search={"alpha0": 0.5, "damping": False})
    build_index(tmp_path / "r.parquet", tmp_path / "index", options, reading)
    before = open_index(tmp_path / "index")
    refresh_index(tmp_path / "index")
    after = open_index(tmp_path / "index")
    assert after.vocabulary == before.vocabulary
    assert after.topics.get_params() == before.topics.get_params()
    assert after.reading == before.reading
    assert after.columns.names == ["row", "id", "stars"]
    np.testing.assert_allclose(after.search("sushi").probabilities, before.search("sushi").probabilities, atol=1e-6)

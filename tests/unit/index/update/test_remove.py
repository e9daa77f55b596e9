"""Documents that are removed leave no trace in counts, lists, texts and columns."""

import numpy as np
import pytest
from tests.coded import raises
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

from mixsearch.errors import collect_warnings
from mixsearch.index import add_documents, open_index, remove_documents
from mixsearch.topics.update import measure_documents_in, sum_corpus

FIRST, MORE = make_reviews(list_subjects(300), 0), make_reviews(list_subjects(40), 1000)


@pytest.fixture
def path(tmp_path):
    """An index of two segments."""
    folder = build_reviews(tmp_path, FIRST)
    add_documents(folder, write_reviews(tmp_path / "more.parquet", MORE))
    return folder


def read_everything(path):
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


def test_documents_of_a_condition_are_gone(path):
    removed = remove_documents(path, where='stars <= 2 and shop = "Oslo"')
    index = open_index(path)
    index.verify()
    table = index.columns.table
    assert len(table) == index.n_documents == removed.n_all
    assert not [
        1
        for stars, shop in zip(table["stars"].to_list(), table["shop"].to_list(), strict=True)
        if stars <= 2 and shop == "Oslo"
    ]
    assert table["id"].to_list() == list(index.names())
    texts = dict(zip(FIRST["review_id"].to_pylist(), FIRST["review"].to_pylist(), strict=True))
    for document in index.documents(index.topics.kept_rows_.tolist()):
        assert document.text == texts.get(document.name, document.text)


def test_sums_and_weights_are_those_of_the_documents_that_are_left(path):
    remove_documents(path, where="stars = 3")
    search = open_index(path).topics
    documents = search._family.chunks.collect().chunk
    brute = measure_documents_in(search, documents.by_document, documents.rows)
    for stored, expected in zip(sum_corpus(search), brute.sums, strict=True):
        np.testing.assert_allclose(stored, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(documents.pair_weights, brute.chunk.pair_weights, rtol=1e-9)
    by_word = documents.by_word.toarray()
    np.testing.assert_array_equal(by_word, documents.by_document.toarray())


def test_ids_and_rows_name_documents_also_those_that_are_too_short(path):
    assert remove_documents(path, ids=["r0", "r9", "r1003"]).n_documents == 3
    index = open_index(path)
    assert not {"r0", "r1003"} & set(index.names())
    assert remove_documents(path, rows=[1, 300]).n_documents == 2
    index = open_index(path)
    assert not {"r1", "r1000"} & set(index.names())
    with raises("unknown_row", row=1):
        index.documents([1])
    assert index.documents([2])[0].name == "r2"


def test_no_byte_of_a_removed_document_stays_on_disk(tmp_path):
    reviews = make_reviews(list_subjects(100), 0)
    texts = reviews["review"].to_pylist()
    texts[3] = "xylophone " * 40  # of no compressed block with other texts, if it is removed
    path = build_reviews(tmp_path, reviews.set_column(1, "review", [texts]))
    remove_documents(path, ids=["r3"])
    index = open_index(path)
    assert "r3" not in set(index.names())
    assert b"xylophone" not in read_everything(path)


def test_nothing_is_removed_if_nothing_matches_or_nothing_would_be_left(path):
    before = open_index(path).generation
    with raises("nothing_to_remove"):
        remove_documents(path, where="stars > 100")
    with raises("too_few_documents"):
        remove_documents(path, where="stars > 0")
    with raises("one_selection_needed", given="where and rows"):
        remove_documents(path, where="stars > 0", rows=[1])
    with raises("one_selection_needed", given="none"):
        remove_documents(path)
    assert open_index(path).generation == before


def test_a_topic_is_described_though_some_of_its_words_are_gone(tmp_path):
    """Sums of words that no document contains any more are zero, not rounding of either sign."""
    reviews = make_reviews(list_subjects(300) + ["space"] * 30, 0)
    path = build_reviews(tmp_path, reviews)
    remove_documents(path, rows=list(range(300, 330)))
    index = open_index(path)
    gone = [index.vocabulary.index(word) for word in ("rocket", "comet") if index.has_feature(word)]
    assert gone
    family = index.topics._family
    assert not family.word_mean[gone].any()
    assert (family.word_mean >= 0).all()
    with collect_warnings():
        for word in ("sushi", "goal", "judge"):
            topic = index.search(word, refine=False)
            assert np.isfinite([probability for _, probability in topic.top_words(10)]).all()
            assert topic.related_words(5)


def test_short_documents_outlive_their_segment_and_are_not_overwritten(path, tmp_path):
    """The short documents of the second segment are there when all its others are gone, and more are added."""
    before = set(open_index(path).short_names())
    assert {"r1009", "r1039"} <= before
    remove_documents(path, rows=[row for row in range(300, 340) if (row - 300) % 10 != 9])
    assert set(open_index(path).short_names()) == before
    for first in (2000, 3000):
        more = make_reviews(list_subjects(20), first)
        add_documents(path, write_reviews(tmp_path / f"{first}.parquet", more))
    index = open_index(path)
    index.verify()
    assert set(index.short_names()) == before | {"r2009", "r2019", "r3009", "r3019"}


def test_ids_and_rows_that_the_index_lacks_are_noted(path):
    first, second = list(open_index(path).names())[:2]
    (note,) = remove_documents(path, ids=[first, "nobody"]).notes
    assert (note.code, note.fields) == ("unknown_ids", {"n_unknown": 1, "listed": "nobody"})
    (note,) = remove_documents(path, ids=[second, *(f"nobody{i}" for i in range(7))]).notes
    listed = "nobody0, nobody1, nobody2, nobody3, nobody4 and 2 more"
    assert (note.code, note.fields) == ("unknown_ids", {"n_unknown": 7, "listed": listed})
    row = int(open_index(path).topics.kept_rows_[0])
    (note,) = remove_documents(path, rows=[row, 10**6]).notes
    assert (note.code, note.fields) == ("unknown_rows", {"n_unknown": 1, "listed": "1000000"})
    assert remove_documents(path, rows=open_index(path).topics.kept_rows_[:1]).notes == ()
    assert remove_documents(path, ids=list(open_index(path).short_names())[:1]).notes == ()

"""Documents that are added to an index are searched, listed and counted with those that it had."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from tests.coded import raises, warns
from tests.unit.index.update.grown_index import (
    OPTIONS,
    READING,
    build_reviews,
    list_subjects,
    make_reviews,
    write_reviews,
)

from mixsearch.errors import BusyFolderError, collect_warnings
from mixsearch.index import add_documents, build_index, open_index, remove_documents
from mixsearch.io.folder import update_folder
from mixsearch.text import CorpusOptions
from mixsearch.topics.update import measure_documents_in, sum_corpus

FIRST, MORE = make_reviews(list_subjects(300), 0), make_reviews(list_subjects(40), 1000)


@pytest.fixture
def path(tmp_path):
    return build_reviews(tmp_path, FIRST)


def add(path, reviews, name="more", **options):
    return add_documents(path, write_reviews(path.parent / f"{name}.parquet", reviews), **options)


def test_added_documents_are_part_of_the_corpus(path):
    before = open_index(path)
    added = add(path, MORE)
    assert (added.n_documents, added.n_short, added.n_all) == (36, 4, 306)
    index = open_index(path)
    index.verify()
    assert index.n_documents == before.n_documents + 36
    assert len(index.columns.table) == index.n_documents
    rows = [row for row, _ in index.search("sushi").documents(306)]
    assert {row for row in rows if row >= 300}
    document = index.documents([300])[0]
    assert (document.name, document.text) == ("r1000", MORE["review"][0].as_py())
    assert list(index.names())[-1] == "r1038"
    assert index.document_frequency("sushi") > before.document_frequency("sushi")
    assert index.columns.table["id"].to_list() == list(index.names())


def test_sums_and_weights_are_those_of_all_documents(path):
    add(path, MORE)
    add(path, make_reviews(list_subjects(20), 2000), "most")
    search = open_index(path).topics
    documents = search._family.chunks.collect().chunk
    brute = measure_documents_in(search, documents.by_document, documents.rows)
    for stored, expected in zip(sum_corpus(search), brute.sums, strict=True):
        np.testing.assert_allclose(stored, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(documents.pair_weights, brute.chunk.pair_weights, rtol=1e-9)
    np.testing.assert_allclose(documents.projected, brute.chunk.projected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(documents.tfidf_lengths, brute.chunk.tfidf_lengths, rtol=1e-9)


def test_many_additions_make_few_segments_and_lose_nothing(path):
    reviews = [FIRST]
    for i in range(10):
        reviews.append(make_reviews(list_subjects(10), 1000 * (i + 1)))
        add(path, reviews[-1], f"more-{i}")
    index = open_index(path)
    index.verify()
    assert len(index.topics._family.segments) <= 5
    ids = pa.concat_tables(reviews)["review_id"].to_pylist()
    is_long = [i % 10 != 9 for part in reviews for i in range(len(part))]
    assert list(index.names()) == [each for each, keep in zip(ids, is_long, strict=True) if keep]
    texts = dict(zip(ids, pa.concat_tables(reviews)["review"].to_pylist(), strict=True))
    documents = index.documents(index.topics.kept_rows_.tolist())
    assert all(document.text == texts[document.name] for document in documents)
    stars = dict(zip(ids, pa.concat_tables(reviews)["stars"].to_pylist(), strict=True))
    assert index.columns.table["stars"].to_list() == [stars[name] for name in index.names()]


def test_words_that_come_with_added_documents_are_answered_from_those(path):
    added = add(path, make_reviews(list_subjects(30, ("space",)), 5000))
    assert added.growth.new_words > 0.5
    assert added.growth.needs_refresh
    index = open_index(path)
    with collect_warnings():
        topic = index.search("rocket")
    assert "word_added" in {warning.code for warning in topic.warnings}
    assert index.document_frequency("rocket") > 10
    with warns("skipped_words"):
        index.search(["sushi", "rocket"])


def test_a_topic_outside_the_frame_is_measured(tmp_path):
    """Words of a fourth topic are features, but too rare for the fit to have a direction for them."""
    few = make_reviews(list_subjects(297) + ["space"] * 3, 0)
    path = build_reviews(tmp_path, few)
    assert open_index(path).has_feature("rocket")
    like = add(path, make_reviews(list_subjects(120), 1000), "like").growth.outside
    unlike = add(path, make_reviews(["space"] * 120, 2000), "unlike").growth
    assert like < 0.5
    assert unlike.outside > 1
    assert unlike.needs_refresh


@pytest.mark.parametrize(("existing", "n_documents", "stars"), [("skip", 270, None), ("replace", 270, 9)])
def test_documents_that_the_index_has_are_skipped_or_replaced(path, existing, n_documents, stars):
    again = FIRST.slice(0, 4).set_column(2, "stars", pa.array([9, 9, 9, 9]))
    added = add(path, again, existing=existing)
    index = open_index(path)
    index.verify()
    assert index.n_documents == n_documents
    assert sorted(index.names()) == sorted(name for i, name in enumerate(FIRST["review_id"].to_pylist()) if i % 10 != 9)
    found = dict(zip(index.names(), index.columns.table["stars"].to_list(), strict=True))
    assert found["r2"] == (stars or FIRST["stars"][2].as_py())
    assert (added.n_skipped, added.n_replaced) == ((4, 0) if existing == "skip" else (0, 4))


def test_documents_that_the_index_has_are_an_error_by_default(path):
    before = open_index(path).generation
    with raises("documents_exist", n_existing=4, name="r0"):
        add(path, FIRST.slice(0, 4))
    assert open_index(path).generation == before


def test_a_column_of_another_type_is_refused_and_new_columns_are_missing_before(path):
    with raises("column_type_changed", column="stars", found="text", known="integer"):
        add(path, MORE.set_column(2, "stars", pa.array(["many"] * len(MORE))), reading=CorpusOptions(keep=["stars"]))
    assert open_index(path).n_documents == 270
    priced = MORE.append_column("price", pa.array([2.5] * len(MORE)))
    add(path, priced.slice(0, 10))
    assert "price" not in open_index(path).columns.names
    add(path, priced.slice(10), reading=CorpusOptions(text="review", id="review_id", keep=["stars", "day", "price"]))
    index = open_index(path)
    assert index.columns.table["price"].to_list() == [None] * 279 + [2.5] * 27
    assert index.columns.table["shop"].to_list()[-27:] == [None] * 27
    assert [column.name for column in index.columns.described] == ["id", "stars", "day", "shop", "price"]


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table,
        lambda table: table.to_pandas().set_index("review_id"),
        lambda table: table.to_reader(),  # which can be read once
        lambda table: pl.from_arrow(table),
    ],
    ids=["Arrow", "pandas", "stream", "Polars"],
)
def test_tables_in_memory_are_added_with_their_columns(path, convert):
    assert add_documents(path, convert(MORE)).n_documents == 36
    index = open_index(path)
    documents = [i for i in range(len(MORE)) if i % 10 != 9]
    for name, source in (("id", "review_id"), ("stars", "stars"), ("day", "day"), ("shop", "shop")):
        assert index.columns.table[name].to_list()[-36:] == MORE[source].take(documents).to_pylist()


def test_a_reader_keeps_what_it_opened(path):
    reader = open_index(path)
    before = reader.search("sushi").documents(5)
    add(path, MORE)
    assert reader.search("sushi").documents(5) == before
    assert reader.n_documents == 270
    assert reader.documents([0])[0].name == "r0"


def test_two_writers_exclude_each_other(path):
    with update_folder(path), pytest.raises(BusyFolderError):
        add(path, MORE)


def test_characters_are_those_of_the_texts_that_are_there(path):
    def count():
        folder = open_index(path)._folder
        groups = {name.rpartition("/")[0] for name in folder.manifest.files}
        return sum(len(text) for group in groups if group.endswith("texts") for text in folder.texts(group))

    add(path, MORE)
    assert open_index(path).contents().n_characters == count()
    assert add(path, MORE, "again", existing="skip").n_skipped == 40
    assert open_index(path).contents().n_characters == count()
    remove_documents(path, rows=[0, 1, 300, 301])
    assert open_index(path).contents().n_characters == count()
    replaced = add(path, MORE.slice(4, 8), "once-more", existing="replace")
    assert (replaced.n_documents, replaced.n_short, replaced.n_replaced) == (7, 1, 8)
    index = open_index(path)
    index.verify()
    assert index.contents().n_characters == count()
    assert index.contents().n_short == 34
    remove_documents(path, rows=list(range(300, 500)))
    assert open_index(path).contents().n_characters == count()


def test_an_id_of_several_documents_is_noted_and_stands_for_all_of_them(tmp_path):
    """The ids of documents 0 and 1 are those of 20 and 21; 9 and 29 share theirs too, but are too short."""
    ids = FIRST["review_id"].to_pylist()
    ids[20], ids[21], ids[29] = ids[0], ids[1], ids[9]
    repeated = FIRST.set_column(0, "review_id", pa.array(ids))
    built = build_index(write_reviews(tmp_path / "twice.parquet", repeated), tmp_path / "twice", OPTIONS, READING)
    (note,) = [note for note in built.notes if note.code == "repeated_ids"]
    assert (note.fields["n_ids"], note.fields["n_documents"], note.fields["ids"]) == (2, 4, ["r0", "r1"])
    replacing = MORE.slice(0, 1).set_column(0, "review_id", pa.array(["r0"]))
    assert add(tmp_path / "twice", replacing, existing="replace").n_replaced == 2
    assert list(open_index(tmp_path / "twice").names()).count("r0") == 1
    assert remove_documents(tmp_path / "twice", ids=["r1"]).n_documents == 2

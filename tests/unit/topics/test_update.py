"""An index that grows and shrinks answers as one of the same documents does, and is never left half written."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import compute
from tests.coded import raises
from tests.unit.topics.grown_index import (
    OPTIONS,
    build_reviews,
    list_subjects,
    make_reviews,
    write_reviews,
)

from mixsearch.text import CorpusOptions
from mixsearch.text.count import count_texts
from mixsearch.topics.build import build_index
from mixsearch.topics.fitted_corpus import place_documents
from mixsearch.topics.index import open_index
from mixsearch.topics.update import add_documents, refresh_index, remove_documents

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")
FIRST, MORE = make_reviews(list_subjects(300), 0), make_reviews(list_subjects(40), 1000)
SPACE = make_reviews(list_subjects(60, ("space", "food")), 2000)


@pytest.fixture
def path(tmp_path):
    return build_reviews(tmp_path, FIRST)


def add(path, reviews, name="more", **options):
    return add_documents(path, write_reviews(path.parent / f"{name}.parquet", reviews), **options)


def open_checked(path):
    return open_index(path, verify=True)


def count_dense(texts, words):
    """Counts of words in texts, split at blanks, (n, D)."""
    return np.array([[text.split().count(word) for word in words] for text in texts])


def assert_holds(index, reviews):
    """Every document of the index has the text, name, columns and counts of the reviews, in their order."""
    texts = reviews["review"].to_pylist()
    documents = index.documents(index.corpus.rows)
    assert [document.text for document in documents] == texts
    assert [document.name for document in documents] == reviews["review_id"].to_pylist()
    for name in ("stars", "day", "shop"):
        assert [document.columns[name] for document in documents] == reviews[name].to_pylist()
        assert index.columns.table[name].to_list() == reviews[name].to_pylist()
    words, counts = list(index.corpus.words), []
    for column in range(len(words)):
        dense = np.zeros(index.n_documents)
        found, values = index.corpus.find_documents(column)
        dense[found] = values
        counts.append(dense)
    expected = np.log2(1 + count_dense(texts, words))
    np.testing.assert_allclose(np.stack(counts, axis=1), expected, atol=1e-5)
    features = sp.csr_array(expected[:, : index.corpus.n_features].astype(np.float32))
    placed = place_documents(index.corpus.frame, features)
    coordinates = index.corpus.take_coordinates(np.arange(index.n_documents))
    np.testing.assert_allclose(coordinates[0], placed.coordinates, atol=1e-4)


def test_an_index_that_grows_holds_the_documents_of_one_of_all_at_once(path):
    reviews = [FIRST]
    for i in range(6):
        reviews.append(make_reviews(list_subjects(10, ("food", "space")), 1000 * (i + 1)))
        add(path, reviews[-1], f"more-{i}")
    index = open_checked(path)
    assert_holds(index, pa.concat_tables(reviews))
    assert len(index.corpus.segments) <= 4
    assert index.document_frequency("rocket") > 10
    assert index.search("rocket").n_containing == index.document_frequency("rocket")
    assert any(row >= 300 for row, _ in index.search("sushi").documents(50))


def test_documents_that_are_removed_are_gone(path):
    add(path, MORE)
    whole = pa.concat_tables([FIRST, MORE])
    left = compute.not_equal(whole["stars"], 1)
    removed = remove_documents(path, where="stars = 1")
    assert removed.n_documents == len(whole) - compute.sum(left).as_py()
    index = open_checked(path)
    assert_holds(index, whole.filter(left))
    assert set(index.corpus.rows) == set(np.flatnonzero(left.to_numpy()))
    gone = int(np.flatnonzero(~left.to_numpy())[0])
    with raises("unknown_row", row=gone):
        index.documents([gone])


def test_ids_that_the_index_does_not_have_are_noted(path):
    (note,) = remove_documents(path, ids=["r0", "nobody"]).notes
    assert (note.code, note.fields["listed"]) == ("unknown_ids", "nobody")
    remove_documents(path, where="row in (0, 1, 999)")
    with raises("nothing_to_remove"):
        remove_documents(path, ids=["r0"])
    with raises("one_selection_needed"):
        remove_documents(path)
    with raises("too_few_documents"):
        remove_documents(path, where="stars > 0")
    assert open_checked(path).n_documents == 298


def test_all_documents_of_the_fit_can_be_removed(path):
    add(path, MORE)
    remove_documents(path, where="row < 300")
    assert_holds(open_checked(path), MORE)
    add(path, SPACE, "space")
    assert_holds(open_checked(path), pa.concat_tables([MORE, SPACE]))


@pytest.mark.parametrize(("existing", "stars"), [("skip", None), ("replace", 9)])
def test_documents_that_the_index_has_are_skipped_or_replaced(path, existing, stars):
    again = pa.concat_tables([FIRST.slice(0, 4), MORE.slice(0, 2)]).set_column(2, "stars", pa.array([9] * 6))
    added = add(path, again, existing=existing)
    assert (added.n_documents, added.n_skipped, added.n_replaced) == ((2, 4, 0) if stars is None else (6, 0, 4))
    index = open_checked(path)
    assert index.n_documents == 302
    names = FIRST["review_id"].to_pylist()
    if stars is None:
        assert index.columns.read_names().to_list() == [*names, "r1000", "r1001"]
    else:
        assert_holds(index, pa.concat_tables([FIRST.slice(4), again]))
    before = index.generation
    with raises("documents_exist", n_existing=4, name="r0"):
        add(path, FIRST.slice(0, 4), "again")
    assert open_index(path).generation == before


def test_a_column_of_another_type_is_refused_and_new_columns_are_missing_before(path):
    with raises("column_type_changed", column="stars", found="text", stored="integer"):
        add(path, MORE.set_column(2, "stars", pa.array(["many"] * len(MORE))), reading=CorpusOptions(keep=["stars"]))
    priced = MORE.append_column("price", pa.array([2.5] * len(MORE)))
    add(path, priced.slice(0, 10))
    assert "price" not in open_index(path).columns.names
    add(path, priced.slice(10), reading=CorpusOptions(text="review", id="review_id", keep=["stars", "day", "price"]))
    index = open_checked(path)
    assert index.columns.table["price"].to_list() == [None] * 310 + [2.5] * 30
    assert index.columns.table["shop"].to_list()[-30:] == [None] * 30
    remove_documents(path, where="price > 0")
    assert open_checked(path).columns.take(np.array([3]), ["price"])["price"].to_list() == [None]


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table.to_pandas().set_index("review_id"),
        lambda table: table.to_reader(),  # which can be read once
        lambda table: pl.Series(table["review"].to_pylist()),  # without names and columns
    ],
    ids=["pandas", "stream", "texts"],
)
def test_documents_in_memory_are_added(path, convert):
    source = convert(MORE)
    assert add_documents(path, source).n_documents == 40
    index = open_checked(path)
    if isinstance(source, pl.Series):
        assert index.columns.read_names().to_list()[-40:] == [""] * 40
        assert index.columns.table["stars"].to_list()[-40:] == [None] * 40
        assert index.documents([339])[0].text == MORE["review"][39].as_py()
    else:
        assert_holds(index, pa.concat_tables([FIRST, MORE]))


def test_a_refreshed_index_is_the_one_of_its_documents_from_scratch(path, tmp_path):
    add(path, SPACE, "space")
    remove_documents(path, where="stars = 1")
    rows = open_index(path).corpus.rows
    refresh_index(path)
    whole = pa.concat_tables([FIRST, SPACE])
    whole = whole.filter(compute.not_equal(whole["stars"], 1))
    ours, theirs = open_checked(path), open_index(build_reviews(tmp_path, whole, "scratch"))
    assert_holds(ours, whole)
    assert np.array_equal(ours.corpus.rows, rows)
    assert list(ours.corpus.words) == list(theirs.corpus.words)
    np.testing.assert_allclose(ours.corpus.frame.values, theirs.corpus.frame.values, rtol=1e-4)
    one, other = ours.search("rocket"), theirs.search("rocket")
    np.testing.assert_allclose(one.membership(), other.membership(), atol=1e-3)
    assert ours.contents().growth.n_added == 0
    add(path, MORE)
    assert open_index(path).documents([360])[0].name == "r1000"


def test_documents_like_those_of_the_fit_need_no_refit_and_new_words_do(path):
    assert add(path, MORE).growth.reason is None
    growth = add(path, make_reviews(["space"] * 30, 5000), "space").growth
    assert growth.reason == "new_words"


def test_copies_are_counted_within_what_was_added_together(tmp_path):
    texts = [" ".join(f"w{i}x{j}" for j in range(30)) for i in range(5)]
    table = pl.DataFrame({"text": texts + texts[:2]})
    built = build_index(table, tmp_path / "index", OPTIONS, CorpusOptions(min_df=1, max_df=1.0, text="text"))
    with count_texts(pl.Series(texts + texts[:2])) as corpus:
        assert np.array_equal(open_index(built.path).corpus.copy_of, corpus.copy_of)
    remove_documents(built.path, where="row = 0")
    assert open_checked(built.path).corpus.copy_of.tolist() == [0, 1, 2, 3, 4, 0]
    add_documents(built.path, pl.DataFrame({"text": [texts[4], texts[4]]}))
    assert open_checked(built.path).corpus.copy_of.tolist() == [0, 1, 2, 3, 4, 0, 6, 6]


def test_a_text_is_a_hint_after_the_index_has_grown(path):
    add(path, SPACE, "space")
    best = [row for row, _ in open_index(path).search(text="Rice, and sushi with tuna!").documents(40)]
    assert sum(row % 3 == 0 for row in best if row < 300) > 0.9 * sum(row < 300 for row in best)

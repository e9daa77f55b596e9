"""An index holds its documents as they were read, and finds what a search in memory finds."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from tests.coded import raises, warns
from tests.every_word import every_word
from tests.unit.topics.grown_index import OPTIONS, READING, build_reviews, list_subjects, make_reviews

from mixsearch.errors import collect_warnings
from mixsearch.text import CorpusOptions
from mixsearch.text.count import count_texts
from mixsearch.topics.answers import Question, answer_questions
from mixsearch.topics.build import IndexOptions, build_index
from mixsearch.topics.fitted_corpus import FittedCorpus
from mixsearch.topics.hint import Hint, Vocabulary, find_terms, read_words
from mixsearch.topics.index import open_index
from mixsearch.topics.search import find_topic

# Planted topics are small, and some of their words are everywhere.
pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")
REVIEWS = make_reviews(list_subjects(300), 0)
TEXTS = pl.Series(REVIEWS["review"].to_pylist())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_index(build_reviews(tmp_path_factory.mktemp("reviews"), REVIEWS))


def test_an_index_is_the_corpus_in_memory_and_finds_what_that_finds(index):
    with count_texts(TEXTS, CorpusOptions(**vars(READING) | {"text": None, "id": None})) as corpus:
        counts = sp.vstack([chunk.counts for chunk in corpus.chunks()], "csr")
        fitted = FittedCorpus.fit(
            counts, corpus.words, n_components=3, n_features=corpus.n_features, copy_of=corpus.copy_of
        )
    assert index.corpus.words[: index.corpus.n_features] == corpus.vocabulary
    for name in ("idf", "mean", "deviation", "values"):
        np.testing.assert_allclose(getattr(index.corpus.frame, name), getattr(fitted.frame, name), rtol=1e-4, atol=1e-6)
    frequency = zip(corpus.words, fitted.document_frequency.tolist(), strict=True)
    assert dict(zip(index.corpus.words, index.corpus.document_frequency.tolist(), strict=True)) == {
        word: n for i, (word, n) in enumerate(frequency) if n >= 2 or i < corpus.n_features
    }
    for word in ("sushi", "judge", "goal"):
        terms, _ = find_terms(read_words(word), Vocabulary(corpus.words, fitted.document_frequency))
        ours, theirs = index.search(word), find_topic(fitted, Hint(terms))
        best = [{row for row, _ in topic.documents(50)} for topic in (ours, theirs)]
        assert len(best[0] & best[1]) >= 48  # eigenvectors are exact to a hundredth
        np.testing.assert_allclose(ours.membership(), theirs.membership(), atol=0.02)


def test_documents_come_with_names_texts_and_columns(index):
    for row in (0, 9, 299):
        document = index.documents([row])[0]
        assert (document.row, document.name, document.text) == (row, f"r{row}", TEXTS[row])
        assert document.columns == {name: REVIEWS[name][row].as_py() for name in ("stars", "day", "shop")}
    assert index.columns.names == ["row", "id", "stars", "day", "shop"]
    assert [column.name for column in index.columns.stored] == ["stars", "day", "shop"]
    assert index.columns.table["stars"].to_list() == REVIEWS["stars"].to_pylist()
    several = index.columns.take([7, 3], ["shop", "row"])
    assert several.rows() == [(REVIEWS["shop"][7].as_py(), 7), (REVIEWS["shop"][3].as_py(), 3)]


def test_a_filter_lists_and_counts_only_documents_that_match(index):
    mask = index.columns.match("stars >= 4 and shop = 'Oslo'")
    expected = [
        s >= 4 and shop == "Oslo"
        for s, shop in zip(REVIEWS["stars"].to_pylist(), REVIEWS["shop"].to_pylist(), strict=True)
    ]
    assert np.array_equal(mask, expected)
    topic, narrowed = index.search("sushi"), index.search("sushi", where="stars >= 4 and shop = 'Oslo'")
    assert narrowed.n_members == pytest.approx(topic.membership()[mask].sum())
    assert {row for row, _ in narrowed.documents(300)} == set(np.flatnonzero(mask).tolist())
    with raises("unknown_column", column="starz"):
        index.search("sushi", where="starz > 3")
    with raises("filter_matches_nothing", n_documents=300):
        index.search("sushi", where="stars > 9")


def test_texts_and_documents_are_hints(index):
    food = [i for i in range(300) if i % 3 == 0]
    for hint in ({"text": "Sushi, rice and ramen with tuna."}, {"documents": [0, 3, 6]}):
        best = [row for row, _ in index.search(**hint).documents(30)]
        assert len(set(best) & set(food)) > 25
    assert 0 not in [row for row, _ in index.search("sushi", not_documents=[0]).documents(100)]
    with raises("contradicting_documents"):
        index.search(documents=[1, 2], not_documents=[2])
    with raises("unknown_row", row=300):
        index.search(documents=[300])
    with raises("one_hint_needed"):
        index.search()


def test_several_hints_are_searched_at_once(index):
    found = answer_questions(index, [Question("food", documents=(0, 3)), Question("sport", documents=(1, 4))])
    assert [answer.topic.documents(1)[0][0] % 3 for answer in found] == [0, 1]


def test_contents_describe_the_index(index):
    contents = index.contents()
    assert (contents.n_documents, contents.n_components) == (300, 3)
    assert contents.n_bytes == sum(file.size for file in index.folder.manifest.files.values())
    assert contents.as_dict()["growth"]["reason"] is None
    json.dumps(contents.as_dict())


STRANGE = {
    "one document": ["sushi rice sushi tuna"],
    "empty documents": ["sushi rice tuna", "", "goal team", None, "   ", "sushi goal"],
    "a long document": ["sushi rice " * 100_000, "goal team match", "sushi goal"],
    "one word": ["sushi"] * 5,
    "any script": ["寿司を食べる 猫", "猫 と 寿司", "γάτα και ψάρι", "γάτα"],
}


@pytest.mark.parametrize("texts", STRANGE.values(), ids=STRANGE)
def test_strange_documents_are_part_of_the_corpus(texts, tmp_path):
    built = build_index(pl.Series(texts), tmp_path / "index", IndexOptions(n_components=2), every_word())
    index = open_index(built.path)
    assert (built.n_documents, index.n_documents) == (len(texts), len(texts))
    assert [document.text for document in index.documents(range(len(texts)))] == [text or "" for text in texts]
    assert built.n_empty == sum(not (text or "").strip() for text in texts)
    with collect_warnings():
        topic = index.search(index.corpus.words[0])
    assert len(topic.documents(100)) == len(texts)
    assert np.isfinite(topic.membership()).all()


def test_names_of_any_kind_are_kept_and_repeated_ones_are_noted(tmp_path):
    names = ["ключ 🗝", "", "a/b", "x", "x", "y" * 5_000]
    table = pl.DataFrame(
        {
            "text": ["sushi rice", "goal team", "rice tuna", "team goal", "sushi", "goal"],
            "name of it": names,
            "row": range(6),
            "id": list("abcdef"),
        }
    )
    built = build_index(
        table,
        tmp_path / "index",
        IndexOptions(n_components=2),
        every_word(text="text", id="name of it", keep=["row", "id"]),
    )
    (note,) = [note for note in built.notes if note.code == "repeated_ids"]
    assert (note.fields["n_ids"], note.fields["n_documents"], note.fields["ids"]) == (1, 2, ["x"])
    index = open_index(tmp_path / "index")
    assert index.columns.read_names().to_list() == names
    assert index.columns.names == ["row", "id", "row (2)", "id (2)"]
    assert index.documents([2])[0].columns == {"row (2)": 2, "id (2)": "c"}


def test_words_that_are_not_features_are_found_if_two_documents_have_them(tmp_path):
    texts = ["the sushi", "the tuna", "the goal rare", "the team rare", "the once"] * 10
    texts[4] = "the once only"
    options = CorpusOptions(min_df=5, max_df=0.9, stop_words=["the"], phrases=False)
    index = open_index(
        build_index(pl.Series([*texts, "zebra tuna", "sushi zebra"]), tmp_path / "index", OPTIONS, options).path
    )
    assert index.document_frequency("the") == 50
    assert index.document_frequency("zebra") == 2
    assert index.document_frequency("only") == 0
    with warns("rare_hint", n_documents=2):
        assert index.search("zebra").n_containing == 2


def test_options_and_paths_that_cannot_be_are_refused(tmp_path):
    with raises("bad_argument", argument="n_components", value=0):
        IndexOptions(n_components=0)
    with raises("path_is_url"):
        build_index(TEXTS, "s3://bucket/index")
    with raises("no_words"):
        build_index(pl.Series(["", " "]), tmp_path / "index")
    assert not (tmp_path / "index").exists()

"""Completions, spelling, words to start with, and what an overview lists."""

import numpy as np
import polars as pl
import pytest
from tests.every_word import every_word

from mixsearch.errors import UnknownWordError
from mixsearch.topics.build import IndexOptions, build_index
from mixsearch.topics.completion import CorpusWord, complete_word, split_query
from mixsearch.topics.index import open_index
from mixsearch.topics.overview import embed_in_plane, list_topics, place_in_plane

pytestmark = pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")
SUBJECTS = [[f"{i}{name}" for i in "abcdefghijklmnopqrst"] for name in ("food", "sport", "law", "space")]
SIZES = (300, 200, 100, 40)
COMMON = ["the", "and", "was"]
# How many documents contain each of these words besides.
PLANTED = {"burgers": 60, "burgage": 150, "burner": 40, "bus": 20, "super": 30}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = np.random.default_rng(0)
    texts = [
        [*rng.choice(words, 12), *rng.choice(COMMON, 6), *(["New", "York"] if i % 20 == 0 else [])]
        for words, size in zip(SUBJECTS, SIZES, strict=True)
        for i in range(size)
    ]
    for word, n in PLANTED.items():
        for i in rng.choice(len(texts), n, replace=False):
            texts[i].append(word)
    source = pl.Series([" ".join(words) for words in texts])
    options = every_word(phrases=True)
    return open_index(build_index(source, tmp_path_factory.mktemp("words") / "index", IndexOptions(), options).path)


def test_completions_are_sorted_by_documents():
    words = pl.Series(["sun", "sushi", "super", "sum", "table", "sunk"])
    counts = np.array([3, 9, 1, 9, 20, 0])
    assert complete_word(words, counts, "su", 3) == [CorpusWord("sushi", 9), CorpusWord("sum", 9), CorpusWord("sun", 3)]
    assert complete_word(words, counts, "sunk", 3) == complete_word(words, counts, "x", 3) == []


def test_the_last_word_of_a_query_becomes_the_most_frequent_one_with_that_prefix(index):
    assert index.complete_query("afood -burg") == "afood -burgage"
    assert index.complete_query('"soup Bu') == '"soup burgage"'
    assert index.complete_query("burgers") == "burgers"
    assert index.complete_query("xyz") == "xyz"


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("sushi -bur", ("sushi -", "bur")),
        ("sushi ", ("sushi ", "")),
        ("bur^", ("", "bur")),
        ('"new yo', ('"new ', "yo")),
        ('"well -kno', ('"well ', "-kno")),
        ("", ("", "")),
    ],
)
def test_a_query_is_split_before_the_word_that_is_typed(query, parts):
    assert split_query(query) == parts


def test_words_are_spelled_as_in_the_texts(index):
    assert index.document_frequency("BURGERS") == 60
    assert index.document_frequency("burger") == 0
    assert index.spell("New-York") == "new york"
    with pytest.raises(UnknownWordError) as caught:
        index.search("burgars")
    assert caught.value.suggestions[0] == "burgers"


def test_starters_are_of_different_topics_and_not_of_the_language(index):
    starters = index.starters(5)
    of = [next((i for i, words in enumerate(SUBJECTS) if each.word in words), -1) for each in starters]
    assert set(of) >= {0, 1, 2, 3}
    assert len(set(of)) == len(of)
    for starter in starters:
        assert starter.n_documents == index.document_frequency(starter.word)


def test_an_overview_lists_each_topic_once_the_largest_first(index):
    named = [word for words in SUBJECTS for word in words]
    topics = [topic for topic in list_topics(index, 12) if topic.hints[0] in named]
    subjects = [int(np.argmax([topic.hints[0] in words for words in SUBJECTS])) for topic in topics]
    assert len(set(subjects)) == len(subjects)
    assert set(subjects) >= {0, 1, 2, 3}
    assert [topic.n_members for topic in topics] == sorted((topic.n_members for topic in topics), reverse=True)
    assert set(topics[0].words) <= set(SUBJECTS[0])


def test_documents_about_the_same_are_near_each_other_on_the_map(index):
    documents, points = place_in_plane(index.corpus)
    assert len(documents) == index.n_documents
    assert points.min() >= 0
    assert points.max() <= 1
    truth = np.repeat(np.arange(4), SIZES)
    nearest = np.argsort(np.linalg.norm(points[:, None] - points[None], axis=2), axis=1)[:, 1:6]
    assert np.mean(truth[nearest] == truth[:, None]) > 0.9


@pytest.mark.parametrize("n", [1, 3, 6, 1500])
def test_a_map_of_any_number_of_vectors_is_in_the_unit_square(n):
    rng = np.random.default_rng(0)
    units = rng.normal(size=(n, 1 if n == 6 else 8)).astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    points = embed_in_plane(units)
    assert points.shape == (n, 2)
    assert points.min() >= 0
    assert points.max() <= 1

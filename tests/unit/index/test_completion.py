"""Completions, words to start with, and words with a similar spelling: the best come first."""

import json

import numpy as np
import pytest
from tests.every_word import every_word

from mixsearch.errors import UnknownWordError
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.index.completion import CorpusWord, SortedWords, split_query

FOOD, SPORT = ["burger", "sushi", "soup", "noodle"], ["goal", "match", "team", "coach"]
COMMON = ["the", "and"]
# How many documents contain each of these words besides.
PLANTED = {"burgers": 60, "burgage": 150, "burner": 40, "bus": 20, "super": 30}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = np.random.default_rng(0)
    texts = [[*rng.choice(FOOD if i % 2 else SPORT, 12), *rng.choice(COMMON, 6)] for i in range(200)]
    for word, n_documents in PLANTED.items():
        for i in rng.choice(len(texts), n_documents, replace=False):
            texts[i].append(word)
    folder = tmp_path_factory.mktemp("corpus")
    lines = [json.dumps({"text": " ".join(words)}) for words in texts]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    built = build_index(folder / "texts.jsonl", folder / "index", IndexOptions(n_components=2), every_word())
    return open_index(built.path)


def count_documents(index, word):
    return sum(word in document.text.split() for document in index.documents(range(index.n_documents)))


def test_completions_are_sorted_by_documents():
    words = SortedWords(["sun", "sushi", "super", "sum", "table"], np.array([3, 9, 1, 9, 20]))
    assert words.complete("su", 3) == [CorpusWord("sum", 9), CorpusWord("sushi", 9), CorpusWord("sun", 3)]
    assert words.complete("x", 3) == []


def test_the_last_word_of_a_query_becomes_the_most_frequent_one_with_that_prefix(index):
    assert index.complete_query("sushi -burg") == "sushi -burgage"
    assert index.complete_query('"soup bu') == '"soup burgage"'
    assert index.complete_query("burger") == "burger"
    assert index.complete_query("xyz") == "xyz"


def test_document_frequencies_are_those_of_the_texts(index):
    for word in ("sushi", "Burgers", "the"):
        assert index.document_frequency(word) == count_documents(index, word.lower())
    assert index.document_frequency("absent") == 0


def test_distinctive_words_are_those_of_topics_and_not_of_the_language(index):
    found = [each.word for each in index.distinctive_words(8)]
    assert set(found) == {*FOOD, *SPORT}
    ranked = [each.word for each in index.distinctive_words(len(index.vocabulary))]
    assert max(map(ranked.index, FOOD + SPORT)) < min(map(ranked.index, COMMON))


def test_suggestions_begin_with_the_nearest_spelling(index):
    with pytest.raises(UnknownWordError) as caught:
        index.search("burgr")
    assert caught.value.suggestions == ("burger", "burgers", "burner")  # one slip; two, and in more documents; two


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

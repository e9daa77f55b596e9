"""A phrase that no document contains is refused, and what was not read of a hint is reported."""

import random

import pytest
from tests.coded import raises, warns

from mixsearch.errors import collect_warnings
from mixsearch.index import IndexOptions, Query, build_index, describe, open_index
from mixsearch.text import CorpusOptions

SUBJECTS = [
    ["sushi", "rice", "tuna", "salmon", "wasabi", "gpt"],
    ["judge", "court", "law", "jury", "trial", "zero"],
    ["goal", "team", "cup", "match", "player", "day"],
]
# Too rare for features. "dill" and "mint" share a document, "dill" and "oath" do not. "yuzu" is only in even rows.
RARE = {"dill": [0, 3, 6], "mint": [3, 9], "oath": [1, 4], "yuzu": [0, 6, 12]}
# Fewer counted words than a document of a topic needs.
SHORT = "sushi oath"


def draw_texts(n=150):
    rng = random.Random(0)
    texts = [rng.sample(SUBJECTS[i % 3], 5) for i in range(n)]
    for word, rows in RARE.items():
        for row in rows:
            texts[row].append(word)
    return [*map(" ".join, texts), SHORT]


TEXTS = draw_texts()
LONG = range(len(TEXTS) - 1)
COLUMNS = {"text": TEXTS, "group": [i % 2 for i in range(len(TEXTS))]}
ODD = {"where": "group = 1", "within": True}


def count(phrase, rows=LONG):
    """Count the documents with all words of a phrase, without the short one."""
    return sum(set(phrase.split()) <= set(TEXTS[row].split()) for row in rows)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    reading = CorpusOptions(min_df=5, max_df=1.0, stop_words=["the"], phrases=False, text="text", keep=["group"])
    path = tmp_path_factory.mktemp("corpus") / "index"
    with collect_warnings():  # one document is too short
        return open_index(build_index(COLUMNS, path, IndexOptions(n_components=3), reading).path)


def search(index, hint, **options):
    with collect_warnings():
        return index.search(hint, **options)


@pytest.mark.parametrize(
    ("typed", "spelled", "lost"),
    [("GPT-5", "gpt", "5"), ("zero-1", "zero", "1"), ("gpt-x", "gpt", "x"), ("gpt 99", "gpt", "99")],
)
def test_numbers_and_letters_that_are_not_words_are_reported_as_skipped(index, typed, spelled, lost):
    assert index.spell(typed) == spelled
    with warns("skipped_words", codes={lost: "word_not_counted"}, suggestions={lost: ()}):
        index.search(typed)
    (skipped,) = describe(index.find(Query(typed, {typed: 1.0}))).skipped
    assert (skipped.word, skipped.code) == (lost, "word_not_counted")


@pytest.mark.parametrize("typed", ["GPT", "the sushi", "sushi's rice", "Sushi/Rice", "(rice)", "gp*", "sushi’s rice"])
def test_stop_words_and_endings_are_not_reported(index, typed):
    with collect_warnings() as given:
        index.search(typed)
    assert "skipped_words" not in [warning.code for warning in given]


def test_a_word_alone_and_in_a_phrase_counts_alone(index):
    assert count("zero day") == 0
    assert search(index, {"zero": 1.0, "zero-day": 1.0}).document_count.n_holding == count("zero") > 0
    both = {"zero": 1.0, "zero judge": 0.3, "zero day": 0.7}
    assert search(index, both).document_count.n_holding == count("zero")


def test_several_phrases_that_no_document_contains_leave_no_score(index):
    hint = {"zero day": 1.0, "zero goal": 0.3, "zero rice": 0.7}
    with raises("phrase_without_documents", word="zero day", min_words=3):
        index.search(hint)
    with warns("rare_hint", n_named=0):
        assert index.search(hint, not_documents=[0]).document_count.n_holding == 0


def test_within_a_filter_a_rare_word_of_other_documents_refuses_a_phrase(index):
    odd = LONG[1::2]
    assert count("yuzu sushi") > 0 == count("yuzu sushi", odd) < count("sushi", odd)
    with collect_warnings(), raises("phrase_without_documents", word="yuzu sushi"):
        index.search("yuzu sushi", **ODD)
    assert search(index, "yuzu sushi").confidence > 0


def test_the_documents_of_a_phrase_with_a_skipped_word_are_not_counted(index):
    phrase = next(f"{word} dill" for word in SUBJECTS[0] if count(f"{word} dill"))
    for options in ({}, {"where": "group = 0"}):
        topic = search(index, phrase, **options)
        assert topic.document_count.n_holding is None
        assert topic.document_count.n > 0


def test_a_phrase_of_rare_words_is_answered_from_the_documents_with_all_of_them(index):
    assert (count("dill mint"), count("dill oath")) == (1, 0)
    topic = search(index, "dill mint")
    (row,) = set(RARE["dill"]) & set(RARE["mint"])
    assert topic.probabilities == pytest.approx(search(index, None, documents=[row]).probabilities)
    with raises("phrase_without_documents", word="dill oath"):
        index.search("dill oath")
    with raises("phrase_without_documents", word="dill mint"):
        index.search("dill mint", where="group = 0", within=True)
    assert search(index, ["dill", "oath"]).confidence > 0


def test_a_refusal_speaks_of_documents_that_are_long_enough(index):
    assert count(SHORT) == 0
    with collect_warnings(), raises("phrase_without_documents", word=SHORT, words=SHORT, min_words=3):
        index.search(SHORT)


def test_a_column_number_is_not_looked_up_as_a_word(tmp_path):
    # "1" is a rare word of the texts, in documents without the word of column 1.
    texts = [f"{text} 1" if row == 1 else text for row, text in enumerate(TEXTS[:-1])]
    reading = CorpusOptions(min_df=5, max_df=1.0, stop_words=None, token_pattern=r"\w+")
    index = open_index(build_index(texts, tmp_path / "index", IndexOptions(n_components=3), reading).path)
    assert index.knows("1")
    word = index.vocabulary[1]
    assert word not in texts[1].split()
    assert index.search([1]).document_count.n_holding == count(word)

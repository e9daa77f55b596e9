"""Words that are too common, too rare or stop words are still answered, or say why not."""

import json

import numpy as np
import pytest
from tests.coded import raises, warns

from mixsearch.errors import (
    SkippedWordsWarning,
    UnknownWordError,
    collect_warnings,
)
from mixsearch.index import IndexOptions, Query, build_index, describe, open_index
from mixsearch.text import CorpusOptions

SUBJECTS = {
    "food": ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate"],
    "sport": ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup"],
    "law": ["court", "judge", "law", "crime", "trial", "jury", "lawyer", "guilty", "appeal", "oath"],
}
N = 300
# In all documents about food, and in a third of the others: 55%.
COMMON = "tasty"
RARE = {"vindaloo": [0, 3], "quorum": [2]}
SHORT = 7
READING = CorpusOptions(min_df=4, max_df=0.4, stop_words=["and", "the"])


def draw_texts():
    rng = np.random.default_rng(0)
    texts = []
    for i in range(N):
        words = list(rng.choice(list(SUBJECTS.values())[i % 3], 18))
        # Not one after the other, which would be a phrase.
        for place in range(0, 9 if i % 3 == 0 else 3 * int(rng.random() < 1 / 3), 3):
            words.insert(place, COMMON)
        words += ["and", "the"]
        texts.append(words)
    for word, rows in RARE.items():
        for row in rows:
            texts[row].append(word)
    texts[SHORT] = ["hermit", COMMON]
    return [" ".join(words) for words in texts]


TEXTS = draw_texts()


def build(folder, reading=READING, texts=TEXTS):
    path = folder / "texts.jsonl"
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    return build_index(path, folder / "index", IndexOptions(n_components=3), reading)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_index(build(tmp_path_factory.mktemp("corpus")).path)


def find(index, *words, **weights):
    return index.find(Query("asked", words={**dict.fromkeys(words, 1.0), **weights}))


def count(word):
    return sum(word in text.split() for i, text in enumerate(TEXTS) if i != SHORT)


def get_subject(topic):
    listed = {word for word, _ in topic.top_words(8)}
    return max(SUBJECTS, key=lambda name: len(listed & set(SUBJECTS[name])))


def test_a_word_that_is_too_common_is_answered_from_the_documents_with_most_of_it(index):
    assert COMMON not in index.vocabulary
    found = find(index, COMMON)
    assert get_subject(found.topic) == "food"
    (warning,) = [warning for warning in found.warnings if warning.code == "word_too_common"]
    assert (warning.fields["word"], warning.fields["n_documents"]) == (COMMON, count(COMMON))
    assert warning.fields["share"] == pytest.approx(count(COMMON) / (N - 1))
    assert warning in found.topic.warnings


@pytest.mark.parametrize(("word", "subject"), [("vindaloo", "food"), ("quorum", "law")])
def test_a_rare_word_is_answered_from_its_documents(index, word, subject):
    found = find(index, word)
    assert get_subject(found.topic) == subject
    (warning,) = [warning for warning in found.warnings if warning.code == "word_too_rare"]
    assert warning.fields["word"] == word
    assert (warning.fields["n_documents"], warning.fields["n_all"]) == (len(RARE[word]), N - 1)
    assert found.topic.confidence <= len(RARE[word]) / 5


def test_a_stop_word_says_that_it_is_one(index):
    with raises("word_stop_word", word="the") as raised:
        find(index, "the")
    assert raised.value.reason == "stop_word"
    assert raised.value.code == "word_stop_word"
    assert raised.value.suggestions == ()


def test_beside_a_feature_a_dropped_word_is_skipped_with_its_reason(index):
    found = find(index, "judge", COMMON, "vindaloo", "the")
    (warning,) = [warning for warning in found.warnings if isinstance(warning, SkippedWordsWarning)]
    assert not any(warning.suggestions.values())
    np.testing.assert_allclose(found.topic.probabilities, find(index, "judge").topic.probabilities)
    skipped = {each.word: each.code for each in describe(found).skipped}
    assert skipped == {COMMON: "word_too_common", "vindaloo": "word_too_rare", "the": "word_stop_word"}


def test_a_phrase_uses_its_features_and_one_without_any_the_documents_of_its_words(index):
    with warns("skipped_words"):
        found = index.search(f"{COMMON} judge")
    np.testing.assert_allclose(found.probabilities, index.search("judge").probabilities)
    with collect_warnings(), pytest.raises(UnknownWordError) as raised:
        index.search("vindaloo judge")  # in no document together
    assert raised.value.code == "phrase_without_documents"
    with warns("word_too_rare", word="vindaloo"):
        assert get_subject(index.search("vindaloo vindaloo")) == "food"


def test_documents_with_a_word_to_avoid_do_not_count(index):
    wanted = find(index, COMMON, **dict.fromkeys(SUBJECTS["food"], -1.0))
    assert get_subject(wanted.topic) != "food"
    with raises("all_avoided", words="'quorum'"):
        find(index, "quorum", **dict.fromkeys(SUBJECTS["law"], -1.0))


def test_a_common_word_is_suggested_and_completed_and_a_word_of_the_texts_never_corrected(index):
    with pytest.raises(UnknownWordError) as raised:
        find(index, "tastey")
    assert raised.value.suggestions == (COMMON,)
    assert [each.word for each in index.complete_word("tas")] == [COMMON]
    assert index.complete_query(COMMON) == COMMON
    assert index.document_frequency("Tasty") == count(COMMON)
    assert index.document_frequency("vindaloo") == 2
    assert index.document_frequency("xyzzyx") == 0

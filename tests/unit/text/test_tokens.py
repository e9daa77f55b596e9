import re
import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import count_texts
from mixsearch.text.count.ngrams import group_hashes
from mixsearch.text.count.tokens import hash_words

SKLEARN_PATTERN = r"(?u)\b\w\w+\b"

# Letters that change their length or their neighbours when they are lowered, marks, joiners, digits of all kinds.
DIFFICULT = "aAbB1 \n\t\x00_-'.<>éÉßẞİıΣςσﬁ²½Ⅷ字かкЙىहि\u0301\u200c\u00ad\u2028\U0001d400\U0001f600"
# Of these, pairs of characters are counted.
WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u31f0-\u31ff\u3400-\u9fff]"
    "|[\ua9e0-\uaa7f\uf900-\ufaff\U00020000-\U000323af]"
)
texts = st.lists(st.text(st.one_of(st.sampled_from(DIFFICULT), st.characters()), max_size=60), min_size=1, max_size=8)


def count(documents, **options):
    with count_texts(documents, every_word(n_jobs=1, **options)) as corpus:
        return corpus.vocabulary, corpus.to_counts().toarray()


def count_with_sklearn(documents, **options):
    vectorizer = CountVectorizer(**options)
    counts = vectorizer.fit_transform(documents).toarray()
    return list(vectorizer.get_feature_names_out()), counts


def assert_same_counts(documents, ours, theirs):
    try:
        words, counts = count_with_sklearn(documents, **theirs)
    except ValueError:
        with raises("no_words"):
            count(documents, **ours)
        return
    found_words, found_counts = count(documents, **ours)
    assert found_words == words
    np.testing.assert_array_equal(found_counts, counts)


@pytest.mark.parametrize(
    "pattern", [SKLEARN_PATTERN, r"\w+", r"[^\W\d_]{2,}", r"[a-zé]+", r"[^ ]+", r"\w\w?\b", r"\d+"]
)
@given(documents=texts)
def test_counts_of_any_text_are_those_of_count_vectorizer(pattern, documents):
    documents = [text.encode("utf-8", "replace").decode() for text in documents]
    assert_same_counts(documents, {"token_pattern": pattern, "normal_form": None}, {"token_pattern": pattern})


@given(documents=texts, ngrams=st.sampled_from([(1, 2), (2, 2), (2, 3)]), lowercase=st.booleans())
def test_sequences_of_words_are_those_of_count_vectorizer(documents, ngrams, lowercase):
    documents = [text.encode("utf-8", "replace").decode() for text in documents]
    assert_same_counts(
        documents,
        {"token_pattern": SKLEARN_PATTERN, "normal_form": None, "ngrams": ngrams, "lowercase": lowercase},
        {"ngram_range": ngrams, "lowercase": lowercase},
    )


def default_words(text):
    """The default words, a character at a time."""
    text = unicodedata.normalize("NFKC", text).lower()
    kept = [c if (c.isalnum() or unicodedata.category(c)[0] == "M" or c in "\u200c\u200d") else " " for c in text]
    return [
        word
        for word in "".join(kept).split(" ")
        if len(word) > 1 and any(re.fullmatch(r"[^\W\d_]", edge) for edge in (word[0], word[-1]))
    ]


@given(documents=texts)
def test_default_words_are_runs_of_letters_marks_and_digits_with_a_letter_at_an_edge(documents):
    # Variation selectors of the last planes are marks that no word is spelled with; some scripts have no spaces.
    documents = [WITHOUT_SPACES.sub("", re.sub("[\U000e0000-\U000effff]", "", text)) for text in documents]
    documents = [text.encode("utf-8", "replace").decode() for text in documents]
    assume(not any(map(WITHOUT_SPACES.search, (unicodedata.normalize("NFKC", text) for text in documents))))
    assert_same_counts(documents, {}, {"analyzer": default_words})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Covid19 in 3D, 1984", ["3d", "covid19", "in"]),
        ("ﬁnance FINANCE", ["finance"]),
        ("cafe\u0301 café", ["café"]),
        ("हिन्दी में", ["में", "हिन्दी"]),
        ("snake_case", ["case", "snake"]),
        ("Straße STRASSE", ["strasse", "straße"]),
    ],
)
def test_default_words_by_example(text, words):
    assert count([text])[0] == words


def test_html_tags_and_entities_are_not_words():
    assert count(["good<br />film &amp; caf&eacute; a < b"], strip_tags=True)[0] == ["café", "film", "good"]


def test_stop_words_are_left_out_before_pairs_are_made():
    documents = ["the house of cards", "The cards"]
    ours = {"stop_words": ["THE", "of"], "ngrams": (1, 2)}
    assert_same_counts(documents, ours, {"stop_words": ["the", "of"], "ngram_range": (1, 2)})
    assert_same_counts(documents, {"stop_words": "english"}, {"stop_words": "english"})


def test_stop_words_come_from_a_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("house\ncards\n", encoding="utf-8")
    assert count(["the house of cards"], stop_words=path)[0] == ["of", "the"]
    with raises("file_missing", file="german", argument="stop_words"):
        count(["the house"], stop_words="german")


def test_a_tokenizer_gets_the_cleaned_text_and_decides():
    words, counts = count(["A-b a", ""], tokenizer=lambda text: [*text.split(), ""])
    assert words == ["a", "a-b"]
    assert counts.tolist() == [[1, 1], [0, 0]]


def test_a_tokenizer_that_fails_is_reported_with_the_document():
    def fail_at_b(text):
        return [1 / 0] if text == "b" else [text]

    with raises("tokenizer_failed", reason="ZeroDivisionError: division by zero", place="text 2"):
        count(["a", "b"], tokenizer=fail_at_b)
    with raises("tokenizer_failed", returned="'aa'", place="text 1"):
        count(["aa"], tokenizer=str)


def test_very_long_words_have_hashes_of_their_own():
    words = ["a" * 70_000, "a" * 70_001, "b" + "a" * 69_999, "ab", "ba", "a", "b"]
    assert len(set(hash_words(words).tolist())) == len(words)
    np.testing.assert_array_equal(hash_words(words[:4])[3:], hash_words(["ab"]))


@given(st.lists(st.integers(0, 5), max_size=40))
def test_groups_start_at_first_occurrences_even_if_all_hashes_share_a_slot(values):
    # The lowest bits never choose a slot.
    hashes = np.array(values, dtype=np.uint64)
    firsts, groups = group_hashes(hashes)
    assert firsts.tolist() == sorted({values.index(value) for value in values})
    np.testing.assert_array_equal(hashes[firsts][groups], hashes)

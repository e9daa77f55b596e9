"""Hints as people type them, and the documents that they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.errors import HintError, UnknownWordError, WeakHintWarning
from mixsearch.topics.fitted_corpus import FittedCorpus
from mixsearch.topics.hint import (
    Hint,
    Vocabulary,
    Words,
    find_documents,
    find_terms,
    join_phrases,
    parse_query,
    read_words,
    weigh_documents,
)
from mixsearch.topics.topic_search import TopicSearch

WORDS = ["sql", "injection", "sql injection", "apple", "apples", "pear"]
COUNTS = sp.csr_array(
    [
        [1, 1, 1, 0, 0, 0],
        [2, 0, 0, 1, 0, 0],
        [0, 1, 0, 0, 1, 0],
        [1, 1, 0, 0, 0, 1],
        [0, 0, 0, 3, 1, 0],
        [0, 0, 0, 0, 1, 2],
    ]
)
corpus = FittedCorpus.fit(COUNTS, WORDS, n_components=3)
vocabulary = Vocabulary(WORDS, corpus.document_frequency)


def find(query):
    terms, avoided = find_terms(read_words(query), vocabulary)
    return Hint(terms, avoided)


def test_a_query_has_words_phrases_weights_and_words_to_avoid():
    assert parse_query('sushi^2 "happy  hour" -pizza encrypt*^.5 -"new york"') == [
        Words("sushi", 2.0),
        Words("happy hour"),
        Words("pizza", 1.0, True),
        Words("encrypt*", 0.5),
        Words("new york", 1.0, True),
    ]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ('"new york', "open_quote"),
        ('sushi ""', "empty_word"),
        ("-", "empty_word"),
        ("sushi^heavy", "bad_weight"),
        ("sushi^0", "weight_out_of_range"),
        ("-sushi", "no_words"),
        ("", "no_words"),
        (["sushi", 2.5], "bad_word"),
        ({"sushi": float("nan")}, "weight_out_of_range"),
        ([f"word{i}" for i in range(65)], "too_many_words"),
    ],
)
def test_bad_queries_are_errors(query, code):
    with pytest.raises(HintError) as error:
        read_words(query)
    assert error.value.code == code


def test_a_word_cannot_be_wanted_and_avoided_however_it_is_spelled():
    with pytest.raises(HintError) as error:
        find('sql injection -"sql injection"')
    assert error.value.code == "contradicting_words"


def test_words_side_by_side_are_a_phrase_that_the_vocabulary_knows():
    assert join_phrases(parse_query("apple sql injection"), vocabulary) == [Words("apple"), Words("sql injection")]
    assert find("sql injection").words == '"sql injection"' == find('"sql injection"').words
    assert join_phrases(parse_query("injection sql"), vocabulary) == parse_query("injection sql")
    assert join_phrases(parse_query("sql -injection"), vocabulary) == parse_query("sql -injection")


def test_a_term_stands_for_the_documents_that_contain_all_of_its_words():
    (phrase,) = find('"injection sql"').terms  # not in the vocabulary: documents with both words
    assert find_documents(corpus, phrase)[0].tolist() == [0, 3]
    (pattern,) = find("apple*").terms
    documents, values = find_documents(corpus, pattern)
    assert documents.tolist() == [1, 2, 4, 5]
    tfidf = corpus.take(np.arange(6)).toarray()
    assert np.allclose(values, tfidf[documents][:, 3] + tfidf[documents][:, 4], atol=1e-6)


def test_weights_are_shares_of_the_hint():
    hint = find("sql^3 pear")
    documents, weights = weigh_documents(corpus, hint)
    by_document = dict(zip(documents.tolist(), weights, strict=True))
    tfidf = corpus.take(np.arange(6)).toarray()
    expected = 0.75 * tfidf[:, 0] / tfidf[:, 0].sum() + 0.25 * tfidf[:, 5] / tfidf[:, 5].sum()
    assert np.allclose([by_document.get(i, 0) for i in range(6)], expected, atol=1e-6)
    marked = Hint(hint.terms, documents=np.array([2]), not_documents=np.array([5]))
    documents, weights = weigh_documents(corpus, marked)
    assert weights[documents == 2] == pytest.approx(1)
    assert weights[documents == 5] == pytest.approx(expected[5] - 0.5)


def test_what_no_document_contains_is_not_answered():
    with pytest.raises(UnknownWordError) as error:
        find("aple")
    assert error.value.suggestions[0] == "apple"
    with pytest.raises(UnknownWordError, match="No document contains 'zero-day'"):
        find("zero-day")
    with pytest.raises(UnknownWordError, match="all words"):
        weigh_documents(corpus, find('"sql apples"'))
    with pytest.raises(UnknownWordError) as error:
        find("zz*")
    assert error.value.code == "no_match"
    with pytest.raises(HintError) as error:
        find("*")
    assert error.value.code == "pattern_without_letters"


def test_words_to_avoid_need_not_occur():
    hint = find("apple -zebra -pear")
    assert [term.text for term in hint.avoided] == ["pear"]


def test_columns_stand_for_words_without_a_vocabulary():
    search = TopicSearch(n_components=3).fit(COUNTS)
    with pytest.warns(WeakHintWarning, match="Only 2 documents contain '3'"):
        assert search.search(3).contains.nonzero()[0].tolist() == [1, 4]
    for word in ("apple", 17):
        with pytest.raises(UnknownWordError, match="No document contains"):
            search.search(word)


def test_stop_words_do_not_count_beside_other_words():
    vocabulary = Vocabulary(["to", "edit", "video"], np.array([90, 4, 5]), stop_words=["to"])
    for query, words in (
        ("to edit video", "edit video"),
        ("To video", "video"),
        ("to", "to"),
        ("to -video", "to -video"),
    ):
        terms, avoided = find_terms(read_words(query), vocabulary)
        assert Hint(terms, avoided).words == words

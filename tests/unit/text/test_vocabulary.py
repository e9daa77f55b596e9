import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import CorpusOptions, count_texts, read_corpus

DOCUMENTS = ["aa bb cc", "aa bb bb", "aa dd dd dd", "", "aa ee"]


def words(**options):
    with count_texts(DOCUMENTS, every_word(n_jobs=1, **options)) as corpus:
        return corpus.vocabulary


@pytest.mark.parametrize(("min_df", "max_df"), [(2, 1.0), (1, 0.5), (0.3, 1.0), (1, 2), (0.0, 3), (0.2, 0.4)])
def test_rare_and_frequent_words_are_left_out_as_count_vectorizer_does(min_df, max_df):
    vectorizer = CountVectorizer(min_df=min_df, max_df=max_df).fit(DOCUMENTS)
    assert words(min_df=min_df, max_df=max_df) == list(vectorizer.get_feature_names_out())


def test_the_most_frequent_words_stay_and_the_alphabet_decides_between_equals():
    assert words(max_words=2) == ["aa", "bb"]
    assert words(max_words=4) == ["aa", "bb", "cc", "dd"]


def test_frequencies_belong_to_the_columns():
    with count_texts(DOCUMENTS) as corpus:
        counts = corpus.to_counts()
        np.testing.assert_array_equal(corpus.document_frequencies, (counts > 0).sum(axis=0))
        np.testing.assert_array_equal(corpus.word_counts, counts.sum(axis=0))
        assert (corpus.n_documents, corpus.n_words, corpus.n_nonzeros) == (5, 5, counts.nnz)
        assert corpus.n_characters == sum(map(len, DOCUMENTS))
        assert counts.dtype == np.int32
        assert counts.has_sorted_indices


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"min_df": 0}, "bad_argument"),
        ({"ngrams": (1, 2**63)}, "bad_argument"),
        ({"format": "xlsx"}, "bad_argument"),
        ({"token_pattern": "(a)(b)"}, "bad_argument"),
        ({"token_pattern": "a", "tokenizer": str.split}, "conflicting_arguments"),
        ({"encoding": "klingon"}, "bad_argument"),
        ({"encoding": "utf-16"}, "bad_argument"),
    ],
)
def test_wrong_options_are_refused_at_once(options, code):
    with raises(code):
        every_word(**options)


def plant(n_documents, **documents_of):
    """Return documents of which a given number contain each word; each also has a word of its own."""
    return [" ".join([f"own{i}", *(word for word, n in documents_of.items() if i < n)]) for i in range(n_documents)]


@pytest.mark.parametrize(
    ("n_documents", "kept", "dropped"),
    [
        (1000, {"rare": 5, "common": 300}, {"rarer": 4, "commoner": 301}),
        (300, {"rare": 3, "common": 90}, {"rarer": 2, "commoner": 91}),
        (20, {"rare": 1, "common": 10}, {"commoner": 11}),
    ],
)
def test_by_default_words_are_neither_rare_nor_common_for_the_size_of_the_corpus(n_documents, kept, dropped):
    with count_texts(plant(n_documents, **kept, **dropped), CorpusOptions(phrases=False, n_jobs=1)) as corpus:
        assert {word for word in corpus.vocabulary if not word.startswith("own")} == set(kept)


def test_ready_made_counts_keep_every_word_by_default(tmp_path):
    path = tmp_path / "counts.npz"
    sp.save_npz(path, sp.csr_array(np.ones((1000, 1), dtype=int)))
    (tmp_path / "words.txt").write_text("common\n")
    with read_corpus(path, CorpusOptions(vocabulary=tmp_path / "words.txt")) as corpus:
        assert corpus.vocabulary == ["common"]

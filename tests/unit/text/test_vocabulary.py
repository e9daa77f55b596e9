import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from mixsearch.errors import SearchError
from mixsearch.text import CorpusOptions, count_texts

DOCUMENTS = ["aa bb cc", "aa bb bb", "aa dd dd dd", "", "aa ee"]


def words(**options):
    with count_texts(DOCUMENTS, CorpusOptions(n_jobs=1, **options)) as corpus:
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


def test_many_blocks_of_new_words_are_tallied_once_each():
    documents = [f"shared word{i}x word{i + 1}x" for i in range(20_000)]
    with count_texts(documents, CorpusOptions(memory=1, n_jobs=2)) as corpus:
        assert len(list(corpus.blocks())) > 5
        frequency = dict(zip(corpus.vocabulary, corpus.document_frequencies.tolist(), strict=True))
    assert frequency.pop("shared") == 20_000
    assert frequency == {f"word{i}x": 1 if i in (0, 20_000) else 2 for i in range(20_001)}


def test_no_word_left_says_which_limits_to_move():
    with pytest.raises(SearchError, match=r"Found no word that occurs in 5 to 5 of 5 documents.*lower min_df=5"):
        words(min_df=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "Found min_df=0, needed a number of documents"),
        ({"max_df": 1.5}, "Found max_df=1.5"),
        ({"min_df": True}, "Found min_df=True"),
        ({"ngrams": (2, 1)}, r"Found ngrams=\(2, 1\)"),
        ({"max_words": 0}, "Found max_words=0, needed at least 1"),
        ({"n_jobs": 0}, "Found n_jobs=0"),
        ({"format": "xlsx"}, "Found format='xlsx', needed one of None, 'jsonl'"),
        ({"normal_form": "nfc"}, "Found normal_form='nfc'"),
        ({"drop_duplicates": "all"}, "Found drop_duplicates='all'"),
        ({"token_pattern": "("}, "which is no regular expression"),
        ({"token_pattern": "(a)(b)"}, "Found 2 groups in token_pattern"),
        ({"token_pattern": "a", "tokenizer": str.split}, "Found both a tokenizer and a token_pattern"),
        ({"encoding": "klingon"}, "Found encoding='klingon', which Python does not know"),
        ({"encoding": "utf-16"}, "Found encoding='utf-16', needed one that keeps ASCII"),
    ],
)
def test_options_that_cannot_be_meant_are_refused_at_once(options, message):
    with pytest.raises(SearchError, match=message):
        CorpusOptions(**options)

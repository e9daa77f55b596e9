"""Documents counted with words that are known already have the counts that they had when the words were chosen."""

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.text import CorpusOptions, count_texts, read_corpus
from mixsearch.text.count.vocabulary import KnownWords

TEXTS = [
    "Machine translation of long texts, by machine translation systems",
    "The state of the art in machine translation is GPT-4",
    "GPT-4 and sushi: the state of the art",
    "A sushi bar with good fish and good rice",
    "Fish, rice and the sushi bar of New York",
    "New York has a machine translation group; GPT-4 too",
] * 3


@pytest.mark.parametrize(
    "options",
    [
        CorpusOptions(),
        CorpusOptions(ngrams=(1, 3), stop_words=None),
        CorpusOptions(ngrams=(1, 2), stop_words="english"),
        CorpusOptions(tokenizer=str.split),
        CorpusOptions(min_df=1, max_df=1.0),
    ],
)
def test_the_same_texts_have_the_same_counts(options):
    with count_texts(TEXTS, options) as corpus:
        words, counts = corpus.vocabulary, corpus.to_counts()
        frequencies, totals = corpus.document_frequencies, corpus.word_counts
    with count_texts(TEXTS, options, known=KnownWords(words)) as again:
        assert again.vocabulary == words
        assert (again.to_counts() != counts).nnz == 0
        single = [i for i, word in enumerate(words) if " " not in word]
        np.testing.assert_array_equal(again.document_frequencies[single], frequencies[single])
        np.testing.assert_array_equal(again.word_counts[single], totals[single])


def test_words_that_are_not_known_came_with_the_texts_or_are_stop_words():
    with count_texts(["Sushi and the tofu", "tofu"], known=KnownWords(["sushi"], ["the"])) as corpus:
        dropped = corpus.dropped
        assert corpus.to_counts().toarray().tolist() == [[1], [0]]
    reasons = dict(zip(dropped.vocabulary.words, dropped.reasons.tolist(), strict=True))
    assert reasons == {"tofu": 4, "and": 4, "the": 3}


def test_columns_of_ready_made_counts_are_found_by_their_words(tmp_path):
    sp.save_npz(tmp_path / "counts.npz", sp.csr_array(np.array([[1, 0, 2], [0, 3, 1]])))
    (tmp_path / "words.txt").write_text("tofu\nsushi\nrice\n")
    options = CorpusOptions(vocabulary=tmp_path / "words.txt")
    with read_corpus(tmp_path / "counts.npz", options, known=KnownWords(["rice", "fish", "tofu"])) as corpus:
        assert corpus.to_counts().toarray().tolist() == [[2, 0, 1], [1, 0, 0]]
        assert corpus.dropped.vocabulary.words == ["sushi"]
        assert corpus.document_frequencies.tolist() == [2, 0, 1]

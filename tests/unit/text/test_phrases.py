"""Pairs of adjacent words that mean more than their parts are counted beside them, and only these."""

from collections import Counter

import numpy as np
import pytest

from mixsearch.text import CorpusOptions
from mixsearch.text.count import count_texts

WORDS = [f"w{letter}{other}" for letter in "abcdefghij" for other in "abcdefghij"]


def draw_texts(n=200, seed=0, phrase="machine translation"):
    """Documents of words in any order, half of them with a phrase whose words also occur alone."""
    rng = np.random.default_rng(seed)
    texts = []
    for i in range(n):
        words = list(rng.choice(WORDS, 20))
        words[5:5] = [phrase] if i % 2 else ["machine"]
        words[15:15] = ["translation"] if i % 4 == 0 else []
        texts.append(" ".join(words))
    return texts


def read(documents, **options):
    settings = {"min_df": 1, "max_df": 1.0, "stop_words": None, **options}
    with count_texts(documents, CorpusOptions(**settings)) as corpus:
        return corpus, corpus.to_counts().toarray()


def list_phrases(corpus):
    return [word for word in corpus.vocabulary if " " in word]


@pytest.mark.parametrize("written", ["machine translation", "Machine-Translation", "machine\ntranslation"])
def test_a_phrase_is_counted_beside_its_words(written):
    corpus, counts = read(draw_texts(phrase=written))
    assert list_phrases(corpus) == ["machine translation"]
    assert "machine-translation" not in corpus.words
    column = corpus.vocabulary.index
    assert counts[:, column("machine translation")].tolist() == [i % 2 for i in range(200)]
    assert counts[:, column("machine")].tolist() == [1] * 200
    assert corpus.document_frequencies[column("machine translation")] == 100
    assert corpus.vocabulary == sorted(corpus.vocabulary)


@pytest.mark.parametrize("written", ["machine, translation", "machine. translation", "machine of translation"])
def test_words_apart_are_no_phrase(written):
    assert list_phrases(read(draw_texts(phrase=written), stop_words=["of"])[0]) == []


def test_counts_of_words_stay_as_they_are_without_phrases():
    texts = draw_texts()
    (with_phrases, counts), (plain, wanted) = read(texts), read(texts, phrases=False)
    columns = [with_phrases.vocabulary.index(word) for word in plain.vocabulary]
    np.testing.assert_array_equal(counts[:, columns], wanted)


def test_frequencies_of_phrases_are_those_of_the_counts():
    texts = draw_texts() + draw_texts(phrase="neural network", seed=1)
    corpus, counts = read(texts, memory=1)
    assert list_phrases(corpus) == ["machine translation", "neural network"]
    np.testing.assert_array_equal(counts.sum(axis=0), corpus.word_counts)
    np.testing.assert_array_equal((counts > 0).sum(axis=0), corpus.document_frequencies)
    pairs = Counter(pair for text in texts for pair in zip(text.split(), text.split()[1:], strict=False))
    for phrase in list_phrases(corpus):
        assert corpus.word_counts[corpus.vocabulary.index(phrase)] == pairs[tuple(phrase.split())]


def test_a_part_of_a_word_with_hyphens_makes_no_phrase_with_its_neighbour():
    corpus, counts = read(draw_texts(phrase="state-of-the-art results"))
    assert list_phrases(corpus) == ["state-of-the-art results"]
    assert counts[:, corpus.vocabulary.index("art")].tolist() == [i % 2 for i in range(200)]


def test_words_that_meet_by_chance_are_no_phrase_however_frequent():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[:20], 40)) for _ in range(300)]
    assert list_phrases(read(texts)[0]) == []


def test_words_that_are_too_common_alone_still_make_a_phrase():
    texts = [text.replace("machine", "language") for text in draw_texts(phrase="language model")]
    corpus, counts = read([text if i % 2 else f"{text} model" for i, text in enumerate(texts)], max_df=0.6)
    assert {"language", "model"}.isdisjoint(corpus.vocabulary)
    assert counts[:, corpus.vocabulary.index("language model")].tolist() == [i % 2 for i in range(200)]


def test_stop_words_are_no_part_of_a_phrase():
    texts = [f"the whole {subject} and the whole of it is here" for subject in ("sushi", "ramen")] * 20
    assert list_phrases(read(texts, stop_words="auto")[0]) == []


@pytest.mark.parametrize("written", ["GPT-4", "gpt\N{NON-BREAKING HYPHEN}4", "Gpt\N{EN DASH}4", "机器gpt-4翻译"])
def test_a_name_with_a_number_is_counted_beside_its_letters(written):
    corpus, counts = read([f"{text} 4" for text in draw_texts(phrase=written)])
    column = corpus.vocabulary.index
    assert counts[:, column("gpt-4")].tolist() == counts[:, column("gpt")].tolist() == [i % 2 for i in range(200)]
    assert {"4", "-4"}.isdisjoint(corpus.vocabulary)


@pytest.mark.parametrize("written", ["gpt--4", "gpt-\n4", "4-4"])
def test_other_numbers_are_no_part_of_a_name(written):
    corpus, _ = read(draw_texts(phrase=written))
    assert not any("-" in word or word.isdigit() for word in corpus.vocabulary)

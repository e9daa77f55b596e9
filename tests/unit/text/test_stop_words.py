"""By default the stop words of the languages that occur are left out, and only where they are stop words."""

import numpy as np
import pytest

from mixsearch.text import CorpusOptions
from mixsearch.text.count import count_texts

ENGLISH = ["the", "of", "and", "is", "with", "they", "from", "have"]
FRENCH = ["les", "des", "dans", "avec", "nous", "pour", "cette", "sont"]
GERMAN = ["der", "und", "ist", "mit", "nicht", "auch", "von", "war"]


def draw_texts(stop_words, subject, n, seed=0):
    """Documents of which half the words are stop words."""
    rng = np.random.default_rng(seed)
    return [" ".join(np.concatenate([rng.choice(stop_words, 15), rng.choice(subject, 15)])) for _ in range(n)]


def read(documents, **options):
    with count_texts(documents, CorpusOptions(min_df=1, max_df=1.0, **options)) as corpus:
        return set(corpus.vocabulary), corpus


@pytest.mark.parametrize("own", [ENGLISH, FRENCH], ids=["English", "French"])
def test_stop_words_of_the_language_are_left_out(own):
    words, corpus = read(draw_texts(own, ["sushi", "ramen"], 50))
    assert words == {"sushi", "ramen"}
    assert set(corpus.stop_words) == set(own)


def test_a_stop_word_of_a_rare_language_stays_where_it_means_something():
    english = draw_texts(ENGLISH, ["war", "peace"], 190)
    words, _ = read(english + draw_texts(GERMAN, ["reis", "fisch"], 10))
    assert words == {"war", "peace", "reis", "fisch"}


def test_a_listed_word_that_is_rare_stays():
    texts = draw_texts(ENGLISH, ["sushi", "ramen"], 100)
    assert "whereas" in read([*texts, "whereas"])[0]
    assert "whereas" not in read([f"{text} whereas" for text in texts])[0]


@pytest.mark.parametrize("stop_words", ["auto", "en", ["the"]])
def test_the_stop_words_can_be_named(stop_words):
    words, _ = read(["the sushi and the rice"] * 5, stop_words=stop_words)
    assert {"sushi", "rice"} <= words <= {"sushi", "rice", "and"}
    assert ("and" in words) == (stop_words == ["the"])


def test_the_choice_does_not_depend_on_chunks_and_threads():
    texts = draw_texts(ENGLISH, ["sushi"], 300) + draw_texts(FRENCH, ["riz"], 30)
    with count_texts(texts, CorpusOptions(memory=1, max_df=1.0)) as corpus:
        assert set(corpus.stop_words) == set(ENGLISH + FRENCH)

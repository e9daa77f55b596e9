"""Which words are features and which are stop words; counts do not depend on chunks; temporary files are removed."""

import errno
import json
import tempfile

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.text import CorpusOptions, count, read_corpus
from mixsearch.text.count import count_texts

DOCUMENTS = ["aa bb cc", "aa bb bb", "aa dd dd dd", "", "aa ee"]
TEXTS = [
    "Machine translation of long texts, by machine translation systems",
    "The state of the art in machine translation is GPT-4",
    "GPT-4 and sushi: the state of the art, 机器翻译",
    "A sushi bar with good fish and good rice",
    "Fish, rice and the sushi bar of New York",
    "New York has a machine translation group; GPT-4 too",
] * 3


def words(**options):
    with count_texts(DOCUMENTS, every_word(**options)) as corpus:
        return corpus.vocabulary


@pytest.mark.parametrize(("min_df", "max_df"), [(2, 1.0), (1, 0.5), (0.3, 1.0), (1, 2), (0.0, 3), (0.2, 0.4)])
def test_rare_and_frequent_words_are_no_features_as_in_count_vectorizer(min_df, max_df):
    vectorizer = CountVectorizer(min_df=min_df, max_df=max_df).fit(DOCUMENTS)
    assert words(min_df=min_df, max_df=max_df) == list(vectorizer.get_feature_names_out())


def test_the_most_frequent_words_are_features_and_the_alphabet_decides_between_equals(monkeypatch):
    monkeypatch.setattr(count, "MAX_FEATURES", 2)
    assert words() == ["aa", "bb"]
    monkeypatch.setattr(count, "MAX_FEATURES", 4)
    assert words() == ["aa", "bb", "cc", "dd"]


def test_every_word_is_counted_features_first():
    with count_texts(DOCUMENTS, every_word(min_df=2, stop_words=["aa"])) as corpus:
        counts = np.vstack([chunk.counts.toarray() for chunk in corpus.chunks()])
        assert corpus.words == ["bb", "aa", "cc", "dd", "ee"]
        assert (corpus.vocabulary, corpus.n_features) == (["bb"], 1)
        np.testing.assert_array_equal(corpus.document_frequencies, (counts > 0).sum(axis=0))
        np.testing.assert_array_equal(corpus.word_counts, counts.sum(axis=0))
        np.testing.assert_array_equal(corpus.to_counts().toarray(), counts[:, :1])
        assert corpus.n_documents == 5
        assert corpus.to_counts().has_sorted_indices


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"min_df": 0}, "bad_argument"),
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
def test_by_default_features_are_neither_rare_nor_common_for_the_size_of_the_corpus(n_documents, kept, dropped):
    with count_texts(plant(n_documents, **kept, **dropped), CorpusOptions(phrases=False)) as corpus:
        assert {word for word in corpus.vocabulary if not word.startswith("own")} == set(kept)
        assert set(dropped) <= set(corpus.words)


@pytest.mark.parametrize("options", [{}, {"min_df": 1, "max_df": 1.0}], ids=str)
def test_counts_depend_neither_on_chunks_nor_on_whether_the_features_are_known(options):
    texts = TEXTS + [f"word{i % 97} shared {'tail ' * (i % 7)} é{i % 13}x" for i in range(4000)]
    with count_texts(texts, CorpusOptions(**options)) as corpus:
        counts = sum_chunks(corpus)
    with count_texts(texts, CorpusOptions(**options, memory=1)) as again:
        assert len(list(again.chunks())) > 2
        assert (again.words, again.copy_of.tolist()) == (corpus.words, corpus.copy_of.tolist())
        assert (sum_chunks(again) != counts).nnz == 0
        np.testing.assert_array_equal(again.document_frequencies, corpus.document_frequencies)
    with count_texts(texts, CorpusOptions(**options), features=corpus.vocabulary) as known:
        assert known.words == corpus.words
        assert (sum_chunks(known) != counts).nnz == 0


def sum_chunks(corpus):
    import scipy.sparse as sp

    return sp.vstack([chunk.counts for chunk in corpus.chunks()], format="csr")


def test_features_that_a_corpus_lacks_have_empty_columns_and_new_words_follow():
    with count_texts(["Sushi and the tofu", "tofu"], features=["rice", "sushi", "fish market"]) as corpus:
        assert corpus.words == ["rice", "sushi", "fish market", "and", "the", "tofu"]
        assert sum_chunks(corpus).toarray().tolist() == [[0, 1, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "spool"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def test_the_temporary_folder_goes_with_the_corpus(folder):
    with count_texts(DOCUMENTS, every_word()) as corpus:
        assert len(list(folder.iterdir())) == 1
    assert list(folder.iterdir()) == []
    assert corpus.vocabulary == ["aa", "bb", "cc", "dd", "ee"]
    with raises("corpus_closed"):
        list(corpus.chunks())


def test_nothing_is_left_behind_by_an_interruption(folder, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": f"good number{i}x"}) + "\n" for i in range(20_000)), encoding="utf-8")

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_corpus(path, every_word(memory=1), on_progress=interrupt)
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_reported_with_the_folder_and_how_to_change_it(folder, monkeypatch):
    def fill_disk(*args, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", fill_disk)
    with raises("tmp_dir_failed"):
        count_texts(DOCUMENTS, every_word())
    assert list(folder.iterdir()) == []


def random_text(rng, n_words):
    return [f"word{i}x" for i in rng.integers(0, 5000, n_words)]


def test_every_exact_copy_is_found_among_documents_that_are_alike():
    texts = [f"alpha beta{i % 5}x gamma delta epsilon" for i in range(100)]
    with count_texts(texts, every_word()) as corpus:
        assert corpus.copy_of.tolist() == [i % 5 for i in range(100)]


def test_documents_that_repeat_an_earlier_one_are_marked():
    rng = np.random.default_rng(0)
    originals = [random_text(rng, 100) for _ in range(60)]
    changed = [[*words[:50], "other", *words[51:]] for words in originals]
    halves = [[*words[:50], *random_text(rng, 50)] for words in originals]
    documents = [" ".join(words) for words in [*originals, *changed, *halves, originals[0], [], []]]
    with count_texts(documents, every_word()) as corpus:
        copies = np.flatnonzero(corpus.copy_of != np.arange(183))
    # 98 of 100 different words are shared: each is found with probability .9998.
    assert len(np.intersect1d(copies, np.arange(60, 120))) >= 58
    assert set(copies.tolist()) <= {*range(60, 120), 180}
    assert corpus.copy_of[180] == 0
    assert all(corpus.copy_of[copies[copies < 180]] == copies[copies < 180] - 60)


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

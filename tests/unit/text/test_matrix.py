import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import raises

from mixsearch.text import CorpusOptions, read_corpus

# The third document is empty, and so is the last; nobody uses the third word.
COUNTS = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]])
WORDS = ["zebra", "ant", "gnu", "bee"]
USED = [0, 1, 3]


def read(path, **options):
    with read_corpus(path, CorpusOptions(**options)) as corpus:
        return corpus.vocabulary, corpus.to_counts().toarray(), corpus.notes


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "vocab.tiny.txt"
    path.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


def test_a_file_of_scipy_is_read_with_its_vocabulary(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csc_array(COUNTS.astype(float)))
    words, counts, _ = read(tmp_path / "a.npz", vocabulary=vocabulary)
    assert words == [WORDS[i] for i in USED]
    np.testing.assert_array_equal(counts, COUNTS[:, USED])


def test_many_documents_come_in_chunks_and_words_without_names_are_numbered(tmp_path):
    counts = np.random.default_rng(0).poisson(0.4, size=(5000, 60))
    counts[100:140] = 0
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(counts))
    with read_corpus(tmp_path / "a.npz") as corpus:
        assert len(list(corpus.chunks())) > 1
        np.testing.assert_array_equal(corpus.to_counts().toarray(), counts)
        assert [row for chunk in corpus.chunks() for row in chunk.rows] == list(range(5000))
        assert [note.code for note in corpus.notes] == ["no_vocabulary"]
        assert corpus.vocabulary[:2] == ["word1", "word2"]


def test_frequencies_and_stop_words_choose_columns_too(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    words, counts, _ = read(tmp_path / "a.npz", vocabulary=vocabulary, min_df=2, stop_words=["bee"], max_words=1)
    assert words == ["ant"]
    np.testing.assert_array_equal(counts, COUNTS[:, [1]])


def test_a_vocabulary_of_the_wrong_length_is_refused(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS[:, :3]))
    with raises("wrong_vocabulary", n_found=4, n_words=3):
        read(tmp_path / "a.npz", vocabulary=vocabulary)


def test_weights_are_not_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS / 2))
    with raises("not_counts"):
        read(tmp_path / "a.npz")


def test_options_that_need_texts_are_refused_for_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    with raises("needs_texts", argument="drop_duplicates"):
        read(tmp_path / "a.npz", drop_duplicates=True)
    with raises("several_count_files", n_files=2):
        read([tmp_path / "a.npz", tmp_path / "a.npz"])

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from mixsearch.errors import SearchError
from mixsearch.text import CorpusOptions, read_corpus

# The third document is empty, and so is the last; nobody uses the third word.
COUNTS = np.array([[1, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]])
WORDS = ["zebra", "ant", "gnu", "bee"]
USED = [0, 1, 3]


def docword(counts, n_lines=None):
    triples = [f"{i + 1} {j + 1} {counts[i, j]}\n" for i, j in np.argwhere(counts)]
    header = f"{counts.shape[0]}\n{counts.shape[1]}\n{len(triples) if n_lines is None else n_lines}\n"
    return header + "".join(triples)


def read(path, **options):
    with read_corpus(path, CorpusOptions(**options)) as corpus:
        return corpus.vocabulary, corpus.to_counts().toarray(), corpus.notes


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "vocab.tiny.txt"
    path.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


def test_docword_finds_its_vocabulary_and_keeps_the_order_of_its_words(tmp_path, vocabulary):
    path = tmp_path / "docword.tiny.txt.gz"
    path.write_bytes(gzip.compress(docword(COUNTS).encode()))
    words, counts, notes = read(path)
    assert words == [WORDS[i] for i in USED]
    np.testing.assert_array_equal(counts, COUNTS[:, USED])
    assert notes == ()


def test_docword_in_many_chunks_is_the_same(tmp_path):
    counts = np.random.default_rng(0).poisson(0.4, size=(700, 60))
    counts[100:140] = 0
    path = tmp_path / "docword.txt"
    path.write_text(docword(counts), encoding="utf-8")
    with read_corpus(path, CorpusOptions(memory=1)) as corpus:
        assert len(list(corpus.chunks())) > 1
        np.testing.assert_array_equal(corpus.to_counts().toarray(), counts)
        assert [row for chunk in corpus.chunks() for row in chunk.rows] == list(range(700))
        assert [note.code for note in corpus.notes] == ["no_vocabulary"]
        assert "words are named by their columns" in str(corpus.notes[0])
        assert corpus.vocabulary[:2] == ["word1", "word2"]


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz"])
def test_matrix_market_and_scipy_files_are_read(tmp_path, vocabulary, name):
    path = tmp_path / name
    if name.endswith("npz"):
        sp.save_npz(path, sp.csc_array(COUNTS.astype(float)))
    else:
        scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(COUNTS))
        plain = (tmp_path / "a.mtx").read_bytes()
        path.write_bytes(gzip.compress(plain) if name.endswith("gz") else plain)
    words, counts, _ = read(path, vocabulary=vocabulary)
    assert words == [WORDS[i] for i in USED]
    np.testing.assert_array_equal(counts, COUNTS[:, USED])


def test_frequencies_and_stop_words_choose_columns_too(tmp_path, vocabulary):
    path = tmp_path / "docword.tiny.txt"
    path.write_text(docword(COUNTS), encoding="utf-8")
    words, counts, _ = read(path, min_df=2, stop_words=["bee"], max_words=1)
    assert words == ["ant"]
    np.testing.assert_array_equal(counts, COUNTS[:, [1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "starts with b'hello.n', but .* the numbers of documents"),
        ("2\n2\n2\n1 1 1\n1 x 1\n", "Line 5 of .* is b'1 x 1'"),
        ("2\n2\n2\n1 1 1\n1 2\n", "Line 5 of .* is b'1 2'"),
        ("2\n2\n2\n2 1 1\n1 2 1\n", "documents of .* are not in order.*sort -n"),
        ("2\n2\n1\n3 1 1\n", "has the document number 3, but they go from 1 to 2"),
        ("2\n2\n1\n1 0 1\n", "has the word number 0, but they go from 1 to 2"),
        ("2\n2\n1\n1 1 -1\n", "has the count -1"),
        ("2\n2\n3\n1 1 1\n", "has 1 counts, but its third line promises 3"),
    ],
)
def test_broken_docwords_are_reported_with_file_and_line(tmp_path, content, message):
    path = tmp_path / "docword.x.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SearchError, match=message):
        read(path)


def test_a_vocabulary_of_the_wrong_length_is_refused(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS[:, :3]))
    with pytest.raises(SearchError, match="has 4 words, but the counts have 3 columns"):
        read(tmp_path / "a.npz", vocabulary=vocabulary)


def test_a_vocabulary_with_a_word_twice_is_refused(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    vocabulary.write_text("ant\nbee\ngnu\nbee\n", encoding="utf-8")
    with pytest.raises(SearchError, match="has the word 'bee' twice"):
        read(tmp_path / "a.npz", vocabulary=vocabulary)


def test_weights_are_not_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS / 2))
    with pytest.raises(SearchError, match="has values that are not counts"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize(("name", "needed"), [("a.npz", "save_npz"), ("a.mtx", "a Matrix Market file")])
def test_files_that_scipy_cannot_read_are_named(tmp_path, name, needed):
    (tmp_path / name).write_text("nothing of the kind", encoding="utf-8")
    with pytest.raises(SearchError, match=f"Cannot read '.*{name}'.*{needed}"):
        read(tmp_path / name)


def test_options_that_need_texts_are_refused_for_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    with pytest.raises(SearchError, match="drop_duplicates needs texts, but the file holds ready-made counts"):
        read(tmp_path / "a.npz", drop_duplicates="exact")
    with pytest.raises(SearchError, match="Ready-made counts must be in 1 file, got 2"):
        read([tmp_path / "a.npz", tmp_path / "a.npz"])

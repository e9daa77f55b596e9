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


def test_docword_in_many_blocks_is_the_same(tmp_path):
    counts = np.random.default_rng(0).poisson(0.4, size=(700, 60))
    counts[100:140] = 0
    path = tmp_path / "docword.txt"
    path.write_text(docword(counts), encoding="utf-8")
    with read_corpus(path, CorpusOptions(memory=1)) as corpus:
        assert len(list(corpus.blocks())) > 1
        np.testing.assert_array_equal(corpus.to_counts().toarray(), counts)
        assert [row for block in corpus.blocks() for row in block.rows] == list(range(700))
        assert "words are called by their columns" in corpus.notes[0]
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
        ("hello\n", "Found b'hello.n' at the start of .*, needed the numbers of documents"),
        ("2\n2\n2\n1 1 1\n1 x 1\n", "Found b'1 x 1' in line 5 of"),
        ("2\n2\n2\n1 1 1\n1 2\n", "Found b'1 2' in line 5 of"),
        ("2\n2\n2\n2 1 1\n1 2 1\n", "Found documents out of order in .*sort -n"),
        ("2\n2\n1\n3 1 1\n", "Found the document number 3 in .*, needed 1 to 2"),
        ("2\n2\n1\n1 0 1\n", "Found the word number 0 in .*, needed 1 to 2"),
        ("2\n2\n1\n1 1 -1\n", "Found the count -1"),
        ("2\n2\n3\n1 1 1\n", "Found 1 counts in .*, needed 3 as its third line says"),
    ],
)
def test_broken_docwords_are_told_by_file_and_line(tmp_path, content, message):
    path = tmp_path / "docword.x.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SearchError, match=message):
        read(path)


def test_a_vocabulary_of_the_wrong_length_is_refused(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS[:, :3]))
    with pytest.raises(SearchError, match="Found 4 words in .*, needed 3, one for each column"):
        read(tmp_path / "a.npz", vocabulary=vocabulary)


def test_a_vocabulary_with_a_word_twice_is_refused(tmp_path, vocabulary):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    vocabulary.write_text("ant\nbee\ngnu\nbee\n", encoding="utf-8")
    with pytest.raises(SearchError, match="Found the word 'bee' twice in"):
        read(tmp_path / "a.npz", vocabulary=vocabulary)


def test_weights_are_no_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS / 2))
    with pytest.raises(SearchError, match="Found values that are no counts"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize(("name", "needed"), [("a.npz", "save_npz"), ("a.mtx", "a Matrix Market file")])
def test_files_that_scipy_cannot_read_are_said(tmp_path, name, needed):
    (tmp_path / name).write_text("nothing of the kind", encoding="utf-8")
    with pytest.raises(SearchError, match=f"Could not read '.*{name}'.*{needed}"):
        read(tmp_path / name)


def test_options_that_need_texts_are_refused_for_counts(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(COUNTS))
    with pytest.raises(SearchError, match="Found the option drop_duplicates for ready-made counts"):
        read(tmp_path / "a.npz", drop_duplicates="exact")
    with pytest.raises(SearchError, match="Found 2 files of ready-made counts, needed 1"):
        read([tmp_path / "a.npz", tmp_path / "a.npz"])

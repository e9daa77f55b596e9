"""A fitted corpus in a folder is the one in memory; damage is reported."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import raises

from mixsearch.datasets import make_topics
from mixsearch.errors import DamagedFolderError
from mixsearch.io.folder import open_folder, write_folder
from mixsearch.topics import storage
from mixsearch.topics.fitted_corpus import FittedCorpus, Segment, damp_counts, place_documents
from mixsearch.topics.storage import (
    SEGMENTS,
    CountWriter,
    join_segments,
    name_segment,
    open_corpus,
    take_documents,
    write_by_word,
    write_frame,
    write_segment,
)

COUNTS = sp.csr_array(make_topics(300, 80, 4, mean_length=30, random_state=0).counts)
WORDS = [f"wörd {i} 猫" for i in range(80)]
COPIES = np.arange(300) - np.arange(300) % 3


def fit(counts=COUNTS, n_features=60):
    return FittedCorpus.fit(counts, WORDS, n_components=5, n_features=n_features, copy_of=COPIES[: counts.shape[0]])


def save(corpus, path):
    with write_folder(path) as out:
        write_frame(out, corpus.frame)
        out.save_texts(storage.WORDS, corpus.words)
        for i, segment in enumerate(corpus.segments):
            write_segment(out, name_segment(i), segment)
        out.facts[SEGMENTS] = [name_segment(i) for i in range(len(corpus.segments))]
    return path


def assert_same(one, other):
    """Compare documents in memory with documents that were mapped."""
    assert list(one.words) == list(other.words)
    for a, b in zip(vars(one.frame).values(), vars(other.frame).values(), strict=True):
        assert np.array_equal(a, b)
    assert_same_segments(one.segments, other.segments)


def assert_same_segments(ones, others):
    for a, b in zip(ones, others, strict=True):
        for name in ("by_document", "by_word"):
            assert np.array_equal(getattr(a, name).toarray(), getattr(b, name).toarray())
        for x, y in zip((*a.placed, a.copy_of, a.rows), (*b.placed, b.copy_of, b.rows), strict=True):
            assert np.array_equal(x, y)


def test_a_corpus_that_is_opened_equals_the_one_in_memory(tmp_path):
    corpus = fit()
    opened = open_corpus(open_folder(save(corpus, tmp_path / "corpus"), check_all=True))
    assert_same(corpus, opened)
    assert np.array_equal(opened.document_frequency, (COUNTS > 0).sum(axis=0))
    assert opened.words[3:5] == WORDS[3:5]


@pytest.mark.parametrize("size", [100, 10**9])
def test_counts_that_are_written_in_blocks_of_words_are_the_same(size, tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "BLOCK_NONZEROS", size)
    (segment,) = fit().segments
    counts = sp.csr_array(segment.by_word)
    with write_folder(tmp_path / "counts") as out:
        write_by_word(out, "blocks", [counts[:, :60], counts[:, 60:]])
        CountWriter(out, "whole/by_word").append(segment.by_word)
    folder = open_folder(tmp_path / "counts")
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(folder[f"blocks/by_word/{part}"], folder[f"whole/by_word/{part}"])


def test_documents_are_taken_and_joined_as_in_dense_arrays():
    (segment,) = fit().segments
    is_kept = np.random.default_rng(0).random(300) < 0.4
    parts = [take_documents(segment, mask) for mask in (is_kept, ~is_kept)]
    assert np.array_equal(parts[0].by_word.toarray(), segment.by_word.toarray()[is_kept])
    joined, order = join_segments(parts), np.argsort(~is_kept, kind="stable")
    for name in ("by_document", "by_word"):
        assert np.array_equal(getattr(joined, name).toarray(), getattr(segment, name).toarray()[order])
    assert np.array_equal(joined.placed.coordinates, segment.placed.coordinates[order])
    assert np.array_equal(joined.rows, segment.rows[order])
    # Near copies that are left repeat the first of them that is left.
    kept = np.flatnonzero(is_kept)
    expected = [next(i for i, row in enumerate(kept) if COPIES[row] == COPIES[own]) for own in kept]
    assert np.array_equal(parts[0].copy_of, expected)


def test_a_segment_with_more_words_is_joined_with_one_of_fewer():
    corpus = fit()
    more = damp_counts(sp.csr_array(np.eye(4, 90)))
    features = sp.csr_array(more[:, :60])
    new = Segment(
        features, sp.csc_array(more), place_documents(corpus.frame, features), np.arange(4), np.arange(300, 304)
    )
    joined = join_segments([corpus.segments[0], new])
    assert joined.by_word.shape == (304, 90)
    assert np.array_equal(joined.by_word.toarray()[300:], more.toarray())
    assert np.array_equal(joined.copy_of[300:], np.arange(300, 304))


def test_more_counts_than_a_segment_can_hold_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MAX_NONZEROS", 100)
    with raises("too_many_counts", maximum=100):
        save(fit(), tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("segment_0/by_document/indices", lambda values: values + 60),
        ("segment_0/by_word/indices", lambda values: values - 1),
        ("segment_0/by_word/indptr", lambda values: values[::-1]),
        ("segment_0/by_document/data", lambda values: values[1:]),
        ("segment_0/placed/nearest", lambda values: values + 300),
        ("segment_0/rows", lambda values: values[1:]),
        ("frame/basis", lambda values: values[1:]),
        ("frame/broad_center", lambda values: np.tile(values, 2)),
        ("frame/idf", lambda values: values.astype(int)),
        ("frame/values", None),
    ],
)
def test_arrays_that_do_not_fit_together_are_damage(name, change, tmp_path):
    """A folder with right checksums, which only a wrong program writes."""
    folder = open_folder(save(fit(), tmp_path / "corpus"))
    with write_folder(tmp_path / "damaged") as out:
        out.facts.update(folder.facts)
        out.save_texts("words", WORDS)
        for each, values in folder.items():
            if each != name or change is not None:
                out.save(each, change(np.array(values)) if each == name else values)
    with pytest.raises(DamagedFolderError):
        open_corpus(open_folder(tmp_path / "damaged"))

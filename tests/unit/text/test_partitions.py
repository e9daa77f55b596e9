"""A corpus in partitions gives what the files give as a whole, wherever they are split."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.every_word import every_word

from mixsearch.data.files.sources import find_sources
from mixsearch.text import read_corpus
from mixsearch.text.count.partitions import (
    count_frequencies,
    count_partition,
    drop_rows,
    find_duplicates,
    merge_spellings,
    spell_in_partition,
    split_file,
    split_fingerprints,
    sum_frequencies,
)
from mixsearch.text.count.vocabulary import build_vocabulary, choose_words
from mixsearch.text.read.columns import Columns
from mixsearch.text.read.documents import ReadState
from mixsearch.text.read.formats import read_documents

NO_STOPS = np.empty(0, dtype=np.uint64)
REVIEW = Columns(("review",), None)


def read_texts(loaders):
    return [text for load in loaders for text in load().texts]


def read_partition(partition, columns=None):
    return read_texts(partition.load(ReadState(every_word(), columns=columns)))


def read_partitions(partitions, columns=None):
    return [text for partition in partitions for text in read_partition(partition, columns)]


def split_all(source, max_bytes, columns=None):
    sources = find_sources(source, None)
    return [partition for file in sources.paths for partition in split_file(file, sources, columns, max_bytes)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@given(
    lines=st.lists(st.text("aé \t", max_size=8)),
    ending=st.sampled_from(["\n", "\r\n"]),
    start=st.sampled_from(["", "\ufeff"]),
    max_bytes=st.integers(1, 40),
)
def test_lines_are_the_same_wherever_a_file_is_split(folder, lines, ending, start, max_bytes):
    path = folder / "texts.txt"
    path.write_bytes((start + ending.join(lines)).encode())
    sources = find_sources(path, None)
    partitions = split_all(path, max_bytes)
    assert read_partitions(partitions) == read_texts(read_documents(sources, ReadState(every_word())))
    assert sum(partition.n_bytes for partition in partitions) == path.stat().st_size


@given(max_bytes=st.integers(1, 400))
def test_objects_are_the_same_wherever_a_file_is_split(folder, max_bytes):
    path = folder / "reviews.jsonl"
    records = [{"review": f"text {i}"} if i % 3 else {"stars": i} for i in range(1, 30)]
    path.write_text("\n".join(map(json.dumps, records)))
    # A partition may begin where the column is missing for a while.
    assert read_partitions(split_all(path, max_bytes), REVIEW) == [record.get("review", "") for record in records]


@pytest.mark.parametrize("max_bytes", [1, 300, 10_000])
def test_row_groups_are_the_same_however_they_are_put_together(folder, max_bytes):
    path = folder / "reviews.parquet"
    texts = [f"a review that says {i}" for i in range(50)]
    pq.write_table(pa.table({"review": texts, "stars": range(50)}), path, row_group_size=7)
    partitions = split_all(path, max_bytes, REVIEW)
    assert len(partitions) == {1: 8, 300: 4, 10_000: 1}[max_bytes]
    assert read_partitions(partitions, REVIEW) == texts


@given(
    letters=st.lists(st.sampled_from(["", "one", "two", "one two", "three"]), min_size=1, max_size=20),
    max_bytes=st.integers(1, 60),
    n_groups=st.integers(1, 4),
)
def test_words_and_duplicates_of_partitions_are_those_of_the_whole(folder, letters, max_bytes, n_groups):
    path = folder / "letters.txt"
    path.write_text("\n".join(["four", *letters]))
    options = every_word(drop_duplicates="exact", n_jobs=1)
    counted = [count_partition(partition, options, None, NO_STOPS) for partition in split_all(path, max_bytes)]
    split = [split_fingerprints(partition, n_groups) for partition in counted]
    duplicates = [find_duplicates([own[group] for own in split]) for group in range(n_groups)]
    left = [drop_rows(partition, [rows[number] for rows in duplicates]) for number, partition in enumerate(counted)]
    firsts = np.cumsum([0, *(partition.n_rows for partition in counted)])
    rows = [first + chunk.rows for partition, first in zip(left, firsts, strict=False) for chunk in partition.stored]
    total = sum_frequencies([count_frequencies(partition) for partition in left])
    frequencies = choose_words(total, sum(map(len, rows)), options)
    words = merge_spellings([spell_in_partition(partition, frequencies) for partition in left])
    vocabulary = build_vocabulary(frequencies, words, None, by_alphabet=True)
    with read_corpus(path, options) as corpus:
        assert vocabulary.words == corpus.vocabulary
        assert vocabulary.totals.tolist() == corpus.word_counts.tolist()
        assert np.concatenate(rows).tolist() == [row for chunk in corpus.chunks() for row in chunk.rows]

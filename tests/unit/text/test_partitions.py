"""A corpus in parts gives what the files give as a whole, wherever they are cut."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixsearch import SearchError
from mixsearch.text import CorpusOptions, read_corpus
from mixsearch.text.count.partitions import (
    count_part,
    cut_file,
    drop_rows,
    find_repeats,
    join_small,
    join_spellings,
    part_bytes,
    spell_part,
    split_marks,
    sum_tallies,
    tally_part,
)
from mixsearch.text.count.vocabulary import choose_words, order_words
from mixsearch.text.read.columns import Columns
from mixsearch.text.read.documents import Reading
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.sources import find_sources

NO_STOPS = np.empty(0, dtype=np.uint64)
REVIEW = Columns(("review",), None)


def texts_of(loads):
    return [text for load in loads for text in load().texts]


def texts_of_parts(parts, columns=None):
    return [text for part in parts for text in texts_of(part.load(Reading(CorpusOptions(), columns=columns)))]


def cut(source, most_bytes, columns=None):
    sources = find_sources(source, None)
    return [part for file in sources.paths for part in cut_file(file, sources, columns, most_bytes)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@given(
    lines=st.lists(st.text("aé \t", max_size=8)),
    ending=st.sampled_from(["\n", "\r\n"]),
    start=st.sampled_from(["", "\ufeff"]),
    most=st.integers(1, 40),
)
def test_lines_are_the_same_wherever_a_file_is_cut(folder, lines, ending, start, most):
    path = folder / "texts.txt"
    path.write_bytes((start + ending.join(lines)).encode())
    sources = find_sources(path, None)
    parts = cut(path, most)
    assert texts_of_parts(parts) == texts_of(read_documents(sources, Reading(CorpusOptions())))
    assert sum(part.n_bytes for part in parts) == path.stat().st_size


@given(most=st.integers(1, 400))
def test_objects_are_the_same_wherever_a_file_is_cut(folder, most):
    path = folder / "reviews.jsonl"
    records = [{"review": f"text {i}"} if i % 3 else {"stars": i} for i in range(1, 30)]
    path.write_text("\n".join(map(json.dumps, records)))
    # A part may begin where the column is missing for a while.
    assert texts_of_parts(cut(path, most), REVIEW) == [record.get("review", "") for record in records]


@pytest.mark.parametrize("most", [1, 300, 10_000])
def test_row_groups_are_the_same_however_they_are_put_together(folder, most):
    path = folder / "reviews.parquet"
    texts = [f"a review that says {i}" for i in range(50)]
    pq.write_table(pa.table({"review": texts, "stars": range(50)}), path, row_group_size=7)
    parts = cut(path, most, REVIEW)
    assert len(parts) == {1: 8, 300: 4, 10_000: 1}[most]
    assert texts_of_parts(parts, REVIEW) == texts


def test_rows_of_a_later_part_are_counted_from_the_start_of_the_file(folder):
    path = folder / "reviews.parquet"
    pq.write_table(pa.table({"review": ["a", "b", "c", "d"]}), path, row_group_size=2)
    load = next(cut(path, 1, REVIEW)[1].load(Reading(CorpusOptions(), columns=REVIEW)))
    assert load().place(1) == f"row 4 of {str(path)!r}"


def test_a_file_whose_rows_only_its_reader_can_tell_is_one_part(folder):
    table, packed = folder / "reviews.csv", folder / "reviews.jsonl.gz"
    table.write_text('review\n"two\nlines"\nplain\n')
    packed.write_bytes(gzip.compress(b'{"review": "a"}\n{"review": "b"}\n'))
    assert [texts_of_parts([part], REVIEW) for part in cut(table, 1)] == [["two\nlines", "plain"]]
    assert [texts_of_parts([part], REVIEW) for part in cut(packed, 1)] == [["a", "b"]]


def test_small_files_come_together(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text("x" * 100)
    parts = join_small(cut(tmp_path, 300), 300)
    assert [len(part.sources.paths) for part in parts] == [3, 3, 1]
    assert [part.n_bytes for part in parts] == [300, 300, 100]
    assert texts_of_parts(parts) == ["x" * 100] * 7


def test_parts_of_large_files_stay_apart_from_small_files(tmp_path):
    for number, length in enumerate([10, 10, 35, 10, 10]):
        (tmp_path / f"{number}.jsonl").write_text("".join(f'"t{i}"\n' for i in range(length)))
    parts = join_small(cut(tmp_path, 120), 120)
    assert [(len(part.sources.paths), part.span is None) for part in parts] == [
        (2, True),
        (1, False),
        (1, False),
        (2, True),
    ]
    assert texts_of_parts(parts) == [f"t{i}" for length in (10, 10, 35, 10, 10) for i in range(length)]


def test_an_error_says_where_the_counting_of_lines_began(folder):
    path = folder / "broken.jsonl"
    path.write_text('{"review": "fine"}\n' * 3 + '{"review": \n')
    part = cut(path, 38)[1]
    with pytest.raises(SearchError, match="broken JSON in line 2 of .* Lines are counted from byte 38 of the file on"):
        count_part(part, CorpusOptions(n_jobs=1), REVIEW, NO_STOPS)


def test_files_that_vanish_are_named(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("word")
    sources = find_sources(tmp_path, None)
    part = join_small(cut(tmp_path, 100), 100)[0]
    (tmp_path / "b.txt").unlink()
    with pytest.raises(SearchError, match="Could not read a file: .*b.txt'. Do all workers see it"):
        count_part(part, CorpusOptions(n_jobs=1), None, NO_STOPS)
    with pytest.raises(SearchError, match="Could not read '.*b.txt' as Parquet"):
        cut_file(sources.paths[1], replace(sources, format="parquet"), REVIEW, 100)


def test_a_table_without_rows_is_a_part_without_documents(tmp_path):
    pq.write_table(pa.table({"review": pa.array([], pa.string())}), tmp_path / "none.parquet")
    assert texts_of_parts(cut(tmp_path / "none.parquet", 100, REVIEW), REVIEW) == []


def test_parts_are_neither_small_nor_large(folder):
    path = folder / "texts.txt"
    path.write_text("word\n" * 1000)
    assert part_bytes(find_sources(path, None), 1000) == 1 << 18
    path.write_text("word\n" * 10_000_000)
    assert part_bytes(find_sources(path, None), 1) == 50_000_000 // 4
    path.unlink()


@given(
    letters=st.lists(st.sampled_from(["", "one", "two", "one two", "three"]), min_size=1, max_size=20),
    most=st.integers(1, 60),
    n_shares=st.integers(1, 4),
)
def test_words_and_duplicates_of_parts_are_those_of_the_whole(folder, letters, most, n_shares):
    path = folder / "letters.txt"
    path.write_text("\n".join(["four", *letters]))
    options = CorpusOptions(drop_duplicates="exact", n_jobs=1)
    counted = [count_part(part, options, None, NO_STOPS) for part in cut(path, most)]
    split = [split_marks(part, n_shares) for part in counted]
    repeats = [find_repeats([own[share] for own in split]) for share in range(n_shares)]
    left = [drop_rows(part, [rows[number] for rows in repeats]) for number, part in enumerate(counted)]
    firsts = np.cumsum([0, *(part.n_rows for part in counted)])
    rows = [first + block.rows for part, first in zip(left, firsts, strict=False) for block in part.blocks]
    tally = choose_words(sum_tallies([tally_part(part) for part in left]), sum(map(len, rows)), options)
    words = join_spellings([spell_part(part, tally) for part in left])
    vocabulary = order_words(tally, words, None, by_alphabet=True)
    with read_corpus(path, options) as corpus:
        assert vocabulary.words == corpus.vocabulary
        assert vocabulary.totals.tolist() == corpus.word_counts.tolist()
        assert np.concatenate(rows).tolist() == [row for block in corpus.blocks() for row in block.rows]

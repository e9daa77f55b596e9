"""Counts that somebody else has made: UCI bags of words, Matrix Market and SciPy files."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.io
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices
from mixsearch.errors import SearchError
from mixsearch.text.count.ngrams import BlockCounts
from mixsearch.text.count.wordlists import read_vocabulary
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.documents import Reading, file_name
from mixsearch.text.read.files import File, file_of, size_of
from mixsearch.text.read.sources import Progress, Sources, open_bytes, strip_compression_suffix

_ROWS = 4096
_TRIPLE = re.compile(rb"\s*\d+\s+\d+\s+\d+\s*")
# What asks for texts, and its value where it does not.
_NEED_TEXTS = {"text": None, "id": None, "token_pattern": None, "tokenizer": None, "drop_duplicates": None}


@dataclass(frozen=True)
class Bags:
    """Blocks of counts whose keys are columns, and the word of each column."""

    words: list[str]
    blocks: Iterator[BlockCounts]


def read_bags(sources: Sources, reading: Reading) -> Bags:
    """The counts of one file."""
    if len(sources.paths) != 1:
        raise SearchError(f"Found {len(sources.paths)} files of ready-made counts, needed 1: index them one by one.")
    _check_options(reading.options)
    path = sources.paths[0]
    if sources.format == "docword":
        sizes = _read_sizes(path)
        return Bags(_name_columns(path, sizes.n_words, reading), _read_docword(path, sizes, reading))
    counts = _load_counts(path, sources.format)
    reading.progress.add(size_of(path) or 0)
    words = _name_columns(path, counts.shape[1], reading)
    return Bags(words, (as_block(counts[rows]) for rows in row_slices(counts.shape[0], _ROWS)))


def as_block(counts: sp.csr_array[Any]) -> BlockCounts:
    """Counts over all columns as counts over those that occur."""
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    keys = np.flatnonzero(occurs)
    words = (np.cumsum(occurs) - 1)[counts.indices].astype(np.int32)
    # Words are known by their columns: nothing is to be spelled.
    no_letters, no_lengths = np.empty(0, dtype=np.uint8), np.zeros(len(keys), dtype=np.int64)
    bounds = counts.indptr.astype(np.int64)
    return BlockCounts(keys.astype(np.uint64), bounds, words, counts.data.astype(np.int32), no_letters, no_lengths)


def _check_options(options: CorpusOptions) -> None:
    asked = [name for name, unasked in _NEED_TEXTS.items() if getattr(options, name) != unasked]
    if options.ngrams != (1, 1):
        asked.append("ngrams")
    if asked:
        raise SearchError(
            f"Found the option {asked[0]} for ready-made counts, which have no texts: leave it out, or read the texts."
        )


def _name_columns(path: File, n_words: int, reading: Reading) -> list[str]:
    given = reading.options.vocabulary
    found = file_of(given) if given is not None else _vocabulary_beside(path)
    if found is not None:
        return read_vocabulary(found, n_words)
    reading.notes.append(
        f"No vocabulary was found for {file_name(path)}, so words are called by their columns, from 'word1'; "
        "vocabulary= names a file with one word on each line."
    )
    return [f"word{column}" for column in range(1, n_words + 1)]


def _vocabulary_beside(path: File) -> File | None:
    """Of docword.kos.txt.gz, vocab.kos.txt or vocab.kos.txt.gz."""
    if not strip_compression_suffix(path).startswith("docword."):
        return None
    name = "vocab." + strip_compression_suffix(path).removeprefix("docword.")
    return next(
        (beside for end in ("", ".gz", ".bz2", ".xz") if (beside := path.with_name(name + end)).is_file()), None
    )


@dataclass(frozen=True)
class _Sizes:
    n_documents: int
    n_words: int
    n_lines: int


def _read_sizes(path: File) -> _Sizes:
    with open_bytes(path, Progress()) as file:
        header = [file.readline() for _ in range(3)]
    try:
        return _Sizes(*map(int, header))
    except ValueError as error:
        raise SearchError(
            f"Found {header[0][:40]!r} at the start of {file_name(path)}, needed the numbers of documents, of words "
            "and of lines on a line each, as in the UCI bags of words."
        ) from error


def _read_docword(path: File, sizes: _Sizes, reading: Reading) -> Iterator[BlockCounts]:
    """Blocks of whole documents; a document without lines is one without words."""
    next_document, n_lines = 1, 0
    rest = np.empty((0, 3), dtype=np.int64)
    for line, data in _blocks_of_lines(path, reading):
        triples = np.concatenate([rest, _parse_triples(data, line, path)])
        _check_triples(triples, next_document, sizes, path)
        n_lines += len(triples) - len(rest)
        # The last document may go on in the next block.
        last = int(triples[-1, 0])
        whole = int(np.searchsorted(triples[:, 0], last))
        if whole:
            yield _block_of_triples(triples[:whole], next_document, last, sizes)
            next_document = last
        rest = triples[whole:]
    if n_lines != sizes.n_lines:
        raise SearchError(
            f"Found {n_lines:,} counts in {file_name(path)}, needed {sizes.n_lines:,} as its third line says: "
            "the file was cut short, or changed."
        )
    yield _block_of_triples(rest, next_document, sizes.n_documents + 1, sizes)


def _blocks_of_lines(path: File, reading: Reading) -> Iterator[tuple[int, bytes]]:
    """Whole lines after the sizes, each block with the number of its first line."""
    with open_bytes(path, reading.progress) as file:
        for _ in range(3):
            file.readline()
        line, rest = 4, b""
        while data := _read_some(file, reading.options.block_bytes):
            cut = data.rfind(b"\n") + 1
            if block := rest + data[:cut]:
                yield line, block
            line, rest = line + block.count(b"\n"), data[cut:]
        if rest.strip():
            yield line, rest


def _read_some(file: BinaryIO, size: int) -> bytes:
    """Some whole lines and a part of one; at least one line where there is one."""
    data = file.read(size)
    return data if b"\n" in data or len(data) < size else data + file.readline()


def _parse_triples(data: bytes, line: int, path: File) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(cast(str, data), dtype=np.int64, sep=" ")
        except (DeprecationWarning, ValueError):
            values = np.empty(0, dtype=np.int64)
    # Far faster than looking at each line; they are only looked at where the numbers do not add up.
    if len(values) != 3 * (data.count(b"\n") + (not data.endswith(b"\n"))):
        lines = data.split(b"\n")
        bad = next((i for i, text in enumerate(lines) if not _TRIPLE.fullmatch(text)), 0)
        raise SearchError(
            f"Found {lines[bad][:40]!r} in line {line + bad:,} of {file_name(path)}, needed the numbers of a document "
            "and of a word, and a count."
        )
    return values.reshape(-1, 3)


def _check_triples(triples: Array, next_document: int, sizes: _Sizes, path: File) -> None:
    documents, words, counts = triples.T
    if documents[0] < next_document or (np.diff(documents) < 0).any():
        raise SearchError(
            f"Found documents out of order in {file_name(path)}, needed rising numbers: sort the lines after the third "
            "with `sort -n`."
        )
    for name, values, most in (("document", documents, sizes.n_documents), ("word", words, sizes.n_words)):
        if values.min() < 1 or values.max() > most:
            found = int(values.max() if values.max() > most else values.min())
            raise SearchError(f"Found the {name} number {found:,} in {file_name(path)}, needed 1 to {most:,}.")
    if counts.min() < 0:
        raise SearchError(f"Found the count {counts.min():,} in {file_name(path)}, needed counts from 0.")


def _block_of_triples(triples: Array, first: int, stop: int, sizes: _Sizes) -> BlockCounts:
    documents, words, counts = triples.T
    shape = (stop - first, sizes.n_words)
    matrix = sp.coo_array((counts, (documents - first, words - 1)), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return as_block(matrix)


def _load_counts(path: File, format: str) -> sp.csr_array[Any]:
    """All counts of a file, (n, d), which SciPy reads at once."""
    try:
        if format == "npz":
            with path.open("rb") as file:
                counts = sp.csr_array(sp.load_npz(file))
        else:
            with open_bytes(path, Progress()) as file:
                counts = sp.csr_array(scipy.io.mmread(file))
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        needed = "an array written by scipy.sparse.save_npz" if format == "npz" else "a Matrix Market file"
        raise SearchError(f"Could not read {file_name(path)} ({error}), needed {needed}.") from error
    counts.sum_duplicates()
    counts.eliminate_zeros()
    if counts.nnz and (counts.data.min() < 0 or (counts.data != np.floor(counts.data)).any()):
        raise SearchError(
            f"Found values that are no counts in {file_name(path)}, needed whole numbers from 0: tf-idf weights do not "
            "do, the counts behind them do."
        )
    return counts

"""Ready-made counts: UCI bags of words (docword), Matrix Market and SciPy files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.io
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices
from mixsearch.data.files.location import File, get_size, resolve_file
from mixsearch.data.files.sources import SourceFiles
from mixsearch.data.files.streams import (
    Progress,
    check_archive,
    name_file,
    open_file,
    strip_compression_suffix,
)
from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning
from mixsearch.text.count.checks import are_counts, check_largest, check_sizes, check_sparse, merge_duplicates, widen
from mixsearch.text.count.ngrams import ChunkCounts
from mixsearch.text.count.wordlists import read_vocabulary
from mixsearch.text.options import CorpusOptions, limit_chunk_bytes
from mixsearch.text.read.documents import ReadState

MATRIX_FORMATS = ("docword", "mtx", "npz", "h5ad")

# The shortest line of a count is "1 1 1", the shortest value of a Matrix Market file "1", each with its end.
_MIN_DOCWORD_BYTES, _MIN_VALUE_BYTES = 6, 2
_MAX_NUMBER_BYTES = 100
# The characters of numbers, also of those that are no counts, and lines of comments before them.
_NUMERIC = b"0123456789+-.eEinfatyINFATY \t\r\n"
_MAX_COMMENT_BYTES, _READ_BYTES = 1 << 16, 1 << 20

_ROWS_PER_CHUNK = 4096
_N_HEADER_LINES = 3
_TRIPLE = re.compile(rb"\s*\d+\s+\d+\s+\d+\s*")
_MAX_QUOTED = 40
# Options that need texts, with the values that do not.
_TEXT_OPTIONS = {
    "text": None,
    "id": None,
    "keep": None,
    "token_pattern": None,
    "tokenizer": None,
    "drop_duplicates": None,
    "ngrams": (1, 1),
}


@dataclass(frozen=True)
class CountMatrix:
    """Chunks of counts whose keys are columns, the word of each column, and names and columns of all documents."""

    words: list[str]
    chunks: Iterator[ChunkCounts]
    names: list[str] | None = None
    columns: Any = None


def read_matrix(sources: SourceFiles, state: ReadState) -> CountMatrix:
    """Read the counts of one file."""
    if len(sources.paths) != 1:
        raise SearchError(
            "Ready-made counts must be in 1 file, got {n_files}. Read them one at a time.",
            code="several_count_files",
            n_files=len(sources.paths),
        )
    check_options(state.options)
    path = sources.paths[0]
    if sources.format == "docword":
        header = _read_header(path)
        return CountMatrix(_name_columns(path, header.n_words, state), _read_docword(path, header, state))
    counts = _load_matrix(path, sources.format)
    state.progress.add(get_size(path) or 0)
    words = _name_columns(path, counts.shape[1], state)
    return CountMatrix(words, (to_chunk(counts[rows]) for rows in row_slices(counts.shape[0], _ROWS_PER_CHUNK)))


def to_chunk(counts: sp.csr_array[Any]) -> ChunkCounts:
    """Return counts over all columns as counts over the columns that occur."""
    check_largest(counts.data)
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    keys = np.flatnonzero(occurs)
    words = (np.cumsum(occurs) - 1)[counts.indices].astype(np.int32)
    # The columns name the words, so there are no letters.
    no_letters, no_lengths = np.empty(0, dtype=np.uint8), np.zeros(len(keys), dtype=np.int64)
    bounds = counts.indptr.astype(np.int64)
    return ChunkCounts(keys.astype(np.uint64), bounds, words, counts.data.astype(np.int32), no_letters, no_lengths)


def check_options(options: CorpusOptions, allowed: Sequence[str] = ()) -> None:
    """Raise if an option needs texts, apart from some that counts with annotations have too."""
    for name, default in _TEXT_OPTIONS.items():
        if name not in allowed and getattr(options, name) not in (default, "auto"):
            raise ArgumentError(
                "{argument} needs texts, but the file holds ready-made counts. Leave it out, or read the texts.",
                code="needs_texts",
                argument=Option(name),
            )


def _name_columns(path: File, n_words: int, state: ReadState) -> list[str]:
    given = state.options.vocabulary
    found = resolve_file(given) if given is not None else _find_vocabulary(path)
    if found is not None:
        return read_vocabulary(found, n_words)
    state.notes.append(
        SearchWarning(
            "{file!r} has no vocabulary, so words are named by their columns, from 'word1'. Set {argument} to a file "
            "with one word per line.",
            code="no_vocabulary",
            file=name_file(path),
            argument=Option("vocabulary"),
        )
    )
    return [f"word{column}" for column in range(1, n_words + 1)]


def _find_vocabulary(path: File) -> File | None:
    """Return the vocabulary next to a docword file: vocab.kos.txt, or vocab.kos.txt.gz, for docword.kos.txt.gz."""
    if not strip_compression_suffix(path).startswith("docword."):
        return None
    name = "vocab." + strip_compression_suffix(path).removeprefix("docword.")
    candidates = (path.with_name(name + suffix) for suffix in ("", ".gz", ".bz2", ".xz"))
    return next((file for file in candidates if file.is_file()), None)


@dataclass(frozen=True)
class _Header:
    n_documents: int
    n_words: int
    n_counts: int


def _read_header(path: File) -> _Header:
    with open_file(path, Progress()) as file:
        lines = [file.readline(_MAX_NUMBER_BYTES) for _ in range(_N_HEADER_LINES)]
    try:
        header = _Header(*map(int, lines))
        check_sizes(path, *astuple(header), min_bytes=_MIN_DOCWORD_BYTES)
        return header
    except SearchError:
        raise
    except ValueError as error:
        raise SearchError(
            "{file!r} starts with {text!r}, but its first three lines must hold the numbers of documents, of words "
            "and of counts, as in the UCI bags of words.",
            code="invalid_docword",
            file=name_file(path),
            text=lines[0][:_MAX_QUOTED],
        ) from error


def _read_docword(path: File, header: _Header, state: ReadState) -> Iterator[ChunkCounts]:
    """Yield chunks of whole documents. A document without lines is one without words."""
    next_document, n_counts = 1, 0
    rest = np.empty((0, 3), dtype=np.int64)
    for line, data in _read_whole_lines(path, state):
        triples = np.concatenate([rest, _parse_triples(data, line, path)])
        _check_triples(triples, next_document, header, path)
        n_counts += len(triples) - len(rest)
        # The last document may continue in the next chunk.
        last = int(triples[-1, 0])
        whole = int(np.searchsorted(triples[:, 0], last))
        if whole:
            yield _build_chunk(triples[:whole], next_document, last, header)
            next_document = last
        rest = triples[whole:]
    if n_counts != header.n_counts:
        raise SearchError(
            "{file!r} has {n_found:,} counts, but its third line promises {n_counts:,}. The file is truncated or was "
            "changed.",
            code="invalid_docword",
            file=name_file(path),
            n_found=n_counts,
            n_counts=header.n_counts,
        )
    yield _build_chunk(rest, next_document, header.n_documents + 1, header)


def _read_whole_lines(path: File, state: ReadState) -> Iterator[tuple[int, bytes]]:
    """Yield chunks of whole lines after the header, each with the number of its first line."""
    with open_file(path, state.progress) as file:
        for _ in range(_N_HEADER_LINES):
            file.readline()
        line, rest = _N_HEADER_LINES + 1, b""
        while data := _read_some(file, limit_chunk_bytes(state.options)):
            cut = data.rfind(b"\n") + 1
            if chunk := rest + data[:cut]:
                yield line, chunk
            line, rest = line + chunk.count(b"\n"), data[cut:]
        if rest.strip():
            yield line, rest


def _read_some(file: BinaryIO, size: int) -> bytes:
    """Return some whole lines and the start of another; at least one whole line if there is one."""
    data = file.read(size)
    return data if b"\n" in data or len(data) < size else data + file.readline()


def _parse_triples(data: bytes, line: int, path: File) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values = np.fromstring(cast(str, data), dtype=np.int64, sep=" ")
        except (DeprecationWarning, ValueError):
            values = np.empty(0, dtype=np.int64)
    # Much faster than parsing line by line. Lines are only checked if the number of values is wrong.
    if len(values) != 3 * (data.count(b"\n") + (not data.endswith(b"\n"))):
        lines = data.split(b"\n")
        bad = next((i for i, text in enumerate(lines) if not _TRIPLE.fullmatch(text)), 0)
        raise SearchError(
            "Line {line:,} of {file!r} is {text!r}, but it must hold the number of a document, the number of a word "
            "and a count.",
            code="invalid_docword",
            line=line + bad,
            file=name_file(path),
            text=lines[bad][:_MAX_QUOTED],
        )
    return values.reshape(-1, 3)


def _check_triples(triples: Array, next_document: int, header: _Header, path: File) -> None:
    documents, words, counts = triples.T
    if documents[0] < next_document or (np.diff(documents) < 0).any():
        raise SearchError(
            "The documents of {file!r} are not in order. Sort the lines after the third with `sort -n`.",
            code="invalid_docword",
            file=name_file(path),
        )
    for kind, values, upper in (("document", documents, header.n_documents), ("word", words, header.n_words)):
        if values.min() < 1 or values.max() > upper:
            raise SearchError(
                "{file!r} has the {kind} number {number:,}, but they go from 1 to {upper:,}.",
                code="invalid_docword",
                file=name_file(path),
                kind=kind,
                number=int(values.max() if values.max() > upper else values.min()),
                upper=upper,
            )
    if counts.min() < 0:
        raise SearchError(
            "{file!r} has the count {count:,}, but counts cannot be negative.",
            code="invalid_docword",
            file=name_file(path),
            count=int(counts.min()),
        )


def _build_chunk(triples: Array, first: int, stop: int, header: _Header) -> ChunkCounts:
    documents, words, counts = triples.T
    shape = (stop - first, header.n_words)
    matrix = sp.coo_array((counts, (documents - first, words - 1)), shape=shape).tocsr()
    matrix.eliminate_zeros()
    return to_chunk(matrix)


def _load_matrix(path: File, format: str) -> sp.csr_array[Any]:
    """Return all counts of a file, (n, d). SciPy reads the file at once."""
    try:
        counts = _load_npz(path) if format == "npz" else _load_mtx(path)
    except SearchError:
        raise
    # Damaged files raise errors of every kind: of archives, of headers, of arrays that do not fit together.
    except Exception as error:
        raise SearchError(
            "Cannot read {file!r} ({reason}). It must be {needed}.",
            code="unreadable_file",
            file=name_file(path),
            reason=str(error) or type(error).__name__,
            needed="an array written by scipy.sparse.save_npz" if format == "npz" else "a Matrix Market file",
        ) from error
    if not are_counts(counts.data):
        raise SearchError(
            "{file!r} has values that are not counts, but non-negative integers are needed. Pass the counts instead "
            "of weights such as tf-idf.",
            code="not_counts",
            file=name_file(path),
        )
    return merge_duplicates(counts)


def _load_npz(path: File) -> sp.csr_array[Any]:
    check_archive(path)
    with path.open("rb") as file:
        counts = sp.load_npz(file)
    n_documents, n_words = counts.shape
    check_sizes(path, n_documents, n_words, counts.nnz, min_bytes=0)
    check_sparse(counts)
    return sp.csr_array(counts if counts.format == "csr" else widen(counts))  # which may add repeated entries


def _load_mtx(path: File) -> sp.csr_array[Any]:
    with open_file(path, Progress()) as file:
        n_documents, n_words, n_counts, *_ = scipy.io.mminfo(file)
    check_sizes(path, n_documents, n_words, n_counts, min_bytes=_MIN_VALUE_BYTES)
    with open_file(path, Progress()) as file:
        _check_numbers(file)
    with open_file(path, Progress()) as file:
        return sp.csr_array(scipy.io.mmread(file))


def _check_numbers(file: BinaryIO) -> None:
    """Raise `ValueError` unless numbers follow the header: SciPy's parser reads beyond its memory at a NUL."""
    while (line := file.readline(_MAX_COMMENT_BYTES)).startswith(b"%"):
        pass
    while line:
        if line.translate(None, _NUMERIC):
            raise ValueError("it has other characters than those of numbers")
        line = file.read(_READ_BYTES)

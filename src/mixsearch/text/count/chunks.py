"""Chunks of documents with the counts of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.arrow import take_rows
from mixsearch.data.files.types import ColumnTypes, find_column_types
from mixsearch.text.count.duplicates import compute_fingerprints
from mixsearch.text.count.ngrams import ChunkCounts, count_ngrams, remove_stop_words
from mixsearch.text.count.phrases import count_phrases
from mixsearch.text.count.stop_words import AUTO, StopWordCounts, count_stop_words, get_table
from mixsearch.text.count.tokens import find_tokens
from mixsearch.text.count.vocabulary import Vocabulary
from mixsearch.text.options import CorpusOptions, limit_document_bytes
from mixsearch.text.read.documents import ChunkLoader, DocumentChunk, make_length_error


@dataclass(frozen=True)
class Chunk:
    """Documents with the counts of their own words, before the vocabulary is known."""

    counts: ChunkCounts
    rows: Array  # row numbers in the input, (n_documents,)
    names: list[str] | None
    texts: Array | None  # packed, see `pack_texts`
    n_characters: Array  # of each text, (n_documents,)
    columns: Any = None  # a record batch of the columns to keep, or None

    def take(self, kept: Array) -> Chunk:
        """Return the documents of a mask."""
        texts = self.texts
        if texts is not None:
            unpacked = unpack_texts(texts, self.n_characters)
            texts = pack_texts([text for text, keep in zip(unpacked, kept.tolist(), strict=True) if keep])
        names = self.names
        if names is not None:
            names = [name for name, keep in zip(names, kept.tolist(), strict=True) if keep]
        columns = None if self.columns is None else take_rows(self.columns, np.flatnonzero(kept))
        return Chunk(self.counts.take(kept), self.rows[kept], names, texts, self.n_characters[kept], columns)


@dataclass(frozen=True)
class CountedChunk:
    """A chunk that was counted, and the fingerprints by which duplicates are found."""

    chunk: Chunk  # its rows numbered from 0
    fingerprints: Array  # one per document, or none
    stop_words: StopWordCounts | None = None  # if the corpus chooses them
    types: ColumnTypes | None = None  # of the columns to keep
    n_missing: int = 0  # documents whose text is null


@dataclass(frozen=True)
class CountChunk:
    """A chunk of the documents of a corpus, in the order of the input.

    Attributes
    ----------
    counts : sparse array of shape (n_rows, d), int32
        How often each word of the vocabulary occurs in each document.
    rows : array of shape (n_rows,)
        Indices of the documents in the input. Those of dropped documents are missing.
    names : list of str, optional
        Values of the id column, or names of files.
    texts : list of str, optional
        The documents as they were read.
    dropped : sparse array of shape (n_rows, n), int32
        How often each dropped word occurs in each document.
    columns : pyarrow.RecordBatch, optional
        The columns that are kept with the text.
    """

    counts: sp.csr_array[Any]
    rows: Array
    names: list[str] | None
    texts: list[str] | None
    dropped: sp.csr_array[Any]
    columns: Any = None

    def take(self, indices: Array) -> CountChunk:
        """Return some of the documents."""
        rows, names, texts, _ = self.take_contents(indices)
        columns = None if self.columns is None else take_rows(self.columns, indices)  # TODO(frames)
        return CountChunk(self.counts[indices], rows, names, texts, self.dropped[indices], columns)

    def take_contents(self, indices: Array) -> tuple[Array, list[str] | None, list[str] | None, Any]:
        """Return rows, names, texts and columns of some of the documents, without their counts."""
        return (
            np.asarray(self.rows)[indices],
            None if self.names is None else [self.names[i] for i in indices],
            None if self.texts is None else [self.texts[i] for i in indices],
            None if self.columns is None else pl.from_arrow(self.columns)[indices],  # TODO(frames)
        )


def count_chunk(load: ChunkLoader, options: CorpusOptions, stop_hashes: Array) -> CountedChunk:
    """Read a chunk and count its words, except those with one of the sorted hashes."""
    documents = load()
    _check_lengths(documents, options)
    tokens = remove_stop_words(find_tokens(documents.texts, options, documents.locate), stop_hashes)
    counts = count_ngrams(tokens, options.ngrams)
    chunk = Chunk(
        counts,
        np.arange(len(documents.texts)),
        documents.names,
        pack_texts(documents.texts) if options.keep_texts else None,
        measure_texts(documents.texts),
        documents.columns,
    )
    types = None if documents.columns is None else find_column_types(documents.columns)
    stop_words = count_stop_words(counts, get_table(options)) if options.stop_words == AUTO else None
    fingerprints = compute_fingerprints(options.drop_duplicates, documents.texts, tokens)
    return CountedChunk(chunk, fingerprints, stop_words, types, documents.n_missing)


def _check_lengths(documents: DocumentChunk, options: CorpusOptions) -> None:
    limit = limit_document_bytes(options)
    too_long = next((i for i, text in enumerate(documents.texts) if len(text) > limit), None)
    if too_long is not None:
        raise make_length_error(options, documents.locate(too_long))


def to_count_chunk(
    chunk: Chunk, vocabulary: Vocabulary, dropped: Vocabulary, types: ColumnTypes | None = None
) -> CountChunk:
    """Return a chunk with the words of a vocabulary as columns, those of dropped words, and its texts unpacked."""
    texts = None if chunk.texts is None else unpack_texts(chunk.texts, chunk.n_characters)
    counts, others = (build_matrix(chunk.counts, words) for words in (vocabulary, dropped))
    columns = None if types is None else types.convert(chunk.columns)
    return CountChunk(counts, chunk.rows, chunk.names, texts, others, columns)


def build_matrix(counts: ChunkCounts, vocabulary: Vocabulary) -> sp.csr_array[Any]:
    """Return the counts of a chunk as a matrix with the words of a vocabulary as columns, (n_documents, d)."""
    columns = vocabulary.find_columns(counts.keys)[counts.words]
    kept = columns >= 0
    bounds = np.concatenate([[0], np.cumsum(kept)])[counts.bounds]
    shape = (counts.n_documents, len(vocabulary.words))
    matrix: sp.csr_array[Any] = sp.csr_array(
        (counts.counts[kept].astype(np.int32), columns[kept].astype(np.int32), bounds.astype(np.int32)), shape=shape
    )
    matrix.sort_indices()
    if len(vocabulary.pairs):
        rows, phrases = (each.astype(np.int32) for each in count_phrases(counts, vocabulary))
        ones = np.ones(len(rows), dtype=np.int32)
        matrix = sp.csr_array(matrix + sp.csr_array((ones, (rows, phrases)), shape=shape))
    return matrix


def pack_texts(texts: Sequence[str]) -> Array:
    """Return texts as bytes, (n,)."""
    # Not compressed: that takes about as long as the counting, and the spool lives for one run.
    return np.frombuffer("".join(texts).encode("utf-8"), dtype=np.uint8)


def measure_texts(texts: Sequence[str]) -> Array:
    """Return the number of characters of each text, (n,)."""
    return np.fromiter(map(len, texts), np.int64, len(texts))


def unpack_texts(packed: Array, lengths: Array) -> list[str]:
    """Return packed texts as strings of the given lengths."""
    joined = packed.tobytes().decode("utf-8")
    ends = np.cumsum(lengths).tolist()
    return [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]

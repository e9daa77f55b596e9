"""Blocks of documents as they are counted, wherever that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.text.count.duplicates import marks_of
from mixsearch.text.count.ngrams import BlockCounts, count_tokens, tokens_of_block
from mixsearch.text.count.spool import Block, lengths_of, pack_texts, unpack_texts
from mixsearch.text.count.vocabulary import Vocabulary
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.documents import Load


@dataclass(frozen=True)
class Counted:
    """A block that was counted."""

    block: Block  # its rows numbered from 0
    marks: Array  # what tells duplicates, one for each document


def count_load(load: Load, options: CorpusOptions, stop_hashes: Array) -> Counted:
    """Read a block and count its words, without those of sorted hashes."""
    documents = load()
    tokens = tokens_of_block(documents.texts, options, stop_hashes, documents.place)
    block = Block(
        count_tokens(tokens, options.ngrams),
        np.arange(len(documents.texts)),
        documents.names,
        pack_texts(documents.texts) if options.keep_texts else None,
        lengths_of(documents.texts),
    )
    return Counted(block, marks_of(options.drop_duplicates, documents.texts, tokens))


def take_documents(block: Block, kept: Array) -> Block:
    """Only the documents of a mask."""
    texts = block.texts
    if texts is not None:
        unpacked = unpack_texts(texts, block.n_characters)
        texts = pack_texts([text for text, keep in zip(unpacked, kept.tolist(), strict=True) if keep])
    names = block.names
    if names is not None:
        names = [name for name, keep in zip(names, kept.tolist(), strict=True) if keep]
    return Block(block.counts.take(kept), block.rows[kept], names, texts, block.n_characters[kept])


@dataclass(frozen=True)
class CountChunk:
    """Some documents of a corpus, in the order of the input.

    Attributes
    ----------
    counts : sparse array of shape (n_rows, d), int32
        How often each word of the vocabulary occurs in each document.
    rows : array of shape (n_rows,)
        The numbers of the documents in the input, from 0; numbers of dropped documents are missing.
    names : list of str, optional
        The values of the id column, or the names of files.
    texts : list of str, optional
        The documents as they were read.
    """

    counts: sp.csr_array[Any]
    rows: Array
    names: list[str] | None
    texts: list[str] | None


def read_chunk(block: Block, vocabulary: Vocabulary) -> CountChunk:
    """Return counted documents with the words of the whole corpus as columns, and their texts unpacked."""
    texts = None if block.texts is None else unpack_texts(block.texts, block.n_characters)
    return CountChunk(build_count_matrix(block.counts, vocabulary), block.rows, block.names, texts)


def build_count_matrix(counts: BlockCounts, vocabulary: Vocabulary) -> sp.csr_array[Any]:
    """The counts of a block over the words of the whole corpus."""
    columns = vocabulary.columns_of(counts.keys)[counts.words]
    kept = columns >= 0
    bounds = np.concatenate([[0], np.cumsum(kept)])[counts.bounds]
    shape = (counts.n_documents, len(vocabulary.words))
    matrix: sp.csr_array[Any] = sp.csr_array(
        (counts.counts[kept].astype(np.int32), columns[kept].astype(np.int32), bounds.astype(np.int32)), shape=shape
    )
    matrix.sort_indices()
    return matrix

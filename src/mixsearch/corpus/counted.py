"""Blocks of documents as they are counted, wherever that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsearch.corpus.counting import count_tokens, tokens_of_block
from mixsearch.corpus.documents import Load
from mixsearch.corpus.duplicates import marks_of
from mixsearch.corpus.options import CorpusOptions
from mixsearch.corpus.spool import Block, lengths_of, pack_texts, unpack_texts
from mixsearch.types import Array


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

"""From a corpus to an index: counts to disk both ways, the fit in passes over them, everything published at the end."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import RowChunks, chunk_rows
from mixsearch.data.dask import load_with_dask
from mixsearch.errors import SearchError
from mixsearch.index.build.fit import (
    check_n_features,
    checked_search,
    fit_search,
    least_words,
    long_enough,
    require_some,
)
from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
from mixsearch.index.build.summary import Built, facts_of, summed_up
from mixsearch.index.build.transpose import columns_of, rows_on_disk
from mixsearch.storage import FolderWriter, write_folder
from mixsearch.text import Corpus, CorpusOptions, CountChunk, read_corpus
from mixsearch.topics import (
    BY_DOCUMENT,
    BY_WORD,
    KIND,
    VERSION,
    TopicSearch,
    corpus_in_memory,
    sparse_from,
    store_documents,
    store_search,
)


def build_index(
    source: Any,
    path: str | os.PathLike[str],
    options: IndexOptions | None = None,
    reading: CorpusOptions | None = None,
    *,
    scheduler: str | None = None,
    on_progress: OnProgress | None = None,
) -> Built:
    """Index the texts or counts of files.

    Parameters
    ----------
    source : path, URL, sequence of them, or Corpus
        As `read_corpus` takes them, or what it gave.
    path : path
        The folder of the index. It appears when all is done, or stays as it was.
    options : IndexOptions, optional
        Of the fit.
    reading : CorpusOptions, optional
        Of the text. Of a Corpus those that it was read with, so that a text can be a hint.
    scheduler : str, optional
        The address of a Dask scheduler whose workers read, count and fit, such as ``"tcp://host:8786"``, or
        ``client.scheduler.address``; ``"local"`` starts a worker for each core of this machine. The workers must see
        the files under the same names. Where they see the folder of the index too, they write it; else its blocks
        come here one at a time.
    on_progress : callable, optional
        Told of each step, how far it is, and in which unit.
    """
    chosen, say = options or IndexOptions(), on_progress or (lambda *_: None)
    wanted = reading or CorpusOptions(memory=max(chosen.memory_part, 1))
    # What is wrong with any corpus, or with the folder, is said before an hour of reading.
    checked_search(chosen, chosen.n_components if isinstance(chosen.n_components, int) else DEFAULT_COMPONENTS)
    _require_folder(os.fspath(path))
    if scheduler is not None:
        on_cluster = load_with_dask("mixsearch.index.build.cluster", "Work on a cluster needs")
        built: Built = on_cluster.build_on_cluster(
            source, Path(path), chosen, reading or CorpusOptions(), scheduler, say
        )
        return built
    with ExitStack() as stack:
        out = stack.enter_context(write_folder(path, kind=KIND, version=VERSION, overwrite=chosen.overwrite))
        if isinstance(source, Corpus):
            corpus = source
        else:
            corpus = stack.enter_context(
                read_corpus(source, wanted, on_progress=lambda done, total: say("Reading", done, total, "bytes"))
            )
        counted = _write(out, corpus, chosen, reading if isinstance(source, Corpus) else wanted, say)
    return summed_up(Path(path), corpus, counted)


def _require_folder(path: str) -> None:
    # `pathlib` makes one slash of two; a drive of Windows has one letter.
    if re.match(r"[a-z][a-z0-9+]+:/", path):
        url = re.sub(":/+", "://", path, count=1)
        raise SearchError(
            f"Found the URL {url!r} for the index, needed a folder: its files are mapped into memory when it is "
            "searched, which only a file system can do. Write it to a folder, and copy that."
        )


def _write(
    out: FolderWriter, corpus: Corpus, options: IndexOptions, reading: CorpusOptions | None, say: OnProgress
) -> dict[str, int]:
    n_words = len(corpus.vocabulary)
    search = checked_search(options, n_words)
    stored = _store_documents(out, corpus, search, say)
    rows, n_short, n_nonzeros = stored.rows, stored.n_short, stored.n_nonzeros
    require_some(len(rows), n_short, stored.least)
    on_disk = rows_on_disk(partial(_staged, out, BY_DOCUMENT), n_words)
    fits = n_nonzeros * 8 <= options.memory_part
    counts = chunk_rows(_mapped(out, BY_DOCUMENT, on_disk.shape, copy=True)) if fits else on_disk
    _store_columns(out, counts, stored.per_word, options.memory_part, say)
    _fit(out, search, counts, rows, say)
    search.n_dropped_ = n_short + corpus.n_dropped
    search.name_words(corpus.vocabulary)
    store_documents(out, search._family.here)
    store_search(out, search)
    out.facts["corpus"] = facts_of(corpus, reading, has_texts=stored.has_texts, has_names=stored.has_names)
    return {
        "n_documents": len(rows),
        "n_short": n_short,
        "n_words": n_words,
        "n_nonzeros": n_nonzeros,
        "n_components": search.n_components_,
    }


@dataclass
class _Stored:
    """What is known once the documents are on disk."""

    rows: Array
    n_short: int
    n_nonzeros: int
    per_word: Array
    least: int
    has_texts: bool
    has_names: bool


def _store_documents(out: FolderWriter, corpus: Corpus, search: TopicSearch, say: OnProgress) -> _Stored:
    """Write counts, names and texts of the documents that are long enough."""
    n_words, damping = len(corpus.vocabulary), search.damping
    least = least_words(search)
    rows, n_short, total, per_word = [], 0, 0, np.zeros(n_words, dtype=np.int64)
    texts, names = None, None
    with (
        out.stream(f"{BY_DOCUMENT}/data", np.float32) as data,
        out.stream(f"{BY_DOCUMENT}/indices", np.int32) as indices,
        out.stream(f"{BY_DOCUMENT}/indptr", np.int64) as indptr,
    ):
        indptr.append(np.zeros(1, dtype=np.int64))
        for done, block in _numbered(corpus.chunks()):
            counts, kept = long_enough(block.counts, damping, least)
            n_short += len(block.rows) - len(kept)
            check_n_features(total + counts.nnz)
            data.append(counts.data)
            indices.append(counts.indices)
            indptr.append(total + counts.indptr[1:].astype(np.int64))
            total += counts.nnz
            per_word += np.bincount(counts.indices, minlength=n_words)
            rows.append(np.asarray(block.rows)[kept])
            if block.texts is not None:
                texts = texts or out.texts("texts")
                texts.append(block.texts[row] for row in kept)
            if block.names is not None:
                names = names or out.texts("names")
                names.append(block.names[row] for row in kept)
            say("Storing", done, corpus.n_documents, "documents")
    for writer in (texts, names):
        if writer is not None:
            writer.close()
    all_rows = np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, dtype=np.int64)
    return _Stored(all_rows, n_short, total, per_word, least, texts is not None, names is not None)


def _numbered(blocks: Iterator[CountChunk]) -> Iterator[tuple[int, CountChunk]]:
    """Blocks with the number of documents up to the end of each."""
    done = 0
    for block in blocks:
        done += len(block.rows)
        yield done, block


def _staged(out: FolderWriter, place: str, part: str) -> Array:
    return out.read(f"{place}/{part}")


def _mapped(out: FolderWriter, place: str, shape: tuple[int, int], *, copy: bool = False) -> sp.csr_array:
    parts = [_staged(out, place, part) for part in ("data", "indices", "indptr")]
    counts: sp.csr_array = sparse_from(sp.csr_array, [np.array(part) for part in parts] if copy else parts, shape)
    return counts


def _store_columns(out: FolderWriter, counts: RowChunks, per_word: Array, memory: int, say: OnProgress) -> None:
    """Write the counts word by word."""
    n_done, n_all = 0, int(per_word.sum())
    out.save(f"{BY_WORD}/indptr", np.concatenate([[0], np.cumsum(per_word)]).astype(np.int64))
    with (
        out.stream(f"{BY_WORD}/data", np.float32) as data,
        out.stream(f"{BY_WORD}/indices", np.int32) as indices,
    ):
        for values, rows in columns_of(counts, per_word, memory):
            data.append(values)
            indices.append(rows)
            n_done += len(rows)
            say("Listing words", n_done, n_all, "counts")


def _fit(out: FolderWriter, search: TopicSearch, counts: RowChunks, rows: Array, say: OnProgress) -> None:
    """Fit the topics, with the projected documents on disk from the start."""
    by_word = sparse_from(
        sp.csc_array, [_staged(out, BY_WORD, part) for part in ("data", "indices", "indptr")], counts.shape
    )
    partitions = corpus_in_memory(_mapped(out, BY_DOCUMENT, counts.shape), by_word, rows, stored=counts)
    with ExitStack() as stack:

        def allocate(shape: tuple[int, int], dtype: Any) -> Array:
            return stack.enter_context(out.allocate("documents/projected", shape, dtype))

        fit_search(search, partitions, say, allocate)

"""The summary of a build: for the caller, and for the manifest of the index."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import RepeatedIdsWarning, SearchWarning
from mixsearch.index.documents import read_texts
from mixsearch.text.corpus import Corpus
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.storage import open_search

_MAX_LISTED = 5


@dataclass(frozen=True)
class Built:
    """The summary of an index that was built."""

    path: Path
    n_documents: int
    n_short: int
    n_duplicates: int
    n_words: int
    n_nonzeros: int
    n_components: int
    n_bytes: int
    notes: tuple[SearchWarning, ...]
    n_missing: int = 0


def summarize_build(path: Path, corpus: Corpus, counted: dict[str, int]) -> Built:
    """Return the summary of a published index."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    notes = (*corpus.notes, *_find_repeated_ids(path))
    return Built(path=path, n_bytes=size, notes=notes, n_duplicates=corpus.n_dropped, **counted)


def _find_repeated_ids(path: Path) -> list[RepeatedIdsWarning]:
    """Return the note that several documents of an index have the same id, if there are such."""
    folder = open_search(path)
    if not folder.facts["corpus"]["has_names"]:
        return []
    names = read_texts(folder, "names")
    hashes = np.fromiter((hash(name) for name in names), np.int64)  # texts would take much more memory
    values, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    repeated = (counts > 1) & (values != hash(""))  # documents without an id have an empty one
    n_ids = int(repeated.sum())
    if not n_ids:
        return []
    listed = names.read(np.sort(first[repeated])[:_MAX_LISTED])
    return [
        RepeatedIdsWarning(
            "{n_ids:,} ids name several documents, {n_documents:,} in all: {listed}. An id stands for all of its "
            "documents when they are removed or replaced; use rows to mean one of them."
            if n_ids > 1
            else "The id {listed} names {n_documents:,} documents. It stands for all of them when they are removed or "
            "replaced; use rows to mean one of them.",
            n_ids=n_ids,
            n_documents=int(counts[repeated].sum()),
            listed=", ".join(listed) + (", ..." if n_ids > len(listed) else ""),
            ids=listed,
        )
    ]


def describe_corpus(
    corpus: Corpus, reading: CorpusOptions | None, *, has_texts: bool, has_names: bool
) -> dict[str, Any]:
    """Return the facts about a corpus that the manifest stores."""
    return {
        "n_characters": corpus.n_characters,
        "n_duplicates": corpus.n_dropped,
        "has_texts": has_texts,
        "has_names": has_names,
        "tokens": _describe_tokens(corpus, reading),
        "reading": None if reading is None else _describe_reading(reading),
    }


# Options that say where the texts are, and those that only matter while they are read, are not stored.
_NOT_STORED = ("format", "encoding", "keep_texts", "memory")


def _describe_reading(reading: CorpusOptions) -> dict[str, Any]:
    """Return how to read and count further documents."""
    return {name: value for name, value in asdict(reading).items() if name not in _NOT_STORED}


def _describe_tokens(corpus: Corpus, reading: CorpusOptions | None) -> dict[str, Any] | None:
    """Return how to split a text into words; None if that is not known."""
    if reading is None:
        return None
    return {
        "token_pattern": reading.token_pattern,
        "phrases": reading.phrases,
        "stop_words": list(corpus.stop_words),
    }

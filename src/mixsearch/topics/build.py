"""Building an index: texts are read and counted, the counts written by document and by word, and a frame fitted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.errors import ArgumentError, RepeatedIdsWarning, SearchWarning
from mixsearch.io.column_names import MAX_LISTED, list_names
from mixsearch.io.folder import FolderWriter, open_folder, write_folder
from mixsearch.options import option
from mixsearch.text.corpus import Corpus, CountChunk
from mixsearch.text.count import read_corpus
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.fitted_corpus import damp_counts, fit_corpus
from mixsearch.topics.records import Columns, make_records, write_records
from mixsearch.topics.storage import (
    BY_DOCUMENT,
    GROWTH,
    SEGMENTS,
    WORDS,
    CountWriter,
    Growth,
    name_segment,
    write_by_word,
    write_frame,
    write_rows,
)
from mixsearch.topics.tuning import TUNING

# Documents that a word which is not a feature must be in, to be found: others are mostly misspelled.
MIN_DOCUMENTS = 2
# Options that say where the texts are, and those that only matter while they are read, are not stored.
_NOT_STORED = ("encoding", "memory")

# Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.
OnProgress = Callable[[str, int, int | None, str], None]


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """How an index is built.

    Parameters
    ----------
    n_components : int, default=100
        Number of eigenvectors that documents are compared in; fewer in a small corpus.
    overwrite : bool, default=False
        Replace an existing index.

    Examples
    --------
    >>> from mixsearch.topics.build import IndexOptions
    >>> options = IndexOptions(n_components=50, overwrite=True)
    """

    n_components: int = option(
        TUNING.n_components,
        "Number of eigenvectors that documents are compared in; fewer in a small corpus.",
        ge=1,
        metavar="N",
        flag="k",
    )
    overwrite: bool = option(False, "Replace an existing index.")

    def __post_init__(self) -> None:
        check_positive_int("n_components", self.n_components)


@dataclass(frozen=True)
class Built:
    """The summary of an index that was built.

    Parameters
    ----------
    path : Path
        Where the index is.
    n_documents, n_empty, n_missing : int
        Documents of the index; those without features; those without a text.
    n_words, n_features, n_nonzeros : int
        Words that can be searched; those that compare documents; their counts that are not zero.
    n_components : int
        Eigenvectors that documents are compared in.
    n_bytes : int
        The size of the folder.
    notes : tuple of SearchWarning
        What was skipped or left out.
    """

    path: Path
    n_documents: int
    n_empty: int
    n_missing: int
    n_words: int
    n_features: int
    n_nonzeros: int
    n_components: int
    n_bytes: int
    notes: tuple[SearchWarning, ...]


def build_index(
    source: Any,
    output: str | os.PathLike[str],
    options: IndexOptions | None = None,
    reading: CorpusOptions | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Built:
    """Index the texts of files, of a data frame or of a list.

    Parameters
    ----------
    source : path, URL, sequence of them, data frame, or iterable of str
        What to index, as `read_corpus` takes it.
    output : path
        The folder of the index. It is written completely or not at all.
    options : IndexOptions, optional
        How to fit.
    reading : CorpusOptions, optional
        How to read and count.
    on_progress : callable, optional
        Called with the step of the work, units done, units in all (None if unknown), and the name of the unit.

    Returns
    -------
    Built
        The summary of the index.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> reviews = make_reviews(500, random_state=0)
    >>> built = build_index(reviews.text, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> built.n_documents
    500
    """
    options, reading = options or IndexOptions(), reading or CorpusOptions()
    report = on_progress or (lambda *_: None)
    _check_path(os.fspath(output))
    with (
        write_folder(output, overwrite=options.overwrite) as out,
        read_corpus(source, reading, on_progress=lambda done, total: report("Reading", done, total, "bytes")) as corpus,
    ):
        counted = write_index(out, corpus, options.n_components, reading, report)
    return summarize(Path(output), corpus, counted)


def _check_path(path: str) -> None:
    """Reject a URL: files are memory-mapped by a search, which only works in a file system."""
    # `pathlib` makes one slash of two; a drive of Windows has one letter.
    if re.match(r"[a-z][a-z0-9+]+:/", path):
        url = re.sub(":/+", "://", path, count=1)
        raise ArgumentError(
            "An index needs a folder in a file system, got the URL {url!r}. Write it to a folder, and copy that.",
            code="path_is_url",
            url=url,
        )


def write_index(
    out: FolderWriter,
    corpus: Corpus,
    n_components: int,
    reading: CorpusOptions,
    on_progress: OnProgress,
    rows: Array | None = None,
) -> dict[str, int]:
    """Write the index of a corpus, and return its size; `rows` are those of its documents if they are not counted."""
    d, name = corpus.n_features, name_segment(0)
    extra = d + np.flatnonzero(corpus.document_frequencies[d:] >= MIN_DOCUMENTS)
    # 1) counts by document, with texts, names and columns; those of words that are not features stay in memory
    by_document = CountWriter(out, f"{name}/{BY_DOCUMENT}")
    extra_counts: list[sp.csr_array] = []
    numbers: list[Array] = []
    has_names = False

    def write_counts(chunk: CountChunk) -> pl.DataFrame:
        counts = damp_counts(chunk.counts)
        by_document.append(counts[:, :d])
        extra_counts.append(sp.csr_array(counts[:, extra]))
        documents = np.arange(chunk.start, chunk.start + chunk.counts.shape[0])
        numbers.append(documents if rows is None else rows[documents])
        nonlocal has_names
        has_names = chunk.names is not None
        on_progress("Storing", sum(map(len, numbers)), corpus.n_documents, "documents")
        return make_records(numbers[-1], chunk.texts, chunk.names, chunk.columns)

    write_records(out, name, map(write_counts, corpus.chunks()))
    n = corpus.n_documents
    # 2) counts by word: features, and all other words that several documents have
    on_progress("Listing words", 0, d + len(extra), "words")
    features = by_document.open((n, d))
    write_by_word(out, name, [features, sp.csr_array(sp.vstack(extra_counts, "csr"))])
    extra_counts.clear()
    out.save_texts(WORDS, pl.Series(corpus.words, dtype=pl.String).gather(np.append(np.arange(d), extra)))
    # 3) the frame, and all documents in it
    on_progress("Fitting topics", 0, None, "passes")
    frame, placed = fit_corpus(
        features,
        n_components,
        on_pass=lambda n_passes: on_progress("Fitting topics", n_passes, None, "passes"),
        allocate=lambda array, shape, dtype: out.allocate(f"{name}/placed/{array}", shape, dtype),
    )
    write_frame(out, frame)
    write_rows(out, name, np.concatenate(numbers), corpus.copy_of)
    # 4) facts about the documents, and how to read others
    out.facts[SEGMENTS] = [name]
    out.facts["n_components"] = n_components
    out.facts[GROWTH] = asdict(Growth(n, expected_new=_expect_new_words(corpus)))
    out.facts["corpus"] = {
        "n_rows": n if rows is None else int(rows[-1]) + 1,
        "has_names": has_names,
        "tokens": {"phrases": reading.phrases, "stop_words": list(corpus.stop_words)},
        "reading": _describe_reading(corpus, reading),
    }
    return {
        "n_documents": n,
        "n_empty": int(np.count_nonzero(placed.lengths == 0)),
        "n_missing": corpus.n_missing,
        "n_words": d + len(extra),
        "n_features": d,
        "n_nonzeros": by_document.n_nonzeros,
        "n_components": len(frame.values),
    }


def _expect_new_words(corpus: Corpus) -> float:
    """Estimate the share of words in another document like these that the index would not know.

    It would not know a word of any of them without this document if at most one other has it (Good and Turing).
    """
    totals = np.asarray(corpus.word_counts, dtype=np.float64)
    return float(totals[corpus.document_frequencies <= MIN_DOCUMENTS].sum() / max(totals.sum(), 1.0))


def _describe_reading(corpus: Corpus, reading: CorpusOptions) -> dict[str, Any]:
    """Describe how to read and count further documents."""
    stored = {name: value for name, value in asdict(reading).items() if name not in _NOT_STORED}
    if reading.stop_words is not None and reading.stop_words != "auto":
        stored["stop_words"] = list(corpus.stop_words)  # a file of them may be gone later
    return stored


def summarize(path: Path, corpus: Corpus, counted: dict[str, int]) -> Built:
    """Summarize a published index."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    notes = (*corpus.notes, *_find_repeated_ids(path))
    return Built(path=path, n_bytes=size, notes=notes, **counted)


def _find_repeated_ids(path: Path) -> list[RepeatedIdsWarning]:
    """Return the note that several documents of an index have the same id, if there are such."""
    folder = open_folder(path)
    if not folder.facts["corpus"]["has_names"]:
        return []
    names = Columns(folder, folder.facts[SEGMENTS], has_names=True).read_names()
    repeated = names.filter((names != "") & names.is_duplicated())
    if not len(repeated):
        return []
    ids = repeated.unique(maintain_order=True)
    return [
        RepeatedIdsWarning(
            "{n_documents:,} documents share an id with others: {listed}. An id stands for all of its documents when "
            "they are removed or replaced; use rows to mean one of them.",
            n_ids=len(ids),
            n_documents=len(repeated),
            listed=list_names(ids.to_list()),
            ids=ids[:MAX_LISTED].to_list(),
        )
    ]

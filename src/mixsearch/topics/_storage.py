"""A fitted `TopicSearch` as arrays in a folder, and back, mapped from the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.rank_selection import Spectrum
from mixsearch.data.chunks import chunk_rows
from mixsearch.data.partitions import Layout, LocalPartitions
from mixsearch.storage import Folder, FolderWriter, open_folder, write_folder
from mixsearch.topics._documents import TopicPartition
from mixsearch.topics._dropped import open_dropped
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._unit_vectors import MeanDocument, inverse_frequency, measure_documents

if TYPE_CHECKING:
    from mixsearch.topics._search import TopicSearch

S = TypeVar("S", bound="TopicSearch")

KIND = "topic index"
VERSION = 1
# Paths of the sparse counts, by document and by word.
BY_DOCUMENT, BY_WORD = "documents/counts", "words/counts"
_SPARSE_PARTS = ("data", "indices", "indptr")
# Names of files. Fields of `TopicPartition` and of `TopicFamily` have the same names.
DOCUMENTS = ("lengths", "pair_weights", "triple_weights", "tfidf_lengths", "rows")
_WORDS = ("word_mean", "own_pairs", "own_triples", "own_crossed")


def save_search(search: TopicSearch, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted search to a folder of its own."""
    with write_folder(path, kind=KIND, version=VERSION, overwrite=overwrite) as out:
        documents = search._family.local
        for place, counts in ((BY_DOCUMENT, documents.by_document), (BY_WORD, documents.by_word)):
            for part in _SPARSE_PARTS:
                out.save(f"{place}/{part}", getattr(counts, part))
        out.save("documents/projected", documents.projected)
        store_documents(out, search)
        store_search(out, search)


def store_documents(out: FolderWriter, search: TopicSearch) -> None:
    """Write the lengths, weights and rows of the documents of a fit.

    Parameters
    ----------
    out : FolderWriter
        The folder to write to.
    search : TopicSearch
        A fitted search. Its counts and projected documents may be on disk already and are not written.
    """
    documents = search._family.local
    for name in DOCUMENTS:
        out.save(f"documents/{name}", getattr(documents, name))


def store_search(out: FolderWriter, search: TopicSearch) -> None:
    """Write a fitted search without its documents.

    Parameters
    ----------
    out : FolderWriter
        The folder to write to.
    search : TopicSearch
        A fitted search.
    """
    family = search._family
    for name in _WORDS:
        out.save(f"words/{name}", getattr(family, name))
    for name, value in family.mean_document._asdict().items():
        out.save(f"mean_document/{name}", value)
    out.save("frame/basis", family.frame.basis)
    out.save("frame/values", family.frame.values)
    out.save("frame/metric", np.ones(len(family.word_mean)) if family.frame.metric is None else family.frame.metric)
    out.save("frame/mean", family.mean)
    if family.left_out is not None:
        out.save("left_out/basis", family.left_out.basis)
        out.save("left_out/values", family.left_out.values)
    if search.vocabulary_ is not None:
        with out.texts("vocabulary") as words:
            words.append(search.vocabulary_)
    out.facts["search"] = _list_parameters(search)
    out.facts["fit"] = {
        "distinct": family.distinct,
        "n_applications": family.n_applications,
        "n_dropped": search.n_dropped_,
        "has_vocabulary": search.vocabulary_ is not None,
        "has_left_out": family.left_out is not None,
        "spectrum": search.spectrum_.as_dict() if hasattr(search, "spectrum_") else None,
    }


def _list_parameters(search: TopicSearch) -> dict[str, Any]:
    """Return the parameters, with those of the preset filled in; the default preset is not mentioned."""
    parameters = search.get_params() | search._options._asdict()
    if parameters["preset"] == "default":
        del parameters["preset"]
    return {name: _make_plain(value) for name, value in parameters.items()}


def _make_plain(value: Any) -> Any:
    """Return a parameter as JSON has it. The user's own random state is not stored: the fit is done."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str) else None


def open_search(path: str | os.PathLike[str]) -> Folder:
    """Open the folder of a search.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    Folder
    """
    return open_folder(path, kind=KIND, version=VERSION)


def restore_search(search: S, folder: Folder) -> S:
    """Return a search with the fit that a folder holds. Arrays are read when they are used."""
    fit = folder.facts["fit"]
    n, d = len(folder["documents/lengths"]), len(folder["words/word_mean"])
    by_document, by_word = (
        sparse_from(kind, [folder[f"{place}/{part}"] for part in _SPARSE_PARTS], (n, d))
        for kind, place in ((sp.csr_array, BY_DOCUMENT), (sp.csc_array, BY_WORD))
    )
    frequency, projected = np.diff(by_word.indptr), folder["documents/projected"]
    arrays = {name: folder[f"documents/{name}"] for name in DOCUMENTS if name != "tfidf_lengths"}
    if "mean_document/tfidf" in folder:
        lengths = folder["documents/tfidf_lengths"]
        mean = MeanDocument(*(folder[f"mean_document/{name}"] for name in MeanDocument._fields))
    else:  # written before 0.9
        idf = inverse_frequency(frequency, n)
        lengths, mean = measure_documents(chunk_rows(by_document), projected, folder["frame/values"], idf)
    documents = TopicPartition(
        first=0, by_document=by_document, by_word=by_word, projected=projected, tfidf_lengths=lengths, **arrays
    )
    search._family = TopicFamily(
        frame=Frame(folder["frame/basis"], folder["frame/values"], folder["frame/metric"]),
        alpha0=search.alpha0,
        mean=folder["frame/mean"],
        distinct=fit["distinct"],
        document_frequency=frequency,
        mean_document=mean,
        n_applications=fit["n_applications"],
        partitions=LocalPartitions(Layout(n, d, documents.by_document.dtype, is_sparse=True), documents),
        left_out=_restore_left_out(folder) if fit.get("has_left_out") else None,
        **{name: folder[f"words/{name}"] for name in _WORDS},
    )
    search.n_features_in_ = d
    search.n_dropped_ = fit["n_dropped"]
    if fit.get("spectrum") is not None:
        search.spectrum_ = Spectrum.from_dict(fit["spectrum"])
    search._set_vocabulary(list(folder.texts("vocabulary")) if fit["has_vocabulary"] else None)
    search._dropped = open_dropped(folder, n)
    return search


def _restore_left_out(folder: Folder) -> Frame:
    return Frame(folder["left_out/basis"], folder["left_out/values"], folder["frame/metric"])


def sparse_from(kind: Any, parts: list[Array], shape: tuple[int, int]) -> Any:
    """Return a sparse array over parts that are known to be sorted, so that nothing is read to check them.

    Parameters
    ----------
    kind : type
        ``scipy.sparse.csr_array`` or ``csc_array``.
    parts : list of arrays
        data, indices and indptr.
    shape : tuple of int
        (n, d).

    Returns
    -------
    sparse array
    """
    counts = kind(tuple(parts), shape=shape, copy=False)
    counts.has_sorted_indices = counts.has_canonical_format = True
    return counts

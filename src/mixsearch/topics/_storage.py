"""A fitted `TopicSearch` as arrays in a folder, and back, mapped from the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mixsearch.storage import write_folder

if TYPE_CHECKING:
    from mixsearch.topics._search import TopicSearch
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.rank_selection import Spectrum
from mixsearch.data.partitions import Layout, LocalPartitions
from mixsearch.storage import Folder, FolderWriter, open_folder
from mixsearch.topics._documents import TopicPartition
from mixsearch.topics._moments import TopicFamily

KIND = "topic index"


VERSION = 1


# Where the sparse counts are, by document and by word.
BY_DOCUMENT, BY_WORD = "documents/counts", "words/counts"


_PARTS = ("data", "indices", "indptr")


DOCUMENTS = ("lengths", "pair_weights", "triple_weights", "rows")


_WORDS = ("word_mean", "own_pairs", "own_triples", "own_crossed")


def save_search(search: TopicSearch, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted search to a folder of its own."""
    with write_folder(path, kind=KIND, version=VERSION, overwrite=overwrite) as out:
        documents = search._family.here
        for place, counts in ((BY_DOCUMENT, documents.by_document), (BY_WORD, documents.by_word)):
            for part in _PARTS:
                out.save(f"{place}/{part}", getattr(counts, part))
        out.save("documents/projected", documents.projected)
        store_documents(out, search)
        store_search(out, search)


def store_documents(out: FolderWriter, search: TopicSearch) -> None:
    """Write what a fit knows of each document, but the counts and its projection, which may be on disk already."""
    for name in DOCUMENTS:
        out.save(f"documents/{name}", getattr(search._family.here, name))


def store_search(out: FolderWriter, search: TopicSearch) -> None:
    """Write all of a fitted search but its documents."""
    model = search._family
    for name in _WORDS:
        out.save(f"words/{name}", getattr(model, name))
    out.save("frame/basis", model.frame.basis)
    out.save("frame/values", model.frame.values)
    out.save("frame/metric", np.ones(len(model.word_mean)) if model.frame.metric is None else model.frame.metric)
    out.save("frame/mean", model.mean)
    if search.vocabulary_ is not None:
        with out.texts("vocabulary") as words:
            words.append(search.vocabulary_)
    out.facts["search"] = _describe_parameters(search)
    out.facts["fit"] = {
        "distinct": model.distinct,
        "n_applications": model.n_applications,
        "n_dropped": search.n_dropped_,
        "has_vocabulary": search.vocabulary_ is not None,
        "spectrum": search.spectrum_.as_dict() if hasattr(search, "spectrum_") else None,
    }


def _describe_parameters(search: TopicSearch) -> dict[str, Any]:
    """Return the parameters as JSON has them. A default preset is left out: versions without presets read it too."""
    parameters = {name: _plain(value) for name, value in search.get_params().items()}
    if parameters["preset"] == "default":
        del parameters["preset"]
    return parameters


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; a random state of the user's own is not kept, since the fit is done."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str) else None


def open_search(path: str | os.PathLike[str]) -> Folder:
    """Open the folder of a search."""
    return open_folder(path, kind=KIND, version=VERSION)


def restore_search(search: TopicSearch, folder: Folder) -> None:
    """Give a search what it was fitted to, to be read when it is used."""
    fit = folder.facts["fit"]
    n, d = len(folder["documents/lengths"]), len(folder["words/word_mean"])
    documents = TopicPartition(
        first=0,
        by_document=sparse_from(sp.csr_array, [folder[f"{BY_DOCUMENT}/{part}"] for part in _PARTS], (n, d)),
        by_word=sparse_from(sp.csc_array, [folder[f"{BY_WORD}/{part}"] for part in _PARTS], (n, d)),
        projected=folder["documents/projected"],
        **{name: folder[f"documents/{name}"] for name in DOCUMENTS},
    )
    search._family = TopicFamily(
        frame=Frame(folder["frame/basis"], folder["frame/values"], folder["frame/metric"]),
        alpha0=search.alpha0,
        mean=folder["frame/mean"],
        distinct=fit["distinct"],
        holding=np.diff(documents.by_word.indptr),
        n_applications=fit["n_applications"],
        partitions=LocalPartitions(Layout(n, d, documents.by_document.dtype, is_sparse=True), documents),
        **{name: folder[f"words/{name}"] for name in _WORDS},
    )
    search.n_features_in_ = d
    search.n_dropped_ = fit["n_dropped"]
    if fit.get("spectrum") is not None:
        search.spectrum_ = Spectrum.from_dict(fit["spectrum"])
    search._set_vocabulary(list(folder.texts("vocabulary")) if fit["has_vocabulary"] else None)


def sparse_from(kind: Any, parts: list[Array], shape: tuple[int, int]) -> Any:
    """A sparse array over parts that are known to be in order, so that nothing is read to check them."""
    counts = kind(tuple(parts), shape=shape, copy=False)
    counts.has_sorted_indices = counts.has_canonical_format = True
    return counts

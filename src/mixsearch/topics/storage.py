"""A fitted `TopicSearch` as arrays in a folder, and back, mapped from the files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch.core.frame import Frame
from mixsearch.core.spectrum import Spectrum
from mixsearch.errors import SearchError
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder, FolderWriter, open_folder, write_folder
from mixsearch.topics.documents import MeanDocument, PlacedFamily
from mixsearch.topics.dropped import open_dropped
from mixsearch.topics.old_lda import RowLengths
from mixsearch.topics.segments import (
    BY_DOCUMENT,
    BY_WORD,
    DOCUMENTS,
    Segment,
    count_by_word,
    fits_segment,
    join_segments,
    limit_segments,
    name_fitted,
    open_segment,
    read_segments,
    store_arrays,
    store_chunk,
    write_segments,
)

if TYPE_CHECKING:
    from mixsearch.topics.fitted import FittedTopics
    from mixsearch.topics.search import TopicSearch

_WORDS = ("word_mean", "own_pairs", "own_triples", "own_crossed")
# How the names of arrays of whole numbers end; others hold floats.
_INTEGERS = ("/indptr", "/indices", "/rows")
# Indices of up to this many counts are compared with their bounds at once; those of more when they are used.
MAX_CHECKED = 1 << 20


def save_search(search: TopicSearch, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted search to a new folder."""
    _check_n_nonzeros(sum(int(each.by_document.nnz) for each in search._family.segments))
    with write_folder(path, overwrite=overwrite) as out:
        store_chunk(out, search._family.chunks.collect().chunk)
        store_search(out, search)


def _check_n_nonzeros(n_nonzeros: int) -> None:
    if not fits_segment(n_nonzeros):
        raise SearchError(
            "A saved search holds at most {maximum:,} non-zero counts, and this one has {n_nonzeros:,}. Build an index "
            "of the documents instead.",
            code="too_many_counts",
            maximum=limit_segments(n_nonzeros).maximum,
            n_nonzeros=n_nonzeros,
        )


def store_documents(out: FolderWriter, search: TopicSearch) -> None:
    """Write the lengths, weights and rows of the documents of a fit, and which segments it has if there are several."""
    family = search._family
    if len(family.segments) == 1:
        store_arrays(out, family.chunks.collect().chunk)
        return
    stored = []
    for i, documents in enumerate(family.segments):
        segment = Segment(name_fitted(i), documents.n_rows, float(documents.document_weights(family.distinct).sum()))
        store_arrays(out, documents.scale_weights(1 / segment.mass), segment.name)
        stored.append(segment)
    write_segments(out, stored)


def store_search(out: FolderWriter, search: TopicSearch) -> None:
    """Write a fitted search without its documents."""
    family = search._family
    store_sums(out, family)
    out.save("frame/idf", family.idf)
    out.save("frame/basis", family.frame.basis)
    out.save("frame/values", family.frame.values)
    out.save("frame/metric", np.ones(len(family.word_mean)) if family.frame.metric is None else family.frame.metric)
    if family.left_out is not None:
        out.save("left_out/basis", family.left_out.basis)
        out.save("left_out/values", family.left_out.values)
    if search.vocabulary_ is not None:
        out.save_texts("vocabulary", search.vocabulary_)
    out.facts["search"] = _list_parameters(search)
    out.facts["fit"] = {
        "distinct": family.distinct,
        "n_applications": family.n_applications,
        "n_dropped": search.n_dropped_,
        "has_vocabulary": search.vocabulary_ is not None,
        "has_left_out": family.left_out is not None,
        "spectrum": to_json(search.spectrum_) if hasattr(search, "spectrum_") else None,
    }


def store_sums(out: FolderWriter, family: PlacedFamily) -> None:
    """Write the sums over documents that a search needs."""
    for name in _WORDS:
        out.save(f"words/{name}", getattr(family, name))
    for name, value in family.mean_document._asdict().items():
        out.save(f"mean_document/{name}", value)
    out.save("frame/mean", family.mean)


def _list_parameters(search: TopicSearch) -> dict[str, Any]:
    """Return the parameters, with those of the preset filled in."""
    parameters = search.get_params(deep=False) | search._options._asdict()
    del parameters["vectorizer"]  # texts are counted already
    return {name: _make_plain(value) for name, value in parameters.items()}


def _make_plain(value: Any) -> Any:
    """Return a parameter as JSON has it. The user's own random state is not stored: the fit is done."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | str) else None


def open_search(path: str | os.PathLike[str]) -> Folder:
    """Open the folder of a search."""
    return open_folder(path)


def restore_fit(search: FittedTopics, folder: Folder) -> None:
    """Load the fit from a folder into a search. Arrays are read when they are used."""
    fit, d = folder.facts["fit"], len(folder["words/word_mean"])
    segments = read_segments(folder)
    _check_arrays(folder, segments)
    documents = [open_segment(folder, segment, d) for segment in segments]
    frame = Frame(folder["frame/basis"], folder["frame/values"], folder["frame/metric"])
    search._family = PlacedFamily(
        frame=frame,
        alpha0=float(search._options.alpha0),
        mean=folder["frame/mean"],
        distinct=fit["distinct"],
        document_frequency=count_by_word(documents),
        idf=folder["frame/idf"],
        mean_document=MeanDocument(*(folder[f"mean_document/{name}"] for name in MeanDocument._fields)),
        n_applications=fit["n_applications"],
        row_lengths=RowLengths(frame),
        chunks=join_segments(segments, documents),
        left_out=_restore_left_out(folder) if fit["has_left_out"] else None,
        **{name: folder[f"words/{name}"] for name in _WORDS},
    )
    search.n_features_in_ = d
    search.n_dropped_ = fit["n_dropped"]
    if fit["spectrum"] is not None:
        search.spectrum_ = Spectrum(**{name: _to_array(value) for name, value in fit["spectrum"].items()})
    search._set_vocabulary(_read_vocabulary(folder, d) if fit["has_vocabulary"] else None)
    search._dropped = open_dropped(folder, segments)


def _read_vocabulary(folder: Folder, n_words: int) -> list[str]:
    words = folder.texts("vocabulary")
    if len(words) != n_words:
        raise damage_error(
            "'{path}' is damaged: its vocabulary has {n_found:,} words, but its topics have {n_words:,}.",
            path=str(folder.path),
            n_found=len(words),
            n_words=n_words,
        )
    return list(words)


def _restore_left_out(folder: Folder) -> Frame:
    return Frame(folder["left_out/basis"], folder["left_out/values"], folder["frame/metric"])


def _check_arrays(folder: Folder, segments: Sequence[Segment]) -> None:
    """Raise `DamagedFolderError` unless shapes and types agree and row pointers rise: compiled code trusts them."""
    d, k = _measure(folder)
    for name, shape in _list_shapes(folder, segments, d, k):
        found = folder[name]
        if found.shape != shape:
            raise damage_error(
                "'{path}' is damaged: {name} has the shape {found}, but {needed} fits the other arrays.",
                path=str(folder.path),
                name=name,
                found=found.shape,
                needed=shape,
            )
        if found.dtype.kind != ("i" if name.endswith(_INTEGERS) else "f"):
            raise damage_error(
                "'{path}' is damaged: {name} holds values of type {dtype}.",
                path=str(folder.path),
                name=name,
                dtype=str(found.dtype),
            )
    for segment in segments:
        _check_counts(folder, segment.place(BY_DOCUMENT), d)
        _check_counts(folder, segment.place(BY_WORD), segment.n_documents)


def _measure(folder: Folder) -> tuple[int, int]:
    """Return the numbers of words and of components."""
    shape = folder["frame/basis"].shape
    if len(shape) != 2 or min(shape) < 1:
        raise damage_error(
            "'{path}' is damaged: {name} is not a 2-D array.", path=str(folder.path), name="frame/basis", found=shape
        )
    return shape[0], shape[1]


def _list_shapes(folder: Folder, segments: Sequence[Segment], d: int, k: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the arrays that every search has, with their shapes."""
    yield from ((f"words/{name}", (d,)) for name in ("word_mean", "own_pairs", "own_triples"))
    yield from {
        "frame/basis": (d, k),
        "words/own_crossed": (d, k),
        "frame/values": (k,),
        "frame/metric": (d,),
        "frame/mean": (k,),
    }.items()
    yield from ((name, (d,)) for name in ("frame/idf", "mean_document/tfidf", "mean_document/deviation"))
    yield "mean_document/places", (2, k)
    if "left_out/values" in folder:
        yield "left_out/basis", (d, len(folder["left_out/values"]))
        yield "left_out/values", (len(folder["left_out/values"]),)
    for segment in segments:
        n = segment.n_documents
        yield segment.place("documents/projected"), (n, k)
        yield from ((segment.place(f"documents/{name}"), (n,)) for name in DOCUMENTS)
        for group, length in ((BY_DOCUMENT, n), (BY_WORD, d)):
            yield segment.place(f"{group}/indptr"), (length + 1,)
            yield segment.place(f"{group}/indices"), (int(folder[segment.place(f"{group}/indptr")][-1]),)
            yield segment.place(f"{group}/data"), folder[segment.place(f"{group}/indices")].shape


def _check_counts(folder: Folder, group: str, n_columns: int) -> None:
    starts, indices = folder[f"{group}/indptr"], folder[f"{group}/indices"]
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        reason = "its row pointers do not rise from 0 to the number of counts"
    elif len(indices) <= MAX_CHECKED and len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:
        reason = "an index is out of range"
    else:
        return
    raise damage_error(
        "'{path}' is damaged: {name} cannot be read, {reason}.", path=str(folder.path), name=group, reason=reason
    )


def to_json(spectrum: Spectrum) -> dict[str, Any]:
    """Return all attributes, ready for JSON."""
    values = {field.name: getattr(spectrum, field.name) for field in fields(spectrum)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _to_array(value: Any) -> Any:
    return np.array(value) if isinstance(value, list) else value

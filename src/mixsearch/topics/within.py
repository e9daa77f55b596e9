"""A fit restricted to some of its documents: the moments of these alone, in the signal space of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import weighted_gram
from mixsearch.display import pluralize
from mixsearch.errors import SearchError
from mixsearch.machine import n_cores, one_blas_thread
from mixsearch.topics.documents import MeanDocument, PlacedChunk, PlacedFamily, place_chunk
from mixsearch.topics.dropped import DroppedWord, DroppedWords
from mixsearch.topics.old_lda import RowLengths, check_indices

# Fewer documents have no moments worth the name.
MIN_DOCUMENTS = 20


class _WithinSums(NamedTuple):
    """Sums over the documents, with weights that sum to one."""

    words: Array  # of counts, as frequencies and with the weights of pairs and of triples, (d, 3)
    gram: Array  # Σ pair weight yy', (k, k)


def restrict_family(family: PlacedFamily, indices: Array) -> PlacedFamily:
    """Return the fit of some documents only, within the signal space of all.

    Notes
    -----
    Documents of a group have the topics of the corpus in other proportions, so that their second moment A lies in the
    signal space of all: with V its basis and S the metric, the eigenpairs of V'SASV, (k, k), are those of A there. The
    estimate of A has no bias, so its noise reaches about as far above 0 as below, and directions within that are left
    out.
    """
    if len(indices) < MIN_DOCUMENTS:
        raise SearchError(
            "Only {n_documents} "
            + pluralize(len(indices), "document matches", "documents match")
            + " the filter, but a search within the matching ones needs {n_needed}. Widen the filter, or "
            "search all documents and list those that match.",
            code="too_few_documents",
            n_documents=len(indices),
            n_needed=MIN_DOCUMENTS,
        )
    kept = family.chunks.take_rows(indices).collect()
    total = float(kept.chunk.document_weights(family.distinct).sum())
    kept = kept.map(PlacedChunk.scale_weights, 1 / total)
    with one_blas_thread:
        sums = _sum_documents(kept.chunk, family.distinct)
        word_mean, own_pairs, own_triples = sums.words.T.copy()
        frame, turn = _turn_frame(replace(family, word_mean=word_mean, own_pairs=own_pairs), sums.gram)
        moved = kept.map(_move, turn)
        crossed = moved.sum(_cross)
    documents, places = place_chunk(moved.chunk, frame.values, family.idf)
    return replace(
        family,
        frame=frame,
        mean=frame.whiten(family.alpha0 * word_mean),
        word_mean=word_mean,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=crossed,
        document_frequency=np.diff(documents.by_word.indptr),
        mean_document=MeanDocument.from_sums(places, moved.n_rows),
        row_lengths=RowLengths(frame),
        chunks=moved,
        left_out=None,
    )


def _sum_documents(chunk: PlacedChunk, distinct: bool) -> _WithinSums:
    by_document = chunk.document_weights(distinct) / chunk.lengths
    columns = np.column_stack([by_document, chunk.pair_weights, chunk.triple_weights])
    gram = weighted_gram(chunk.projected, chunk.pair_weights, n_threads=n_cores())
    return _WithinSums(np.asarray(check_indices(chunk.by_document).T @ columns), gram)


def _turn_frame(family: PlacedFamily, gram: Array) -> tuple[Frame, Array]:
    """Return the frame of the documents whose word sums the family has, and the map from its coordinates, (k, j)."""
    frame, a0 = family.frame, family.alpha0
    pairs = gram - family.whiten_diagonal(family.own_pairs) if family.distinct else gram
    mean = frame.whiten(a0 * family.word_mean)
    root = np.sqrt(frame.values)
    second = (a0 * (a0 + 1) * pairs - np.outer(mean, mean)) * np.outer(root, root)
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    n = max(int(np.count_nonzero(values > max(-values[0], 0))), 1)
    values, vectors = values[::-1][:n], vectors[:, ::-1][:, :n]
    turned = frame_from_eigenpairs(values, np.asarray(frame.basis @ vectors.astype(frame.basis.dtype)))
    return replace(turned, metric=frame.metric), root[:, None] * vectors / np.sqrt(values)


def _move(chunk: PlacedChunk, turn: Array) -> PlacedChunk:
    return replace(chunk, projected=chunk.projected @ turn.astype(chunk.projected.dtype))


def _cross(chunk: PlacedChunk) -> Any:
    weighted = chunk.projected * chunk.triple_weights[:, None].astype(chunk.projected.dtype)
    return np.asarray(chunk.by_document.T @ weighted)


class DroppedWordsWithin(DroppedWords):
    """The dropped words of a corpus, with their documents among some."""

    def __init__(self, whole: DroppedWords, indices: Array) -> None:
        self._whole, self._indices = whole, indices

    def find(self, word: str) -> DroppedWord | None:
        """Return a word, or None if it is not among the dropped ones. If none of the documents has it, it has none."""
        found = self._whole.find(word)
        if found is None:
            return None
        is_inside = np.isin(found.documents, self._indices)
        if not is_inside.any():
            return replace(found, documents=found.documents[:0], counts=found.counts[:0])
        # Those stored stand for the others.
        share = np.count_nonzero(is_inside) / len(found.documents)
        return replace(
            found,
            n_documents=max(round(share * found.n_documents), int(np.count_nonzero(is_inside))),
            n_all=len(self._indices),
            documents=np.searchsorted(self._indices, found.documents[is_inside]),
            counts=found.counts[is_inside],
        )

    @property
    def common(self) -> dict[str, int]:
        """Words that are too common to be features, with the number of all documents that contain each."""
        return self._whole.common

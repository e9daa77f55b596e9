"""The documents with most of some words that are not features: what a search for these words starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import HintError
from mixsearch.topics._counts import damp
from mixsearch.topics._documents import WORDS_ELSEWHERE, pick_documents
from mixsearch.topics._hint import DroppedHint
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._ranking import NamedDocuments, mean_of_named
from mixsearch.topics._seeds import Seeds, mark_documents

# So few documents are examples of their topic. More of them stand for all that contain a word.
MAX_EXAMPLES = 20


class Matches(NamedTuple):
    """Documents with much of the words of a hint."""

    counts: sp.csr_array  # (m, d)
    named: NamedDocuments  # what they have in common, weighted by how much of the words they contain
    hint: Array | None  # how they differ from the corpus, in the frame, (k,); None if they are few enough for examples
    n_documents: int  # that contain one of the words, at least


def match_dropped(family: TopicFamily, hint: DroppedHint, *, damping: bool) -> Matches:
    """Return the documents with most of the words of a hint, without those that contain a word to avoid.

    Parameters
    ----------
    family : TopicFamily
    hint : DroppedHint
    damping : bool
        Whether the counts are damped.

    Returns
    -------
    Matches
        If a hint has several words, each enters in proportion to its weight, however frequent it is.
    """
    indices = np.unique(np.concatenate([word.documents for word, _ in hint.words]))
    picked = pick_documents(family.partitions, indices)
    scores = np.zeros(len(indices))
    for word, weight in hint.words:
        own = np.searchsorted(indices, word.documents)
        counts = damp(word.counts) if damping else word.counts
        density = counts / (picked.lengths[own] + WORDS_ELSEWHERE)
        scores[own] += weight * density / density.sum()
    scores[np.asarray(picked.counts[:, hint.avoid].sum(axis=1)) > 0] = 0
    rows = np.flatnonzero(scores)
    if not len(rows):
        raise HintError(
            "Every document with much of {words} contains a word to avoid. Leave out that word.",
            code="all_avoided",
            words=", ".join(repr(word.word) for word, _ in hint.words),
        )
    documents = picked.take(rows)
    named = mean_of_named(family, documents, indices[rows], scores[rows])
    frame, n_documents = family.frame, max(word.n_documents for word, _ in hint.words)
    direction = None if len(rows) <= MAX_EXAMPLES else frame.values * frame.whiten(named.words - family.word_mean)
    return Matches(documents.counts, named, direction, n_documents)


def seed_from_matches(matches: Matches, family: TopicFamily, weight: float) -> Seeds:
    """Return these documents, as many as contain the words."""
    marked = family.partitions.map(mark_documents, matches.named.indices)
    return Seeds(marked, 0.0, matches.named, matches.n_documents)

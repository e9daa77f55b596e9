"""The steps of a search for a topic: how many components it uses, and how the topic found is refined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, warn_not_refined
from mixsearch.data.partitions import Partitions
from mixsearch.errors import HintError, SearchError, WeakHintWarning, warn_user
from mixsearch.topics._component import Topic
from mixsearch.topics._documents import TopicPartition, index_rows
from mixsearch.topics._em import refine_topic, shrink_to_moments
from mixsearch.topics._hint import WordHint
from mixsearch.topics._local_em import refine_locally
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._seeds import Seeds

# Fewer components than were fitted no longer represent a hint if they keep less than this fraction of its projection.
MIN_KEPT = 0.5
# Enough components keep this fraction of the projection of a hint onto all of them; never fewer than this many.
ENOUGH, MIN_ENOUGH = 0.8, 20


def count_enough(family: TopicFamily, hint: WordHint) -> int:
    """Return how many components keep most of the projection of a hint onto all of them."""
    kept = np.cumsum(family.project(hint) ** 2)
    return int(max(np.searchsorted(kept, ENOUGH * kept[-1]) + 1, min(MIN_ENOUGH, family.n_components)))


def warn_if_lost(hint: WordHint, whole: TopicFamily, used: TopicFamily) -> None:
    """Warn if most of a hint lies in the components that a search leaves out."""
    total, kept = (np.sum(each.project(hint) ** 2) for each in (whole, used))
    if kept < MIN_KEPT * total:
        warn_user(
            WeakHintWarning(
                "The first {n_components} of {n_fitted} components explain {share:.0%} of the hint, so the topic found "
                "may be about something else. Use more components.",
                code="hint_left_out",
                n_components=used.n_components,
                n_fitted=whole.n_components,
                share=float(kept / total),
            )
        )


def refine_on_neighbourhood(found: Topic, seeds: Seeds, options: EMOptions, breadth: float = 1.0) -> Topic:
    """Refine a topic by EM on the documents near its hint; `breadth` scales how many of them there are."""
    scaled = seeds._replace(size=round(breadth * seeds.size))
    return replace(found, _refined=refine_locally(found._family, found._candidates, scaled, options))


def refine_on_corpus(found: Topic, options: EMOptions) -> Topic:
    """Refine a topic by variational EM on all documents."""
    refined = refine_topic(found._family, found._candidates, options)
    if refined is None:
        warn_not_refined()
        return found
    word_mean = found._family.word_mean
    return replace(found, _refined=shrink_to_moments(refined, found.probabilities, found.stderr, word_mean))


def index_documents(partitions: Partitions[TopicPartition], n_dropped: int, documents: Any) -> Array:
    """Return the indices in the corpus of rows of the user's matrix, given as numbers or as a mask, (q,)."""
    rows = np.asarray(documents)
    n_rows = partitions.n_rows + n_dropped
    if rows.dtype == bool and len(rows) == n_rows:
        rows = np.flatnonzero(rows)
    if not np.issubdtype(rows.dtype, np.integer):
        raise HintError(
            "documents must be row numbers, a mask of all {n_rows:,} rows, or counts of {n_words:,} columns, got "
            "{n_values:,} values of type {dtype}. Pass one document as counts[[row]].",
            code="bad_documents",
            n_rows=n_rows,
            n_words=partitions.n_features,
            n_values=len(rows),
            dtype=str(rows.dtype),
        )
    indices = index_rows(partitions, rows)
    if (indices < 0).any():
        raise SearchError(
            "Row {row} is not a document of this fit: it was left out, or is not among the {n_rows:,} rows.",
            code="unknown_row",
            row=int(rows[indices < 0][0]),
            n_rows=n_rows,
        )
    return indices

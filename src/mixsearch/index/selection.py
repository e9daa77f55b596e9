"""Documents that match a filter, to list and count them alone or to search within them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.index.columns import Columns
from mixsearch.topics.corpus import FittedCorpus

# Filters whose documents are remembered, and those whose moments are, which take as much memory as the documents.
_N_MASKS, _N_CORPORA = 32, 4


class Selection:
    """The documents of an index that match filters."""

    def __init__(self, columns: Columns, fitted: FittedCorpus) -> None:
        self._columns, self._fitted = columns, fitted
        self._mask = lru_cache(_N_MASKS)(self._compute_mask)
        self._corpus = lru_cache(_N_CORPORA)(self._restrict)

    def mask(self, where: str) -> Array:
        """Return which documents match a filter."""
        return self._mask(where)

    def within(self, where: str | None) -> FittedCorpus:
        """Return the documents that match a filter, as a corpus to search."""
        if where is None:
            raise ArgumentError(
                "{argument} searches the documents that match a filter, but there is none. Give {filter}.",
                code="no_filter",
                argument=Option("within"),
                filter=Option("where"),
            )
        return self._corpus(where)

    def keep_matching(self, hint: Mapping[str, Any], where: str | None) -> dict[str, Any]:
        """Return the documents of a hint that match a filter."""
        kept = {name: self._keep(hint[name], where) for name in ("documents", "not_documents")}
        if hint["words"] is None and kept["documents"] is None:
            raise SearchError(
                "None of the documents of the hint matches the filter '{filter}'. Search all documents, or widen it.",
                code="filter_excludes_hint",
                filter=where,
            )
        return kept

    def _keep(self, documents: Any, where: str | None) -> Any:
        rows = np.asarray(documents) if isinstance(documents, Sequence) else documents
        if where is None or not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.kind not in "iu":
            return documents
        matching = rows[self.mask(where)[self._fitted.find_documents(rows.tolist())]]
        return matching if len(matching) else None

    def _compute_mask(self, where: str) -> Array:

        from mixsearch.io.filters import Filter

        condition = Filter(where)
        try:
            found = condition.mask(self._columns.select(condition.columns))
        except SearchError as error:
            if error.code != "unknown_column":
                raise
            raise error.append("Others are kept with {keep} when the index is made.", keep=Option("keep")) from error
        if not found.any():
            raise SearchError(
                "None of the {n_documents:,} documents matches the filter '{filter}'. Widen it.",
                code="filter_matches_nothing",
                n_documents=len(found),
                filter=where,
            )
        found.setflags(write=False)
        return found

    def _restrict(self, where: str) -> FittedCorpus:
        return self._fitted.within(np.flatnonzero(self.mask(where)))

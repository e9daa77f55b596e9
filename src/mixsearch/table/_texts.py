"""Texts as examples: each starts from the rows whose vectors are nearest to its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import HintError, Option
from mixsearch.table._embedding import Embedder, embed_texts
from mixsearch.table._fit import TableFit

# A walk from a text starts at this many nodes, but at most this part of all: a few words are not a row, and the
# nearest row alone may be of another kind. Chosen on BBC and DBpedia: docs/decisions/tables.md.
N_NEAREST, MAX_NEAREST_PART = 10, 0.05


class PlacedTexts(NamedTuple):
    """Texts among the nodes of a graph."""

    texts: tuple[str, ...]
    nodes: Array  # the nearest one to each text, (q,)
    starts: sp.csc_array  # how much of the walk from each text starts at each node, (m, q)
    resp: Array  # (q, k)


def place_texts(argument: str, texts: Iterable[Any], fit: TableFit, embedder: Embedder) -> PlacedTexts:
    """Return texts among the nodes. Only the vector of a text is known, so that other columns do not count."""
    given = texts if isinstance(texts, str) else list(texts)
    n_nodes, k = fit.node_resp.shape
    if isinstance(given, str) or not all(isinstance(text, str) and text.strip() for text in given):
        raise HintError(
            "{argument} must be a list of texts, none of them empty, got {value!r}.",
            code="bad_texts",
            argument=Option(argument),
            value=given,
        )
    if not given:
        return PlacedTexts((), np.empty(0, dtype=np.intp), sp.csc_array((n_nodes, 0)), np.empty((0, k)))
    features, span = fit.encoder.find_vectors(fit.vectors)
    vectors = embed_texts(embedder, given)
    features.check_length(vectors.shape[1])
    unknown = [text for text, vector in zip(given, vectors, strict=True) if not vector.any()]
    if unknown:
        raise HintError(
            "The embedder knows no word of {text!r}: its vector is zero. Use other words.",
            code="unknown_text",
            text=unknown[0],
        )
    nodes = fit.node_features[:, span]
    lengths = np.maximum(np.linalg.norm(nodes, axis=1), np.finfo(np.float64).tiny)
    cosines = ((vectors - features.center) @ nodes.T) / lengths  # the length of a text itself changes no order
    n_nearest = max(1, min(N_NEAREST, int(MAX_NEAREST_PART * n_nodes)))
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :n_nearest]
    weights, indptr = np.full(nearest.size, 1 / n_nearest), np.arange(len(given) + 1) * n_nearest
    starts = sp.csc_array((weights, nearest.ravel(), indptr), shape=(n_nodes, len(given)))
    return PlacedTexts(tuple(given), nearest[:, 0], starts, np.asarray(starts.T @ fit.node_resp))

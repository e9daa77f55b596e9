"""Texts as vectors, through an embedder of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.table._columns import Column

# A callable from texts to vectors, an object with `encode`, or the name of a model: "model2vec:...".
Embedder: TypeAlias = Any
Encode: TypeAlias = Callable[[list[str]], Any]

# The package, module and constructor of the models that a name can mean.
_PACKAGES = {
    "model2vec": ("model2vec", "StaticModel", "from_pretrained"),
    "sentence-transformers": ("sentence_transformers", "SentenceTransformer", None),
}


def embed_texts(embedder: Embedder, texts: Sequence[str]) -> Array:
    """Return the vectors of texts.

    Parameters
    ----------
    embedder : callable, object with `encode`, or str
    texts : sequence of str

    Returns
    -------
    array of shape (q, m)
    """
    made = find_encode(embedder)(list(texts))
    try:
        vectors = np.asarray(made, dtype=np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size or not np.isfinite(vectors).all():
        raise SearchError(
            "The embedder must return one vector of finite numbers for each of {n_texts} texts, got {found}.",
            code="bad_embedding",
            n_texts=len(texts),
            found=f"an array of the shape {np.shape(made)}" if hasattr(made, "shape") else type(made).__name__,
        )
    return vectors


def embed_column(column: Column, embedder: Embedder) -> Column:
    """Return a column of texts as one of vectors; equal texts are embedded once."""
    if column.kind != "category":
        return column
    used, index = np.unique(column.values[column.values >= 0], return_inverse=True)
    if not len(used):
        return Column("empty", np.full(len(column.values), np.nan))
    found = embed_texts(embedder, [column.levels[code] for code in used])
    vectors = np.full((len(column.values), found.shape[1]), np.nan)
    vectors[column.values >= 0] = found[index]
    return Column("vector", vectors)


def find_encode(embedder: Embedder) -> Encode:
    """Return the function from texts to vectors that an embedder is, has or names."""
    if isinstance(embedder, str):
        return _load_model(embedder)
    encode = getattr(embedder, "encode", embedder)
    if callable(encode):
        found: Encode = encode
        return found
    if embedder is None:
        raise SearchError(
            "Texts need an embedder, which makes vectors of them: pass {argument}, such as "
            "'model2vec:minishlab/potion-base-8M'.",
            code="no_embedder",
            argument=Option("embedder"),
        )
    raise ArgumentError(
        "{argument} must be a function from a list of texts to vectors, an object with encode, or a name, got {value}.",
        argument=Option("embedder"),
        value=type(embedder).__name__,
    )


@lru_cache(maxsize=2)
def _load_model(name: str) -> Encode:
    kind, _, model = name.partition(":")
    if kind not in _PACKAGES or not model:
        raise ArgumentError(
            "{argument} must be a name such as {examples}, got {value!r}.",
            argument=Option("embedder"),
            examples="'model2vec:minishlab/potion-base-8M' or 'sentence-transformers:all-MiniLM-L6-v2'",
            value=name,
        )
    package, constructor, method = _PACKAGES[kind]
    try:
        make = getattr(import_module(package), constructor)
    except ImportError as error:
        raise SearchError(
            "The embedder {name!r} needs the package {package}: pip install 'mixsearch[{package}]'.",
            code="package_missing",
            name=name,
            package=kind,
        ) from error
    try:
        encode: Encode = (getattr(make, method) if method else make)(model).encode
    except Exception as error:  # packages raise errors of many kinds: of files, of the network, of their own
        raise SearchError(
            "The embedder {name!r} cannot be loaded: {reason}. Check the name and, unless it is a folder, the network "
            "connection.",
            code="embedder_not_loaded",
            name=name,
            reason=(str(error) or type(error).__name__).partition("\n")[0].rstrip("."),
        ) from error
    return encode

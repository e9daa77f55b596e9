"""Documents of a fit that are texts: counted by a vectorizer, the user's or ours."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from mixsearch.data.arrow import is_missing
from mixsearch.data.dask import is_dask
from mixsearch.errors import ArgumentError, Option, SearchError


def are_texts(X: Any) -> bool:
    """Return whether X holds strings, one per document, instead of counts."""
    if X is None or sp.issparse(X) or is_dask(X) or isinstance(X, str) or not hasattr(X, "__len__"):
        return False
    if getattr(X, "ndim", 1) != 1 or hasattr(X, "columns") or not len(X):
        return False
    first = next((each for each in X if not is_missing(each)), None)
    return isinstance(first, str)


def check_corpus(X: Any, vectorizer: Any) -> None:
    """Reject one text in place of several, and an empty list."""
    if isinstance(X, str | bytes) and vectorizer is None:
        raise ArgumentError(
            "{argument} is one text, but a corpus has several. Pass a list of texts.",
            code="one_text",
            argument=Option("X"),
        )
    is_list = isinstance(X, list | tuple) or (getattr(X, "ndim", 2) == 1 and not sp.issparse(X) and not is_dask(X))
    if is_list and not len(X):
        raise SearchError(
            "{argument} is empty. Pass a list of texts, or counts with a row for each document.",
            code="no_documents",
            argument=Option("X"),
        )


def make_vectorizer(vectorizer: Any) -> Any:
    """Return a vectorizer to fit: a copy of the user's, or the one that an index counts with."""
    if vectorizer is not None:
        from sklearn.base import clone

        return clone(vectorizer)
    from mixsearch.text import WordCounter

    return WordCounter()


def fill_missing(X: Any) -> list[str]:
    """Return texts, of which those that are missing are empty."""
    return ["" if is_missing(text) else text for text in X]


def explain_too_few_words(error: SearchError, vectorizer: Any) -> SearchError:
    """Return the error of a fit, with the words that the vectorizer left out if the documents have too few."""
    left_out = getattr(vectorizer, "left_out_", None)
    if error.code != "too_few_documents" or left_out is None:
        return error
    explained: SearchError = left_out.explain(error)
    if explained is error:
        return error
    return explained.append(
        "For that, pass {vectorizer}=WordCounter(CorpusOptions(...)) of mixsearch.text.",
        vectorizer=Option("vectorizer"),
    )

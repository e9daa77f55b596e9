"""Options of an answer: how much of a topic it describes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Options of an answer.

    Parameters
    ----------
    n_words, n_documents, n_related : int
        How many words, documents and related words to list.
    skip_documents : int, default=0
        How many of the first documents to leave out.
    sort_by : str, optional
        A column whose order the documents about the topic are listed in. By default those most about it come first.
    descending : bool, default=False
        List the largest values of that column first.
    words_by : {"typical", "probability"}, default="typical"
        Which words come first, as in `Topic.top_words`.
    alternative : int, default=0
        0 for the topic found, else the rank of another one that the hint could mean.
    errors : bool, default=False
        Add standard errors.
    confidence : bool, default=False
        Add the probability that the hint means this topic also if that reads all documents.

    Examples
    --------
    >>> from mixsearch.index import AnswerOptions
    >>> options = AnswerOptions(n_words=20, n_documents=5, errors=True)
    """

    n_words: int = 10
    n_documents: int = 5
    n_related: int = 8
    skip_documents: int = 0
    sort_by: str | None = None
    descending: bool = False
    words_by: Literal["typical", "probability"] = "typical"
    alternative: int = 0
    errors: bool = False
    confidence: bool = False

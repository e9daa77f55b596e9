"""A vectorizer for scikit-learn that splits and chooses words as an index does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.text.count import count_texts
from mixsearch.text.options import CorpusOptions


class WordCounter(BaseEstimator):
    """Count the words of texts in any language, without stop words, with phrases.

    Parameters
    ----------
    options : CorpusOptions, optional
        How to split texts into words, and which words to count.

    Attributes
    ----------
    vocabulary_ : list of str
        The words, one per column.

    Examples
    --------
    >>> counter = WordCounter(CorpusOptions(stop_words=None))
    >>> counter.fit_transform(["Good sushi", "Good, good ramen"]).toarray().tolist()
    [[1, 0, 1], [2, 1, 0]]
    >>> counter.get_feature_names_out().tolist()
    ['good', 'ramen', 'sushi']
    """

    def __init__(self, options: CorpusOptions | None = None) -> None:
        self.options = options

    def fit(self, texts: Iterable[str | None], y: Any = None) -> Self:
        """Choose the words.

        Parameters
        ----------
        texts : iterable of str
            One per document. None and NaN are documents without words.
        y : object, optional
            Ignored.

        Returns
        -------
        self
        """
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str | None], y: Any = None) -> sp.csr_array:
        """Choose the words, and count them.

        Parameters
        ----------
        texts : iterable of str
            One per document, read once.
        y : object, optional
            Ignored.

        Returns
        -------
        sparse array of shape (n, d)
        """
        with count_texts(texts, self.options) as corpus:
            self.vocabulary_ = corpus.vocabulary
            return corpus.to_counts()

    def transform(self, texts: Iterable[str | None]) -> sp.csr_array:
        """Count the words of other texts.

        Parameters
        ----------
        texts : iterable of str
            One per document.

        Returns
        -------
        sparse array of shape (n, d)
        """
        check_is_fitted(self)
        with count_texts(texts, self.options, known=self.vocabulary_) as corpus:
            return corpus.to_counts()

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the words.

        Parameters
        ----------
        input_features : object, optional
            Ignored.

        Returns
        -------
        array of shape (d,)
        """
        check_is_fitted(self)
        return np.array(self.vocabulary_, dtype=object)

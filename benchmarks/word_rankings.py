"""Simple rankings of all documents for one word, from counts alone: what a topic search has to beat."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from corpora import Corpus
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from mixsearch._typing import Array

# Latent semantic indexing.
N_LATENT, N_ITER, SEED = 100, 3, 0
# BM25, and a relevance model of its first documents (RM3).
SATURATION, LENGTH_PENALTY = 1.2, 0.75
N_FEEDBACK, N_EXPANSION, OWN_WEIGHT = 50, 50, 0.5
# The logistic regression, and its inverse regularization.
INVERSE_PENALTY, MAX_ITER = 3.0, 200


def unit_tfidf(corpus: Corpus) -> sp.csr_array:
    """Return sublinear tf-idf rows of length 1, (n, d)."""
    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts.astype(np.float64)))


class Centroid:
    """The centroid of the documents that hold a word, by its tf-idf there, less the mean of all documents."""

    def __init__(self, corpus: Corpus) -> None:
        self.tfidf = unit_tfidf(corpus)
        self.by_word = self.tfidf.tocsc()
        self.mean = np.asarray(self.tfidf.mean(axis=0))

    def direction(self, column: int) -> Array:
        """Return the contrast, (d,)."""
        own = self.by_word[:, [column]].toarray().ravel()
        return np.asarray(self.tfidf.T @ (own / own.sum())) - self.mean

    def rank(self, column: int) -> Array:
        """Return a score for each document, (n,)."""
        return np.asarray(self.tfidf @ self.direction(column))


class LatentSemantics:
    """Cosines of documents with the word, among the leading singular vectors of tf-idf."""

    def __init__(self, corpus: Corpus) -> None:
        tfidf = unit_tfidf(corpus)
        svd = TruncatedSVD(N_LATENT, random_state=SEED, n_iter=N_ITER).fit(tfidf)
        self.words, self.documents = svd.components_, normalize(svd.transform(tfidf))

    def direction(self, column: int) -> Array:
        """Return the cosines of words with the word, (d,)."""
        return np.asarray(normalize(self.words.T) @ normalize(self.words[:, [column]].T)[0])

    def rank(self, column: int) -> Array:
        """Return a score for each document, (n,)."""
        return np.asarray(self.documents @ normalize(self.words[:, [column]].T)[0])


class RelevanceModel:
    """BM25 with the words of its first documents added to the question (RM3)."""

    def __init__(self, corpus: Corpus) -> None:
        self.counts = corpus.counts.astype(np.float64)
        self.lengths = np.asarray(self.counts.sum(axis=1))
        n, holding = self.counts.shape[0], np.bincount(self.counts.indices, minlength=self.counts.shape[1])
        idf = np.log(1 + (n - holding + 0.5) / (holding + 0.5))
        relative = np.repeat(self.lengths / self.lengths.mean(), np.diff(self.counts.indptr))
        counts = self.counts.data
        damped = counts * (SATURATION + 1) / (counts + SATURATION * (1 - LENGTH_PENALTY + LENGTH_PENALTY * relative))
        self.bm25 = sp.csr_array(
            (idf[self.counts.indices] * damped, self.counts.indices, self.counts.indptr), shape=self.counts.shape
        )
        self.by_word = self.bm25.tocsc()

    def direction(self, column: int) -> Array:
        """Return the weights of words in the question, (d,)."""
        first = self.by_word[:, [column]].toarray().ravel()
        top = np.argsort(-first)[:N_FEEDBACK]
        model = np.asarray(self.counts[top].T @ (first[top] / np.maximum(self.lengths[top], 1)))
        words = np.argsort(-model)[:N_EXPANSION]
        question = np.zeros_like(model)
        question[words] = (1 - OWN_WEIGHT) * model[words] / model[words].sum()
        question[column] += OWN_WEIGHT
        return question

    def rank(self, column: int) -> Array:
        """Return a score for each document, (n,)."""
        return np.asarray(self.bm25 @ self.direction(column))


class HoldsWord:
    """A logistic regression on whether a document contains the word, by all other words."""

    def __init__(self, corpus: Corpus) -> None:
        self.tfidf = unit_tfidf(corpus)
        self.by_word = self.tfidf.tocsc()

    def fit(self, column: int) -> tuple[LogisticRegression, sp.csr_array]:
        """Return the fitted regression and the other words."""
        is_other = np.arange(self.tfidf.shape[1]) != column
        others = self.tfidf @ sp.diags_array(is_other.astype(np.float64), format="csr")
        holds = self.by_word[:, [column]].toarray().ravel() > 0
        model = LogisticRegression(C=INVERSE_PENALTY, class_weight="balanced", max_iter=MAX_ITER)
        return model.fit(others, holds), others

    def direction(self, column: int) -> Array:
        """Return the coefficients of words, (d,)."""
        return np.asarray(self.fit(column)[0].coef_[0])

    def rank(self, column: int) -> Array:
        """Return a score for each document, (n,)."""
        model, others = self.fit(column)
        return np.asarray(model.decision_function(others))

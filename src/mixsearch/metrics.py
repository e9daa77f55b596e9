"""Measure the quality of answers: rankings against labels, words against a reference corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError

__all__ = ["Reference", "average_precision"]


def average_precision(relevant: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean precision at the relevant samples of a ranking by falling score.

    Parameters
    ----------
    relevant : array of shape (n,)
        Whether each sample is relevant.
    scores : array of shape (n,)
        The scores to rank by. Samples with equal scores share one rank.

    Returns
    -------
    float
        At most 1. A random ranking has about the share of relevant samples.

    Examples
    --------
    >>> average_precision([True, False, True], [3.0, 2.0, 1.0])
    0.8333333333333333
    """
    wanted, values = np.asarray(relevant, dtype=bool), np.asarray(scores)
    if wanted.ndim != 1 or wanted.shape != values.shape:
        raise ArgumentError(
            "{first} and {second} must be one-dimensional and of the same length, got shapes {first_shape} and "
            "{second_shape}.",
            first=Option("relevant"),
            second=Option("scores"),
            first_shape=wanted.shape,
            second_shape=values.shape,
        )
    if not wanted.any():
        raise SearchError(
            "None of the {n:,} samples is relevant: average precision is undefined.", code="no_relevant", n=len(wanted)
        )
    order = np.argsort(-values, kind="stable")
    last = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))  # the last sample of each run of equal scores
    found = np.cumsum(wanted[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * found / (last + 1)) / found[-1])


class Reference:
    """A reference corpus that shows which words belong together, independent of the text that was searched.

    Parameters
    ----------
    counts : sparse matrix or array of shape (n, d)
        Which of n units contain which of d words: a positive value means that the unit contains the word. A unit is
        an article, or a window of a few words.
    vocabulary : sequence of str
        The words, one per column.

    Notes
    -----
    Words that no unit contains, or that are not in the vocabulary, are unknown to the reference. They enter every mean
    as 0: a topic of unknown words gains and loses nothing.

    Examples
    --------
    >>> reference = Reference([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], ["moon", "orbit", "tax"])
    >>> reference.npmi(["moon", "orbit"]), reference.npmi(["moon", "tax"])
    (1.0, -1.0)
    """

    def __init__(self, counts: ArrayLike | sp.sparray | sp.spmatrix, vocabulary: Sequence[str]) -> None:
        matrix = counts if isinstance(counts, sp.sparray | sp.spmatrix) else np.asarray(counts)
        self._contains: sp.csc_array[Any] = sp.csc_array(sp.csc_array(matrix) > 0)
        self._contains.eliminate_zeros()
        n_columns = self._contains.shape[1]
        if n_columns != len(vocabulary):
            raise SearchError(
                "The vocabulary has {n_words:,} words, but the counts have {n_columns:,} columns. Give one word per "
                "column, in the order of the columns.",
                code="vocabulary_length",
                n_words=len(vocabulary),
                n_columns=n_columns,
            )
        n_units = np.diff(self._contains.indptr)
        self._columns = {word: column for column, word in enumerate(vocabulary) if n_units[column]}

    @property
    def n_units(self) -> int:
        """The number of articles or windows."""
        return int(self._contains.shape[0])

    def __contains__(self, word: str) -> bool:
        """Return whether any unit contains the word."""
        return word in self._columns

    def pmi(self, seed: str, words: Sequence[str]) -> float:
        """Return the paper's score of a topic: its mean pointwise mutual information with the seed word.

        Parameters
        ----------
        seed : str
            The labeled word, which the reference must contain.
        words : sequence of str
            The topic's top words; the paper takes 20.

        Returns
        -------
        float
            Higher is better; 0 for words independent of the seed.

        Notes
        -----
        The mean over the words w of log p(seed, w) / (p(seed) p(w)), in natural logarithms, where p is the share of
        units that contain a word or both (section "Real Data Sets", "Performance metric", with Wikipedia's articles).
        If the seed is among the words, it counts as -log p(seed). The paper does not define the score of pairs that
        never occur together: here it is the score of a single joint occurrence, but at most 0.

        Examples
        --------
        >>> reference = Reference([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], ["moon", "orbit", "tax"])
        >>> round(reference.pmi("moon", ["orbit"]), 3)
        0.693
        """
        return float(np.mean(_compute_pmi(*self._count_pairs_with(seed, words))))

    def npmi_with(self, seed: str, words: Sequence[str]) -> float:
        """Return the mean normalized pointwise mutual information of a topic's words with the seed word.

        Parameters
        ----------
        seed : str
            The labeled word, which the reference must contain.
        words : sequence of str
            The topic's top words.

        Returns
        -------
        float
            From -1 to 1.

        Notes
        -----
        What the programs of the paper's authors compute as its PMI, by the Palmetto library: each pair is scored as in
        `npmi`. A rare word that occurs with the seed once cannot outweigh all others, as it can in `pmi`.

        Examples
        --------
        >>> reference = Reference([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], ["moon", "orbit", "tax"])
        >>> reference.npmi_with("moon", ["orbit", "tax"])
        0.0
        """
        return float(np.mean(self._compute_npmi(*self._count_pairs_with(seed, words))))

    def npmi(self, words: Sequence[str]) -> float:
        """Return the coherence of words: the mean normalized pointwise mutual information of their pairs.

        Parameters
        ----------
        words : sequence of str
            A topic's top words, at least two and usually ten, in any order.

        Returns
        -------
        float
            From -1 to 1.

        Notes
        -----
        For two words, log(p(a, b) / (p(a) p(b))) / -log p(a, b): 1 if they always occur together, 0 if they are
        independent, -1 if they never occur together. It is 0 for words that every unit contains.
        """
        if len(words) < 2:
            raise SearchError("Pairs need at least 2 words, got {n_words}.", code="too_few_words", n_words=len(words))
        pairs = np.triu_indices(len(words), 1)
        return float(np.mean(self._compute_npmi(*(matrix[pairs] for matrix in self._count_pairs(words)))))

    def _compute_npmi(self, together: Array, expected: Array) -> Array:
        """Return normalized pointwise mutual information; -1 for pairs that never occur together, 0 if unknown."""
        max_pmi = np.log(self.n_units / np.maximum(together, 1))  # of words that always occur together
        normalized = _compute_pmi(together, expected) / np.where(max_pmi > 0, max_pmi, np.inf)
        return np.where(together > 0, normalized, np.where(expected > 0, -1.0, 0.0))

    def _count_pairs_with(self, seed: str, words: Sequence[str]) -> tuple[Array, Array]:
        """Return the joint counts of the seed and each word and those expected by chance, (q,) each."""
        if seed not in self:
            raise SearchError(
                "None of the {n_units:,} units of the reference contains {word!r}. Try another word.",
                code="unknown_word",
                n_units=self.n_units,
                word=seed,
            )
        if len(words) == 0:
            raise SearchError("No words to score. Give the topic's top words.", code="no_words")
        together, expected = self._count_pairs([seed, *words])
        return together[0, 1:], expected[0, 1:]

    def _count_pairs(self, words: Sequence[str]) -> tuple[Array, Array]:
        """Return the joint counts of each pair and those expected by chance, (q, q) each; 0 for unknown words."""
        contains = np.zeros((self.n_units, len(words)))
        known = [index for index, word in enumerate(words) if word in self]
        contains[:, known] = self._contains[:, [self._columns[words[index]] for index in known]].toarray()
        together = contains.T @ contains
        alone = np.diag(together)
        return together, np.outer(alone, alone) / self.n_units


def _compute_pmi(together: Array, expected: Array) -> Array:
    """Return pointwise mutual information; that of one joint occurrence for pairs without any, but at most 0."""
    seen = together > 0
    ratio = np.divide(together, expected, out=np.ones_like(expected), where=seen)
    return np.where(seen, np.log(ratio), -np.log(np.maximum(expected, 1)))

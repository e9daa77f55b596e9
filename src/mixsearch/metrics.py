"""How good an answer is: rankings against labels, words against a reference corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError


def average_precision(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """The mean precision at each relevant sample of a ranking, from the highest score down.

    Parameters
    ----------
    relevant : array of shape (n,)
        Whether each sample should come first.
    scores : array of shape (n,)
        What the ranking goes by. Samples of equal score come together, in no order.

    Returns
    -------
    float
        From the share of relevant samples (expected of a random ranking) to 1.

    Examples
    --------
    >>> average_precision([True, False, True], [3.0, 2.0, 1.0])
    0.8333333333333333
    """
    wanted, values = np.asarray(relevant, dtype=bool), np.asarray(scores)
    if wanted.ndim != 1 or wanted.shape != values.shape:
        raise SearchError(
            f"relevant and scores must be two lists of the same length; found shapes {wanted.shape} and {values.shape}."
        )
    if not wanted.any():
        raise SearchError(f"None of the {len(wanted):,} samples is relevant, so no ranking of them is better or worse.")
    order = np.argsort(-values, kind="stable")
    last = np.flatnonzero(np.append(np.diff(values[order]) != 0, True))  # of each run of equal scores
    found = np.cumsum(wanted[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * found / (last + 1)) / found[-1])


class Reference:
    """A corpus that says which words belong together: other text than was searched, so that it takes no side.

    Parameters
    ----------
    counts : sparse matrix or array of shape (n, d)
        Which of n units hold which of d words: any value above 0 means that the unit holds the word. A unit is an
        article, or a window of some words of one.
    vocabulary : sequence of str
        The words, one per column.

    Notes
    -----
    Words that no unit holds are unknown to the reference, as are words outside its vocabulary. Nothing can be said for
    or against them, so they enter every mean as 0: a topic of unknown words is neither praised nor punished.

    Examples
    --------
    >>> reference = Reference([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]], ["moon", "orbit", "tax"])
    >>> reference.npmi(["moon", "orbit"]), reference.npmi(["moon", "tax"])
    (1.0, -1.0)
    """

    def __init__(self, counts: Any, vocabulary: Sequence[str]) -> None:
        self.holds: sp.csc_array[Any] = sp.csc_array(sp.csc_array(counts) > 0)
        self.holds.eliminate_zeros()
        n_columns = self.holds.shape[1]
        if n_columns != len(vocabulary):
            raise SearchError(
                f"The vocabulary has {len(vocabulary):,} words, but the counts have {n_columns:,} columns. Give one "
                "word per column, in the order of the columns."
            )
        n_holding = np.diff(self.holds.indptr)
        self._columns = {word: column for column, word in enumerate(vocabulary) if n_holding[column]}

    @property
    def n_units(self) -> int:
        """How many articles or windows there are."""
        return int(self.holds.shape[0])

    def __contains__(self, word: str) -> bool:
        """Whether the reference knows the word."""
        return word in self._columns

    def pmi(self, seed: str, words: Sequence[str]) -> float:
        """The paper's score of a topic: how much likelier its words are beside the seed word than elsewhere.

        Parameters
        ----------
        seed : str
            The labelled word, which the reference must know.
        words : sequence of str
            The topic's top words; the paper takes 20.

        Notes
        -----
        The mean over the words w of log p(seed, w) / (p(seed) p(w)), in natural logarithms, where p is the share of
        units that hold a word or both (section "Real Data Sets", "Performance metric", with Wikipedia's articles). The
        seed word counts like any other where it is among the words, with -log p(seed). The paper does not smooth, and
        leaves open what a pair is worth that is never together: here as much as if it once were, but at most 0, as for
        independent words.
        """
        if seed not in self:
            raise SearchError(f"None of the {self.n_units:,} units of the reference hold {seed!r}. Try another word.")
        if len(words) == 0:
            raise SearchError("No words to score: give the topic's top words.")
        together, expected = self._meetings([seed, *words])
        return float(np.mean(_pmi_of_pairs(together[0, 1:], expected[0, 1:])))

    def npmi(self, words: Sequence[str]) -> float:
        """How well words go with each other: the mean normalised pointwise mutual information of their pairs.

        Parameters
        ----------
        words : sequence of str
            A topic's top words, two at least and usually ten. Their order does not matter.

        Notes
        -----
        For two words, log(p(a, b) / (p(a) p(b))) / -log p(a, b): 1 where they are always together, 0 where they are
        independent, -1 where they never are together. It is 0 for words that every unit holds.
        """
        if len(words) < 2:
            raise SearchError(f"Pairs need at least 2 words; found {len(words)}.")
        together, expected = (matrix[np.triu_indices(len(words), 1)] for matrix in self._meetings(words))
        most = np.log(self.n_units / np.maximum(together, 1))  # PMI of words that are always together
        shared = _pmi_of_pairs(together, expected) / np.where(most > 0, most, np.inf)
        return float(np.mean(np.where(together > 0, shared, np.where(expected > 0, -1.0, 0.0))))

    def _meetings(self, words: Sequence[str]) -> tuple[Array, Array]:
        """How many units hold both words of each pair, and how many would by chance, (q, q); 0 for unknown words."""
        held = np.zeros((self.n_units, len(words)))
        known = [place for place, word in enumerate(words) if word in self]
        held[:, known] = self.holds[:, [self._columns[words[place]] for place in known]].toarray()
        together = held.T @ held
        alone = np.diag(together)
        return together, np.outer(alone, alone) / self.n_units


def _pmi_of_pairs(together: Array, expected: Array) -> Array:
    """Pointwise mutual information; for pairs never together as if they were once, but at most 0."""
    seen = together > 0
    ratio = np.divide(together, expected, out=np.ones_like(expected), where=seen)
    return np.where(seen, np.log(ratio), -np.log(np.maximum(expected, 1)))

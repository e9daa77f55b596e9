"""From scores to members: how documents of a hint score when they are left out, and what this says about all others.

A document of the hint is judged by the others and, if words found it, by its other words alone: it should score like a
member that nobody pointed at. Where such documents rank among those without the words says how far to read, how many
members there are at most, and how likely a document of each score is one of them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.topics.fitted_corpus import FittedCorpus, Vectors
from mixsearch.topics.score import (
    Scores,
    compute_contrast,
    finish_scores,
    measure_spread,
    multiply_vectors,
    remove_words,
    score_documents,
    score_vectors,
    take_rows,
)
from mixsearch.topics.tuning import TUNING


class TopicCheck(NamedTuple):
    """Where documents of a hint rank when they are left out.

    Attributes
    ----------
    ranks : array of shape (q,)
        The rank of each among the other documents, rising: 1 is first.
    n_documents : int
        The number of those documents.
    n_containing : int
        How many documents contain the words that found them, so that they are judged by their other words; 0 for
        documents that were given.
    """

    ranks: Array
    n_documents: int
    n_containing: int = 0

    @property
    def precedence(self) -> float:
        """The probability that a left-out document ranks before another one: 1/2 by chance; NaN without a check."""
        return float(1 - (np.mean(self.ranks) - 0.5) / self.n_documents) if len(self.ranks) else float("nan")

    @property
    def match(self) -> Literal["strong", "fair", "weak"] | None:
        """Whether the documents of the hint have a topic of their own; None without a check."""
        if len(self.ranks) < TUNING.min_judged:
            return None
        if self.precedence < TUNING.weak or self.is_common:
            return "weak"
        if not self.n_containing:
            return "strong" if self.precedence >= TUNING.strong else "fair"
        # Words in many topics have documents that precede most others, but few of the best ones.
        n = 2 * self.n_containing
        by_chance = n / self.n_documents
        return "strong" if self.recall(n) - by_chance >= TUNING.strong_recall * (1 - by_chance) > 0 else "fair"

    @property
    def is_common(self) -> bool:
        """Whether most documents contain the words, which so do not tell documents apart."""
        return self.n_containing > self.n_documents

    def recall(self, n: int) -> float:
        """Return the fraction of left-out documents among the first n.

        Parameters
        ----------
        n : int
            How many documents are read.

        Returns
        -------
        float
        """
        return float(np.mean(self.ranks <= n)) if len(self.ranks) else float("nan")

    def __str__(self) -> str:
        q = len(self.ranks)
        if not self.n_documents:
            return "no check: no other documents are left to compare with"
        if q < 2:
            return "no check: it needs two documents"
        rank = int(self.ranks[min(int(TUNING.told_recall * q), q - 1)])
        unit = 10 ** max(len(str(rank)) - 2, 1)
        n = min(-(-rank // unit) * unit, self.n_documents)
        if q <= TUNING.few:
            n_back = int(np.sum(self.ranks <= n))
            come = pluralize(n_back, "comes", "come")
            return f"{n_back} of {q} documents {come} back among the first {n:,} when left out"
        if self.n_containing:
            ranked = "documents with the hint's words rank, by their other words,"
        else:
            ranked = "documents that were left out are"
        return f"{self.recall(n):.0%} of the {ranked} among the first {n:,} of {self.n_documents:,} others"


class Calibration(NamedTuple):
    """What left-out documents say about all."""

    membership: Array  # monotone in the score, (n,)
    is_probability: bool  # or a rank from 0 to 1, with too few left-out documents
    check: TopicCheck


def calibrate(
    corpus: FittedCorpus,
    vectors: Vectors,
    weights: Array,
    scores: Scores,
    columns: Array,
    is_given: Array,
) -> Calibration:
    """Estimate the membership of all documents from left-out documents of a hint.

    `vectors` and `weights` are those of the hint, `columns` its words, and `is_given` marks the documents of the corpus
    that it has, by words or as examples, (n,).
    """
    background = -np.sort(-scores.values[~is_given])
    m = len(background)
    left_out = score_left_out(corpus, vectors, weights, scores, columns) if m else np.empty(0)
    ranks = 1 + np.searchsorted(-background, np.sort(-left_out), side="left")
    check = TopicCheck(np.minimum(ranks, m), m, int(np.count_nonzero(is_given)) if len(columns) else 0)
    if len(left_out) < TUNING.min_judged:
        ascending = np.sort(scores.values)
        before, upto = (np.searchsorted(ascending, scores.values, side=side) for side in ("left", "right"))
        return Calibration((before + upto) / (2 * corpus.n_documents), False, check)
    levels, membership = estimate_membership(background, -np.sort(-scores.values[is_given]), check)
    return Calibration(np.interp(scores.values, levels, membership), True, check)


def score_left_out(corpus: FittedCorpus, vectors: Vectors, weights: Array, scores: Scores, columns: Array) -> Array:
    """Score documents of a hint by the others, in folds and without the words that found them, (q,)."""
    positive = np.flatnonzero(weights > 0)
    is_few, n_folds = len(positive) <= TUNING.few, min(len(positive), TUNING.few)
    if n_folds < 2:
        return np.empty(0)
    judged = positive[:: -(-len(positive) // TUNING.max_judged)]
    bare = remove_words(corpus.frame, take_rows(vectors, judged), columns)
    fold_of = np.full(len(weights), -1)
    fold_of[positive] = np.arange(len(positive)) % n_folds
    values = np.zeros(len(judged))
    for fold in range(n_folds):
        visible, rows = np.where(fold_of == fold, 0, weights), np.flatnonzero(fold_of[judged] == fold)
        tested = take_rows(bare, rows)
        if is_few:
            values[rows] = score_vectors(corpus, tested, score_documents(corpus, vectors, visible))
        else:  # one of many hardly changes the scores of the neighbourhood
            contrast = compute_contrast(corpus.frame, vectors, visible)
            scale = measure_spread(multiply_vectors(corpus.sample, contrast))
            products = multiply_vectors(tested, contrast)
            values[rows] = finish_scores(tested, products, scale, scores)
    return values


def estimate_membership(background: Array, given: Array, check: TopicCheck) -> tuple[Array, Array]:
    """Estimate membership as a function of the score: return scores and memberships, both rising, to interpolate.

    `background` and `given` are the scores of the documents without the hint, (m,), and with it, (g,); both fall.

    Notes
    -----
    1. At a score t, b(t) documents of the background and g(t) given ones score at least t, and a fraction c(t) of the
       left-out documents does. Members that nobody pointed at score as left-out documents: of N, N c(t).
    2. N is at most b(t) / c(t) for every t. It is taken as the least of these bounds, times the square of how well
       left-out documents are told from the background.
    3. Some given documents only mention the words: a fraction ε, which score like the background when they are left
       out, half of them in its lower half. So the members that score at least t are

           M(t) = N c(t) + g(t) - ε g b(t) / m.

    4. Membership is the slope of M against the number of documents b(t) + g(t), made to fall with the rank by the least
       concave majorant. Its odds are raised to a power: many documents of a small membership each would blur shares
       over time.
    """
    m, g = check.n_documents, len(given)
    # 1) numbers of documents and the fraction of left-out ones, at some levels of the score, falling
    levels = np.unique(np.concatenate([thin(background), thin(given)]))[::-1]
    n_background, n_given = (np.searchsorted(-scores, -levels, side="right") for scores in (background, given))
    ranks, first = np.unique(check.ranks, return_index=True)
    fractions = np.append(first[1:], len(check.ranks)) / (len(check.ranks) + 1)  # up to each rank, in expectation
    fraction = np.interp(n_background, np.append(0, np.append(ranks, m)), np.append(0, np.append(fractions, 1)))
    # 2) the members in the background
    is_enough = fractions >= min(TUNING.min_fraction, fractions[-1])
    n_unknown = (2 * check.precedence - 1) ** 2 * float(np.min(ranks[is_enough] / fractions[is_enough]))
    # 3) the members at each level
    stray = min(2 * float(np.mean(check.ranks > m / 2)), 1.0)
    n_members = np.clip(n_unknown * fraction + n_given - stray * g * n_background / m, 0, None)
    # 4) slopes of their majorant, each halfway between two levels
    x, y = (np.append(0.0, counts) for counts in (n_background + n_given, np.maximum.accumulate(n_members)))
    corners = find_majorant(x, y)
    slopes = np.clip(np.diff(y[corners]) / np.maximum(np.diff(x[corners]), 1e-9), 0, 1)
    likely, unlikely = slopes**TUNING.sharpness, (1 - slopes) ** TUNING.sharpness
    ends = np.append(levels[0], levels)[corners]
    scores, membership = ((ends[1:] + ends[:-1]) / 2)[::-1], (likely / (likely + unlikely))[::-1]
    # Most documents are below the last level without members, where there is nothing to interpolate.
    start = max(int(np.sum(membership == 0)) - 1, 0)
    return scores[start:], membership[start:]


def thin(scores: Array, n: int = 200) -> Array:
    """Return some of many scores, the best ones close to each other."""
    return scores[np.unique(np.geomspace(1, max(len(scores), 1), n).astype(np.intp)) - 1] if len(scores) else scores


def find_majorant(x: Array, y: Array) -> list[int]:
    """Return the indices of the corners of the least concave function above some points, whose x rise."""
    corners: list[int] = []
    for i in range(len(x)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) >= (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return corners

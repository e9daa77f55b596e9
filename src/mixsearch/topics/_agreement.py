"""Whether the words or the documents of a hint are about one topic.

A document of topic i is W'μᵢ in the frame, plus noise, and a word is the mean of the W'μᵢ, each in proportion to its
probability to be of topic i. Relative to the corpus, two of the same topic point the same way. Two of different topics
have ⟨W'μᵢ, W'μⱼ⟩ = 0, which is less than two documents have on average.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr

from mixsearch._typing import Array
from mixsearch.core.example_fit import MIN_AGREEMENT, ExampleFit
from mixsearch.errors import WeakHintWarning
from mixsearch.topics._hint import Term, WordHint
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._unit_vectors import to_unit_length

# The cosine of two groups of one topic is larger than this. In text, topics of one field share words: football and
# athletics are still more alike than random documents.
MIN_COSINE, MIN_TEXT_COSINE = 0.2, 0.0
# Standard error of the cosine of two groups of news articles.
COSINE_ERROR = 0.05
# A smaller fraction of many examples hardly changes the answer.
MIN_FRACTION = 0.2
# A word that differs from the corpus by less than this fraction of what the most specific one does has no topic.
MIN_SPECIFICITY = 0.4


class Split(NamedTuple):
    """The two groups of examples that are least alike."""

    is_other: Array  # which examples are in the group that is less like the topic found, (q,)
    cosines: Array  # of each example and the mean of the other group, (q,)
    agreement: float  # the probability that both groups are about one topic


class Axes(NamedTuple):
    """Coordinates in which examples are compared."""

    origin: Array  # the corpus in the frame, (k,)
    units: Array  # (k,)
    min_cosine: float

    def split(self, examples: Array, found: Array) -> Split:
        """Return the two groups of examples that are least alike.

        Parameters
        ----------
        examples : array of shape (q, k)
            Points of the frame, at least two.
        found : array of shape (k,)
            The topic found.

        Returns
        -------
        Split
        """
        units = to_unit_length((examples - self.origin) * self.units)
        group = _least_alike(units)
        means = np.array([units[~group].mean(axis=0), units[group].mean(axis=0)])
        scores = means @ ((found - self.origin) * self.units)
        cosines = np.sum(units * means[(~group).astype(int)], axis=1)
        agreement = float(ndtr((means[0] @ means[1] - self.min_cosine) / COSINE_ERROR))
        return Split(group if scores[0] >= scores[1] else ~group, cosines, agreement)


def choose_axes(family: TopicFamily, *, damping: bool) -> Axes:
    """Return the coordinates in which examples are compared.

    If the counts follow the model, those of the frame, in which topics are orthogonal whatever their shares are. Text
    has more topics than any frame: there the directions with most of the second moment count most, as in a hint of
    documents.
    """
    origin = family.mean / family.alpha0
    if damping:
        return Axes(origin, family.frame.values, MIN_TEXT_COSINE)
    return Axes(origin, np.ones_like(family.frame.values), MIN_COSINE)


def fit_documents(family: TopicFamily, counts: sp.csr_array, found: Array, *, damping: bool) -> ExampleFit:
    """Return the agreement of a topic with the documents of its hint.

    Parameters
    ----------
    family : TopicFamily
    counts : sparse array of shape (q, d)
    found : array of shape (k,)
        The topic in the frame.
    damping : bool
        Whether the counts are damped, as those of text.

    Returns
    -------
    ExampleFit
        Documents mix topics: none of them is called atypical.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    used, ones = np.flatnonzero(lengths), np.ones(len(lengths))
    posterior = np.where(lengths > 0, 1.0, 0.5)  # a document without words may be about anything
    if len(used) < 2:
        return ExampleFit(1.0, posterior, ones, ones)
    axes = choose_axes(family, damping=damping)
    split = axes.split(family.frame.whiten(counts[used]) / lengths[used, None], found)
    if split.agreement < MIN_AGREEMENT:
        own = ndtr((split.cosines - axes.min_cosine) / COSINE_ERROR)
        posterior[used[split.is_other]] = own[split.is_other]
    return ExampleFit(split.agreement, posterior, ones, ones)


class WordFit(NamedTuple):
    """The agreement of a topic with the words of its hint."""

    agreement: float  # the probability that all of them are about one topic
    own: tuple[str, ...] = ()  # words that are more like the topic found
    others: tuple[str, ...] = ()

    def doubts(self) -> list[WeakHintWarning]:
        """Return the doubt that the words are about different topics, if there is one."""
        if self.agreement >= MIN_AGREEMENT:
            return []
        return [
            WeakHintWarning(
                "The words of the hint look like those of different topics: {own_words} and {other_words}. Search for "
                "them one after the other, or look at `alternatives`.",
                code="words_disagree",
                own_words=", ".join(map(repr, self.own)),
                other_words=", ".join(map(repr, self.others)),
                agreement=self.agreement,
            )
        ]


def fit_words(family: TopicFamily, hint: WordHint, found: Array, *, damping: bool) -> WordFit:
    """Return the agreement of a topic with the words of its hint.

    Parameters
    ----------
    family : TopicFamily
    hint : WordHint
    found : array of shape (k,)
        The topic in the frame.
    damping : bool
        Whether the counts are damped, as those of text.

    Returns
    -------
    WordFit
        Words to avoid, and those that all topics have, say nothing about agreement.
    """
    terms = [term for term in hint.terms if term.weight > 0]
    if len(terms) < 2:
        return WordFit(1.0)
    axes = choose_axes(family, damping=damping)
    points = np.array([family.project(term.hint(family.word_mean)) for term in terms]) / family.alpha0
    specific = _specific(points - axes.origin, family.frame.values)
    if len(specific) < 2:
        return WordFit(1.0)
    split = axes.split(points[specific], found)
    return WordFit(split.agreement, _spell(terms, specific[~split.is_other]), _spell(terms, specific[split.is_other]))


def _specific(differences: Array, values: Array) -> Array:
    """Return the indices of the words that differ clearly from the corpus, (s,)."""
    sizes = np.linalg.norm(differences * values, axis=1)
    return np.flatnonzero(sizes >= MIN_SPECIFICITY * sizes.max())


def _spell(terms: list[Term], indices: Array) -> tuple[str, ...]:
    return tuple(terms[index].word for index in indices)


def _least_alike(units: Array) -> Array:
    """Return which of some unit vectors are in one of the two groups that are least alike, as a mask, (q,).

    Groups are neighbours along the direction in which the vectors vary most; a single one may be a group too.
    """
    n = len(units)
    apart = units - units.mean(axis=0)
    order = np.argsort(apart @ np.linalg.svd(apart, full_matrices=False)[2][0])
    masks = np.concatenate([np.tri(n, dtype=bool)[:-1, np.argsort(order)], np.eye(n, dtype=bool)])
    sizes = masks.sum(axis=1)
    masks = masks[np.minimum(sizes, n - sizes) >= min(MIN_FRACTION * n, n // 2)]
    sums, sizes = masks @ units, masks.sum(axis=1)
    cosines = np.sum(sums * (units.sum(axis=0) - sums), axis=1) / (sizes * (n - sizes))
    return np.asarray(masks[np.argmin(cosines)])

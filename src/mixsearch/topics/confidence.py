"""Whether a hint is about one topic, and the probability that the topic found is the one it means.

A document of topic i is W'μᵢ in the frame, plus noise, and a word is the mean of the W'μᵢ, each in proportion to its
probability to be of topic i. Relative to the corpus, two of the same topic point the same way. Two of different topics
have ⟨W'μᵢ, W'μⱼ⟩ = 0, which is less than two documents have on average.

A word has a topic if the documents that contain it lie close together and away from the corpus, and the topic found is
that one if it accounts for the hint. Likelihoods under the model are not calibrated on real text, so the probability is
a logistic regression on a few signals, fitted to labelled corpora by benchmarks/verdict.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit, ndtr

from mixsearch._typing import Array
from mixsearch.confidence import MIN_AGREEMENT, ExampleFit
from mixsearch.core.extraction import Candidates
from mixsearch.errors import WeakHintWarning
from mixsearch.topics.documents import (
    N_LEADING,
    PlacedFamily,
    PlacedSample,
    broad_places,
    pick_evenly,
    place_documents,
    to_unit_length,
)
from mixsearch.topics.hint import Term, WordHint
from mixsearch.topics.local_em import LocalTopic
from mixsearch.topics.ranking import BROAD_PLACE
from mixsearch.topics.seeds import MIN_DOCUMENTS

# The cosine of two groups of one topic is larger than this. In text, topics of one field share words: football and
# athletics are still more alike than random documents.
MIN_COSINE, MIN_TEXT_COSINE = 0.2, 0.0
# Standard error of the cosine of two groups of news articles.
COSINE_ERROR = 0.05
# A smaller fraction of many examples hardly changes the answer.
MIN_FRACTION = 0.2
# A word that differs from the corpus by less than this fraction of what the most specific one does has no topic.
MIN_SPECIFICITY = 0.4
# Documents that contain the word, and as many of the corpus, which they are compared with.
MAX_COMPARED = 500
# Words in fewer or more documents than this were not among those that the regression was fitted to, or rare.
MIN_NAMED, MAX_NAMED = 20, 5000
# Documents with the words have two readings if the smaller group is at least this part, and if the cosine of the groups
# is smaller than this: for those of two candidates, and for those that are least alike.
MIN_READING, CANDIDATES_COSINE, CUT_COSINE = 0.2, 0.2, 0.0
# Steps of two-means.
MAX_CUTS = 10
# Where logarithms and ratios end.
MAX_PART, MIN_DISTANCE, MIN_SHARE, MAX_SHARE = 0.9, 0.01, 0.02, 0.99


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
        """Return the two groups of examples that are least alike."""
        units = to_unit_length((examples - self.origin) * self.units)
        group = _least_alike(units)
        means = np.array([units[~group].mean(axis=0), units[group].mean(axis=0)])
        scores = means @ ((found - self.origin) * self.units)
        cosines = np.sum(units * means[(~group).astype(int)], axis=1)
        agreement = float(ndtr((means[0] @ means[1] - self.min_cosine) / COSINE_ERROR))
        return Split(group if scores[0] >= scores[1] else ~group, cosines, agreement)


def choose_axes(family: PlacedFamily, *, damping: bool) -> Axes:
    """Return the coordinates in which examples are compared.

    If the counts follow the model, those of the frame, in which topics are orthogonal whatever their shares are. Text
    has more topics than any frame: there the directions with most of the second moment count most, as in a hint of
    documents.
    """
    origin = family.mean / family.alpha0
    if damping:
        return Axes(origin, family.frame.values, MIN_TEXT_COSINE)
    return Axes(origin, np.ones_like(family.frame.values), MIN_COSINE)


def fit_documents(family: PlacedFamily, counts: sp.csr_array, found: Array, *, damping: bool) -> ExampleFit:
    """Return the agreement of a topic with the documents of its hint."""
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

    def warnings(self) -> list[WeakHintWarning]:
        """Return the warning that the words are about different topics, if there is one."""
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


def fit_words(family: PlacedFamily, hint: WordHint, found: Array, *, damping: bool) -> WordFit:
    """Return the agreement of a topic with the words of its hint."""
    terms = [term for term in hint.terms if term.weight > 0]
    if len(terms) < 2:
        return WordFit(1.0)
    axes = choose_axes(family, damping=damping)
    points = np.array([family.project(term.hint(family.word_mean)) for term in terms]) / family.alpha0
    sizes = np.linalg.norm((points - axes.origin) * family.frame.values, axis=1)
    specific = np.flatnonzero(sizes >= MIN_SPECIFICITY * sizes.max())  # words that differ clearly from the corpus
    if len(specific) < 2:
        return WordFit(1.0)
    split = axes.split(points[specific], found)
    return WordFit(split.agreement, _spell(terms, specific[~split.is_other]), _spell(terms, specific[split.is_other]))


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


class Signals(NamedTuple):
    """Signals that a topic is about the words of its hint."""

    distance: float  # logarithm of the squared distance of the place of the documents that contain them from all others
    lead: float  # by which these documents come before others by their places, as a share of the largest possible lead
    share: float  # log odds of the part of the hint that the topic accounts for
    n_documents: float  # logarithm of the number of documents that contain the words


# By the signals: their means over words of labelled corpora, their deviations, and the coefficients of the regression.
MEANS = Signals(-2.253, 0.248, 0.8731, 5.495)
DEVIATIONS = Signals(0.9399, 0.1823, 1.582, 1.556)
COEFFICIENTS = Signals(1.191, 0.657, 0.182, -1.015)
INTERCEPT = -1.196


def trust_in_words(topic: LocalTopic, candidates: Candidates, share: float) -> float:
    """Return the probability that a topic from words is about them, and they about nothing else."""
    documents = pick_named(topic)
    # Very few documents cannot show what a word means.
    is_enough = min(topic.named.size / MIN_DOCUMENTS, 1.0) if topic.has_hint_documents else 0.0
    signals = collect_signals(topic, documents, share)
    return is_enough * share_of_reading(topic.family, documents, candidates) * probability_of(signals)


def pick_named(topic: LocalTopic) -> PlacedSample:
    """Return the documents with the most of the words."""
    return place_documents(topic.family.chunks, np.sort(topic.named.indices[:MAX_COMPARED]))


def collect_signals(topic: LocalTopic, documents: PlacedSample, share: float) -> Signals:
    """Collect the signals of a topic that was found from words."""
    chunks, named = topic.family.chunks, topic.named
    others = pick_evenly(chunks, MAX_COMPARED)
    own_place, place = (topic.ranking.view_broad_place(each).mean() for each in (documents, others))
    # Documents that are a large part of the corpus cannot be far from its mean.
    part = min(named.size / chunks.n_rows, MAX_PART)
    distance = np.sum((named.places - topic.family.mean_document.places)[-1] ** 2) / (1 - part) ** 2
    lead = (own_place - place) * topic.ranking.weights[BROAD_PLACE] / np.sqrt((1 - part) / part)
    return Signals(
        distance=float(np.log(distance + MIN_DISTANCE)),
        lead=float(lead),
        share=float(logit(np.clip(share, MIN_SHARE, MAX_SHARE))),
        n_documents=float(np.log(np.clip(named.size, MIN_NAMED, MAX_NAMED))),
    )


def share_of_reading(family: PlacedFamily, documents: PlacedSample, candidates: Candidates) -> float:
    """Return the share of the documents with the words that have the more frequent of two readings; 1 if there is one.

    The documents are cut in two: by the first two candidates of the moment estimate, which may be two subjects or parts
    of one, and into the groups that are least alike, in case the first candidate is a mixture of two subjects. Groups
    of one subject lie on the same side of the corpus: of the questions to five labelled corpora, two words have others.
    """
    if documents.n_rows < 2:
        return 1.0
    # Beyond the leading directions all of them are 0.
    leading = broad_places(documents.projected[:, :N_LEADING], family.frame.values[:N_LEADING])
    places = leading - family.mean_document.places[-1, :N_LEADING]
    k = candidates.points.shape[0]
    shares = documents.projected[:, :k] @ (candidates.points[:, :2] * candidates.weights[:2])
    by_candidates = _reading(places, shares[:, -1] > shares[:, 0], CANDIDATES_COSINE)
    return min(by_candidates, _reading(places, _cut(places), CUT_COSINE))


def _reading(places: Array, is_other: Array, max_cosine: float) -> float:
    """Return the share of the larger of two groups of documents if they are about different things, else 1."""
    part = float(min(is_other.mean(), 1 - is_other.mean()))
    if part < MIN_READING:
        return 1.0
    one, other = _unit_means(places, is_other)
    return 1.0 if one @ other > max_cosine else 1 - part


def _unit_means(places: Array, is_other: Array) -> Array:
    """Return the mean places of two groups of documents as unit vectors, (2, k)."""
    return to_unit_length(np.stack([~is_other, is_other]).astype(places.dtype) @ places)


def _cut(places: Array) -> Array:
    """Cut documents into two groups by the direction of their places, (n,)."""
    centered = places - places.mean(axis=0)
    is_other = np.asarray(centered @ np.linalg.eigh(centered.T @ centered)[1][:, -1] > 0)
    for _ in range(MAX_CUTS):
        if is_other.all() or not is_other.any():
            return is_other
        one, other = _unit_means(places, is_other)
        again = np.asarray(places @ (other - one) > 0)
        if np.array_equal(again, is_other):
            return is_other
        is_other = again
    return is_other


def probability_of(signals: Signals) -> float:
    """Return the probability that a topic is about the words of its hint, if these have only one reading."""
    scaled = (np.array(signals) - MEANS) / np.array(DEVIATIONS)
    return float(expit(scaled @ np.array(COEFFICIENTS) + INTERCEPT))

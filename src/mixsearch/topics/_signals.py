"""Estimate the probability that a topic is about the words of its hint.

A word has a topic if the documents that contain it lie close together and away from the corpus, and the topic found is
that one if it accounts for the hint. A model of the corpus, which real text does not follow, cannot say how likely that
is. So the probability is a logistic regression on a few signals, fitted to labelled corpora by benchmarks/verdict.py,
which also tests it on corpora that it was not fitted to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from mixsearch._typing import Array
from mixsearch.core.component import Candidates
from mixsearch.topics._documents import PlacedSample, pick_evenly, place_documents
from mixsearch.topics._local_topic import LocalTopic
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._ranking import BROAD_PLACE
from mixsearch.topics._seeds import MIN_DOCUMENTS
from mixsearch.topics._unit_vectors import N_LEADING, broad_places, to_unit_length

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
    """Return the probability that a topic from words is about them, and they about nothing else.

    Parameters
    ----------
    topic : LocalTopic
        The topic.
    candidates : Candidates
        All topics of the moment estimate.
    share : float
        The part of the hint that the topic's moment estimate accounts for.

    Returns
    -------
    float
    """
    documents = pick_named(topic)
    # Very few documents cannot show what a word means.
    is_enough = min(topic.named.size / MIN_DOCUMENTS, 1.0) if topic.has_hint_documents else 0.0
    signals = collect_signals(topic, documents, share)
    return is_enough * share_of_reading(topic.family, documents, candidates) * probability_of(signals)


def pick_named(topic: LocalTopic) -> PlacedSample:
    """Return the documents with the most of the words."""
    return place_documents(topic.family.partitions, np.sort(topic.named.indices[:MAX_COMPARED]))


def collect_signals(topic: LocalTopic, documents: PlacedSample, share: float) -> Signals:
    """Collect the signals of a topic that was found from words.

    Parameters
    ----------
    topic : LocalTopic
        The topic.
    documents : PlacedSample
        From `pick_named`.
    share : float
        The part of the hint that its moment estimate accounts for.

    Returns
    -------
    Signals
    """
    partitions, named = topic.family.partitions, topic.named
    others = pick_evenly(partitions, MAX_COMPARED)
    own_place, place = (topic.ranking.view_broad_place(each).mean() for each in (documents, others))
    # Documents that are a large part of the corpus cannot be far from its mean.
    part = min(named.size / partitions.n_rows, MAX_PART)
    distance = np.sum((named.places - topic.family.mean_document.places)[-1] ** 2) / (1 - part) ** 2
    lead = (own_place - place) * topic.ranking.weights[BROAD_PLACE] / np.sqrt((1 - part) / part)
    return Signals(
        distance=float(np.log(distance + MIN_DISTANCE)),
        lead=float(lead),
        share=float(logit(np.clip(share, MIN_SHARE, MAX_SHARE))),
        n_documents=float(np.log(np.clip(named.size, MIN_NAMED, MAX_NAMED))),
    )


def share_of_reading(family: TopicFamily, documents: PlacedSample, candidates: Candidates) -> float:
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

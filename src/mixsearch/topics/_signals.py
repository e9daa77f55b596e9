"""Whether the topic found is about the word that was asked for: signals, and the probability that they add up to.

A word has a topic if the documents that contain it lie close together and away from the corpus, and the topic found is
that one if it is made of these documents and of the word. No single signal settles it, nor does a model of the corpus,
which real text does not follow. So the probability is a logistic regression on the signals, fitted to labelled corpora
by benchmarks/verdict.py, which also tests it on corpora that it was not fitted to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from mixsearch._typing import Array
from mixsearch.data.reductions import top_rows
from mixsearch.topics._documents import pick_documents
from mixsearch.topics._local_em import LocalTopic

# The typical documents that are looked through for the word.
N_TYPICAL = 20
# Documents that contain the word, which are compared with the corpus.
MAX_COMPARED = 500
# A word that is not typical of its topic at all has this rank.
NO_RANK = 999
MIN_SEPARATION, MAX_SEPARATION = 0.1, 100.0


class Signals(NamedTuple):
    """What says that a topic is about the word asked for."""

    fine_distance: float  # of the mean place of the documents that contain the word from that of all, squared
    broad_distance: float  # the same in the leading directions
    fine_lead: float  # how far these documents come before others by their places, in standard deviations
    broad_lead: float
    share: float  # of the hint that the topic accounts for
    separation: float  # logarithm of the lead of the topic over the best other one
    density: float  # mean tf-idf of the word in the documents that contain it
    holding: float  # share of the typical documents that contain the word
    rank: float  # logarithm of the word's rank among the typical words of the topic
    agreement: float  # overlap of the topic with the estimate from moments
    frequency: float  # logarithm of the share of documents that contain the word
    n_documents: float  # logarithm of their number


# One row for each signal: its mean over the words of labelled corpora, its deviation, and its coefficient.
COEFFICIENTS: tuple[tuple[float, float, float], ...] = ((0.0, 1.0, 0.0),) * 12
INTERCEPT = 0.0


def collect_signals(topic: LocalTopic, columns: Array, share: float, separation: float, moments: Array) -> Signals:
    """Collect the signals of a topic that was found from words.

    Parameters
    ----------
    topic : LocalTopic
        The topic.
    columns : array of shape (q,)
        The words that were asked for.
    share, separation : float
        Of the moment estimate under the hint.
    moments : array of shape (d,)
        The moment estimate as a distribution over words.

    Returns
    -------
    Signals
    """
    family, named = topic.family, topic.named
    partitions, mean = family.partitions, family.mean_document
    n = partitions.n_rows
    others = pick_documents(partitions, np.arange(0, n, n // MAX_COMPARED + 1))
    own = pick_documents(partitions, np.sort(named.indices[:MAX_COMPARED]))
    leads = (topic.ranking.view(own).mean(axis=0) - topic.ranking.view(others).mean(axis=0)) * topic.ranking.weights
    distances = np.sum((named.places - mean.places) ** 2, axis=1)
    typical = pick_documents(partitions, np.sort(topic.best_documents(N_TYPICAL).indices))
    ranked = top_rows(topic.typicality, NO_RANK)
    place = np.flatnonzero(np.isin(ranked[topic.typicality[ranked] > 0], columns))
    return Signals(
        fine_distance=float(distances[0]),
        broad_distance=float(distances[1]),
        fine_lead=float(leads[2]),
        broad_lead=float(leads[3]),
        share=share,
        separation=float(np.log(np.clip(separation, MIN_SEPARATION, MAX_SEPARATION))),
        density=float(named.tfidf[columns].max()),
        holding=_share_holding(typical.counts, columns),
        rank=float(np.log1p(place[0] if len(place) else NO_RANK)),
        agreement=float(np.sqrt(np.maximum(moments, 0) * topic.center).sum()),
        frequency=float(np.log(max(named.size, 1) / n)),
        n_documents=float(np.log(max(named.size, 1))),
    )


def _share_holding(counts: sp.csr_array, columns: Array) -> float:
    """Return the share of documents that contain one of some words."""
    return float(np.mean(np.asarray(counts[:, columns].sum(axis=1)) > 0))


def probability_of(signals: Signals) -> float:
    """Return the probability that a topic is about the word asked for."""
    means, deviations, coefficients = np.array(COEFFICIENTS).T
    return float(expit((np.array(signals) - means) / deviations @ coefficients + INTERCEPT))

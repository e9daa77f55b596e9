"""Draw documents of an LDA model with known truth. The defaults are the parameters of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState, make_generator


@dataclass(frozen=True, slots=True)
class TopicData:
    """Documents of an LDA model.

    Attributes
    ----------
    counts : sparse array of shape (n, d)
        The word counts of each document.
    topics : array of shape (k, d)
        The word probabilities of each topic.
    alpha : array of shape (k,)
        The Dirichlet parameters.
    shares : array of shape (n, k)
        The share of each topic in each document.
    vocabulary : list of str
        The d words.
    """

    counts: sp.csr_array[Any]
    topics: Array
    alpha: Array
    shares: Array
    vocabulary: list[str]

    def labelled_word(self, topic: int) -> int:
        """Find the frequent word with the largest ratio of its probability in a topic to that in any other topic."""
        others = np.delete(self.topics, topic, axis=0).max(axis=0)
        frequent = self.topics[topic] >= np.quantile(self.topics[topic], 0.9)
        return int(np.argmax(np.where(frequent, self.topics[topic] / (others + 1e-12), 0)))

    def oracle(self) -> Array:
        """Estimate the topics from the true shares, by least squares.

        Notes
        -----
        Documents are weighted by their length, since the variance of a count is proportional to it.
        """
        root = np.sqrt(np.asarray(self.counts.sum(axis=1)))[:, None]
        return np.asarray(np.linalg.lstsq(self.shares * root, self.counts.toarray() / root, rcond=None)[0])


def make_topics(
    n_documents: int = 4000,
    n_words: int = 500,
    n_topics: int = 5,
    *,
    mean_length: float = 2000,
    alpha: float | ArrayLike = 0.2,
    concentration: float = 0.1,
    random_state: RandomState = None,
) -> TopicData:
    """Draw documents from an LDA model, with lengths from a Poisson distribution.

    Parameters
    ----------
    n_documents : int
        The number of documents n.
    n_words : int
        The size of the vocabulary d.
    n_topics : int
        The number of topics k.
    mean_length : float
        The mean number of words of a document.
    alpha : float or array of shape (k,)
        The Dirichlet parameter of every topic.
    concentration : float
        The parameter of the symmetric Dirichlet distribution of topics: smaller values make them differ more.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    TopicData

    Examples
    --------
    >>> data = make_topics(50, 30, 3, mean_length=40, random_state=0)
    >>> data.counts.shape, data.topics.shape
    ((50, 30), (3, 30))
    """
    rng = make_generator(random_state)
    prior = np.broadcast_to(np.asarray(alpha, dtype=float), (n_topics,)).copy()
    topics = rng.dirichlet(np.full(n_words, concentration), size=n_topics)
    shares = rng.dirichlet(prior, size=n_documents)
    lengths = rng.poisson(mean_length, size=n_documents)
    per_topic = rng.multinomial(lengths, shares)
    counts = np.zeros((n_documents, n_words), dtype=np.int64)
    for topic, n_drawn in zip(topics, per_topic.T, strict=True):
        counts += rng.multinomial(n_drawn, topic)
    return TopicData(sp.csr_array(counts), topics, prior, shares, [f"word{i}" for i in range(n_words)])

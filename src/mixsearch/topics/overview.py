"""What to look at first: the largest topics of an index, and a map of its documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from threadpoolctl import ThreadpoolController

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.errors import collect_warnings
from mixsearch.machine import map_parallel
from mixsearch.topics.fitted_corpus import FittedCorpus
from mixsearch.topics.index import TopicIndex
from mixsearch.topics.topic import Topic

# Topics that share more than this fraction of the members of the smaller one are listed as one.
_MIN_SHARED = 0.5
# Words that describe each topic.
_N_WORDS = 8
# Of a larger corpus, as many documents at even steps.
MAX_POINTS = 100_000
# Documents at even steps that t-SNE lays out. Each other one is near the landmark that it is most like, at this part
# of the distance to the nearest landmarks: points between several of them are not nearer to their like (by less than
# .005).
MAX_LANDMARKS, N_NEAR, SPREAD = 1_000, 4, 0.6


@dataclass(frozen=True)
class ListedTopic:
    """A topic of an overview.

    Parameters
    ----------
    hints : tuple of str
        The words that find it, the most distinctive one first.
    words : tuple of str
        Words that distinguish its documents.
    n_members : float
        About how many documents belong to it.
    match : str or None
        How well left-out documents come back: strong, fair or weak; None if they are too few for a check.
    """

    hints: tuple[str, ...]
    words: tuple[str, ...]
    n_members: float
    match: str | None
    topic: Topic = field(repr=False, compare=False)


def list_topics(index: TopicIndex, n: int = 30) -> list[ListedTopic]:
    """List the largest topics of an index.

    Parameters
    ----------
    index : TopicIndex
        The index.
    n : int, default=30
        How many words to start with: at most as many topics are listed.

    Returns
    -------
    list of ListedTopic
        The largest first. Words whose topics share most of their members are listed together.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.index import open_index
    >>> from mixsearch.topics.overview import list_topics
    >>> built = build_index(make_reviews(500, random_state=0).text, mkdtemp() + "/reviews.index")
    >>> topics = list_topics(open_index(built.path), 6)
    >>> topics[0].n_members >= topics[-1].n_members
    True
    """
    words = [starter.word for starter in index.starters(n)]
    with collect_warnings():  # what is listed has a check of its own
        topics = map_parallel(lambda word: index.search([word]), words)
    # The same topic from several words: the first one stands for all.
    listed: list[ListedTopic] = []
    for word, topic in zip(words, topics, strict=True):
        if not topic.n_members:
            continue
        same = [i for i, other in enumerate(listed) if _is_same(topic, other.topic)]
        if same:
            listed[same[0]] = replace(listed[same[0]], hints=(*listed[same[0]].hints, word))
        else:
            described = tuple(each.word for each in topic.words(_N_WORDS))
            listed.append(ListedTopic((word,), described, topic.n_members, topic.check.match, topic))
    return sorted(listed, key=lambda each: -each.n_members)


def _is_same(one: Topic, other: Topic) -> bool:
    """Return whether the smaller one of two topics has most of its members in common with the other."""
    a, b = one.membership(), other.membership()
    return bool(np.minimum(a, b).sum() > _MIN_SHARED * min(a.sum(), b.sum()))


def place_in_plane(corpus: FittedCorpus) -> tuple[Array, Array]:
    """Place documents in the unit square, alike ones near each other: return which, (m,), and their points, (m, 2)."""
    documents = list_mapped(corpus.n_documents)
    return documents, embed_in_plane(corpus.take_coordinates(documents)[0])


def list_mapped(n_documents: int) -> Array:
    """Return the documents that are on the map."""
    return np.arange(0, n_documents, -(-n_documents // MAX_POINTS))


def embed_in_plane(units: Array) -> Array:
    """Embed unit vectors, (n, k), in the plane, (n, 2): t-SNE of landmarks, and the others beside them.

    References
    ----------
    L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE", Journal of Machine Learning Research 9, 2008.
    """
    from scipy.spatial import cKDTree

    n = len(units)
    landmarks = units[np.linspace(0, n - 1, min(n, MAX_LANDMARKS)).astype(np.intp)]
    points = _run_tsne(landmarks) if len(landmarks) > 4 else np.eye(len(landmarks), 2)
    low, high = points.min(axis=0), points.max(axis=0)
    points = 0.5 + 0.96 * (points - (low + high) / 2) / np.maximum(high - low, 1e-12)  # as the canvas is wide and high
    if len(landmarks) == n:
        return np.asarray(points)
    nearest = np.concatenate([(units[part] @ landmarks.T).argmax(axis=1) for part in row_slices(n)])
    gaps = np.asarray(cKDTree(points).query(points, k=N_NEAR + 1)[0]).mean(axis=1)  # each is at distance 0 to itself
    steps = SPREAD * gaps[nearest, None] * np.random.default_rng(0).standard_normal((n, 2))
    return np.asarray(np.clip(points[nearest] + steps, 0, 1))


def _run_tsne(units: Array) -> Array:
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]  # takes longer to import than a search

    vectors = units if units.shape[1] > 1 else np.hstack([units, np.zeros_like(units)])
    perplexity = min(30, (len(units) - 1) / 3)
    with ThreadpoolController().limit(limits=1):  # of so few points, threads wait for each other
        fitted = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=0).fit(vectors)
    return np.asarray(fitted.embedding_, dtype=np.float64)

"""Compare the estimated number of documents about a topic with the documents of a label, or planted ones.

For each word of the corpora's questions that points to its label (two fifths of the documents that hold it have it),
the number of documents that `document_count` tells is compared with those that have the label. ratio: the median of
told over labelled; within 2: how often the two differ by less than a factor of two; covered: how often the interval
holds the truth. holding and weight: the ratio if the documents that hold the word were told, or the weight times all.
confidence: the median of that of the topics.

In the second table documents are drawn by LDA, and those of which at least a quarter is the topic are counted. A word
points to its topic by the same rule; others are shown apart, since the topic found is rarely the one that was planted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
from corpora import available, load_corpus
from measuring import print_table
from verdict import N_TOPICS, OPINIONS

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_topics
from mixsearch.topics.local_em import ABOUT_SHARE

MIN_PURITY = 0.4
COLUMNS = ("words", "ratio", "within 2", "covered", "holding", "weight", "confidence")
# Of planted topics: how many, words per document, and each topic's weight over that of the one before.
N_PLANTED, LENGTHS, RATIOS = (5, 10, 20), (30, 100, 300), (1.0, 0.8)
N_DOCUMENTS, N_WORDS, N_SEEDS = 2000, 1000, 6


def compare_sizes(name: str) -> Array:
    """Return a row for each word: the label's documents, and number, low, high, containing, weight and confidence."""
    corpus = load_corpus(name)
    search = TopicSearch(N_TOPICS).fit(corpus.counts, vocabulary=corpus.words)
    rows = []
    for label, word in corpus.questions:
        is_about = corpus.has_label(label)
        column = corpus.words.index(word)
        holds = corpus.counts[:, [column]].toarray().ravel() > 0
        if is_about[holds].mean() >= MIN_PURITY:
            rows.append(_compare(search, column, is_about))
    return np.array(rows, dtype=float)


def compare_planted(length: int, *, n_seeds: int) -> Iterator[tuple[bool, tuple[float, ...]]]:
    """Yield whether a word points to its planted topic, and the numbers of `compare_sizes`, for one topic a corpus."""
    for run_index, (k, ratio, _) in enumerate(product(N_PLANTED, RATIOS, range(n_seeds))):
        seed = 1000 * length + run_index  # of this corpus only, so that all of them are independent
        weights = ratio ** np.arange(k)
        alpha = weights / weights.sum()
        data = make_topics(N_DOCUMENTS, N_WORDS, k, mean_length=length, alpha=alpha, random_state=seed)
        topic = int(np.random.default_rng(seed).integers(k))
        column = data.labelled_word(topic)
        is_about = data.shares[:, topic] >= ABOUT_SHARE
        holds = data.counts[:, [column]].toarray().ravel() > 0
        points = holds.any() and is_about[holds].mean() >= MIN_PURITY
        yield bool(points), _compare(TopicSearch(k).fit(data.counts), column, is_about)


def _compare(search: TopicSearch, column: int, is_about: Array) -> tuple[float, ...]:
    topic = search.search(words=[column], n_components="enough")
    count = topic.document_count
    by_weight = topic.weight * len(is_about)
    return (is_about.sum(), count.n, count.low, count.high, count.n_holding or 0, by_weight, topic.confidence)


def _cells(found: Array) -> tuple[str, ...]:
    true, n, low, high, holding, weight, confidence = found.T
    covered = np.mean((low <= true) & (true <= high))
    true = np.maximum(true, 0.5)
    ratio = np.maximum(n, 0.5) / true
    return (
        f"{len(true)}",
        f"{np.median(ratio):.2f}",
        f"{np.mean(np.abs(np.log(ratio)) < np.log(2)):.2f}",
        f"{covered:.2f}",
        f"{np.median(holding / true):.2f}",
        f"{np.median(weight / true):.2f}",
        f"{np.median(confidence):.2f}",
    )


def run(*, quick: bool = False) -> None:
    """Compare on every corpus that is here, and on planted documents."""
    names = ["bbc"] if quick else [name for name in available() if name not in OPINIONS]
    print_table(
        "Documents about a topic, told over labelled",
        ("corpus", *COLUMNS),
        [(name, *_cells(compare_sizes(name))) for name in names],
    )
    n_seeds = 1 if quick else N_SEEDS
    planted = [(length, *each) for length in LENGTHS for each in compare_planted(length, n_seeds=n_seeds)]
    parts = {
        f"{n} words a document": [found for length, points, found in planted if points and length == n] for n in LENGTHS
    }
    parts["all lengths"] = [found for _, points, found in planted if points]
    parts["words that do not point to it"] = [found for _, points, found in planted if not points]
    parts["all words"] = [found for _, _, found in planted]
    print_table(
        "Documents about a topic, told over planted",
        ("documents", *COLUMNS),
        [(name, *_cells(np.array(found))) for name, found in parts.items() if found],
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run()

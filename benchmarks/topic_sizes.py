"""How many documents are about a topic: the number and its interval beside the documents of a label.

For each word of the corpora's questions that points to its label (two fifths of the documents that hold it have it),
the number of documents that `document_count` tells is compared with those that have the label. ratio: the median of
told over labelled; within 2: how often the two differ by less than a factor of two; covered: how often the interval
holds the truth. holding and weight: the ratio if the documents that hold the word were told, or the weight times all.
"""

from __future__ import annotations

import warnings

import numpy as np
from corpora import available, load_corpus
from measuring import print_table
from verdict import N_TOPICS, OPINIONS

from mixsearch import TopicSearch
from mixsearch._typing import Array

MIN_PURITY = 0.4


def compare_sizes(name: str) -> Array:
    """Return the label's documents, and what is told: number, low, high, holding and by weight, for each word."""
    corpus = load_corpus(name)
    search = TopicSearch(N_TOPICS).fit(corpus.counts, vocabulary=corpus.words)
    rows = []
    for label, word in corpus.questions:
        is_about = corpus.has_label(label)
        holds = corpus.counts[:, [corpus.words.index(word)]].toarray().ravel() > 0
        if is_about[holds].mean() >= MIN_PURITY:
            topic = search.search(words=word, n_components="enough")
            count = topic.document_count
            rows.append((is_about.sum(), count.n, count.low, count.high, holds.sum(), topic.weight * len(holds)))
    return np.array(rows, dtype=float)


def run(*, quick: bool = False) -> None:
    """Compare on every corpus that is here."""
    names = ["bbc"] if quick else [name for name in available() if name not in OPINIONS]
    rows = []
    for name, found in [(name, compare_sizes(name)) for name in names]:
        true, n, low, high, holding, weight = found.T
        ratio = np.maximum(n, 0.5) / true
        rows.append(
            (
                name,
                f"{len(true)}",
                f"{np.median(ratio):.2f}",
                f"{np.mean(np.abs(np.log(ratio)) < np.log(2)):.2f}",
                f"{np.mean((low <= true) & (true <= high)):.2f}",
                f"{np.median(holding / true):.2f}",
                f"{np.median(weight / true):.2f}",
            )
        )
    columns = ("corpus", "words", "ratio", "within 2", "covered", "holding", "weight")
    print_table("Documents about a topic, told over labelled", columns, rows)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run()

"""Limits of what a search reads, halved one at a time: planted topics of a large corpus, and labelled corpora.

- rare, medium, frequent: mean total variation between the topic found for a word and the planted one that has most of
  it, for words in 50 to 500, to 5,000 and to 60,000 documents.
- AP: mean average precision of ranking the documents of a label from one word, over all corpora there are.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from choices import precision
from corpora import available, load_corpus
from measuring import print_table
from scale import MEAN_LENGTH, N_DOCUMENTS, N_TOPICS, N_WORDS
from workloads import EVERY_WORD, draw_corpus, draw_topics, write_texts

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.index import IndexOptions, TopicIndex, build_index, open_index, topic_index
from mixsearch.topics import evidence as _evidence
from mixsearch.topics import local_em as _local_em
from mixsearch.topics import seeds as _seeds

# The numbers of documents that contain a rare, a medium and a frequent word, at NY Times size.
FREQUENCIES = (50, 500, 5000, 60_000)
# Every so many topics one is asked for.
STEP = 2
N_COMPONENTS = 50

LIMITS: dict[str, Sequence[tuple[Any, str, int]]] = {
    "default": [],
    "4,000 documents with the word": [(topic_index, "MAX_DOCUMENTS", 4000)],
    "1,000 documents with the word": [(topic_index, "MAX_DOCUMENTS", 1000)],
    "12 neighbours": [(_local_em, "N_NEIGHBOURS", 12)],
    "4 neighbours": [(_local_em, "N_NEIGHBOURS", 4)],
    "half as many postings of words with evidence": [(_evidence, "MAX_POSTINGS", _evidence.MAX_POSTINGS // 2)],
    "half as many words in local EM": [(_local_em, "MAX_NEAR_WORDS", _local_em.MAX_NEAR_WORDS // 2)],
    "half as many documents that stand for the word in local EM": [(_seeds, "MAX_SEEDS", _seeds.MAX_SEEDS // 2)],
}


def run(*, quick: bool = False) -> None:
    smaller = 20 if quick else 1
    size = (N_DOCUMENTS // smaller, N_WORDS // smaller)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = draw_corpus(*size, n_topics=N_TOPICS, mean_length=MEAN_LENGTH)
        source, options = write_texts(Path(folder) / "texts.parquet", counts), IndexOptions(n_components=N_TOPICS)
        index = open_index(build_index(source, Path(folder) / "x.index", options, EVERY_WORD).path)
        topics = _planted_topics(index, size[1])
        groups = [_choose_words(index, topics, low / smaller, high / smaller) for low, high in pairwise(FREQUENCIES)]
        corpora = [load_corpus(name) for name in available()[: 1 if quick else None]]
        fits = [TopicSearch(N_COMPONENTS).fit(each.counts, vocabulary=each.words) for each in corpora]
        rows = []
        for name, changes in LIMITS.items():
            with ExitStack() as stack:
                for module, constant, value in changes:
                    stack.enter_context(patch.object(module, constant, value))
                errors = [f"{_total_variation(index, topics, words):.4f}" for words in groups]
                how = {"n_components": "enough", "max_documents": topic_index.MAX_DOCUMENTS}
                scores = [precision(fit, each, **how) for fit, each in zip(fits, corpora, strict=True)]
            rows.append((name, *errors, f"{np.mean(scores):.4f}" if scores else ""))
    print_table(
        f"Topics of {size[0]:,} documents and {size[1]:,} words; labelled: {', '.join(each.name for each in corpora)}",
        ("limit", "rare", "medium", "frequent", "AP"),
        rows,
    )


def _planted_topics(index: TopicIndex, n_words: int) -> Array:
    """Return the planted topics over the words of the index, (n_topics, d)."""
    columns = [int(word.removeprefix("word")) - 1 for word in index.vocabulary]
    topics = draw_topics(n_words, N_TOPICS, np.random.default_rng(0))[:, columns]
    return np.asarray(topics / topics.sum(axis=1, keepdims=True))


def _choose_words(index: TopicIndex, topics: Array, low: float, high: float) -> list[tuple[int, int]]:
    """Return topics, each with the word between these frequencies of which it has the largest part."""
    frequency = index.topics._family.document_frequency
    parts = np.where((frequency > low) & (frequency < high), topics / topics.sum(axis=0), 0)
    return [(i, int(np.argmax(parts[i]))) for i in range(0, len(topics), STEP)]


def _total_variation(index: TopicIndex, topics: Array, words: list[tuple[int, int]]) -> float:
    found = ((i, index.search(index.vocabulary[column]).probabilities) for i, column in words)
    return float(np.mean([np.abs(each / each.sum() - topics[i]).sum() / 2 for i, each in found]))


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)

"""What each question to the server costs a search process: CPU time, so that other work on the machine hardly counts.

A new word is one that the process has not searched for, in an index of which it has read all that the word needs. The
other questions are about a word that it has found.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from measuring import print_table, seconds
from mixsearch.index import TopicIndex, open_index
from web_demo import demo_index

from mixsearch.machine import on_one_core
from mixsearch.web.indexes import ServedIndex
from mixsearch.web.routes.topics import encode_document, encode_documents, encode_topic
from mixsearch.web.schemas import DocumentsRequest, TopicRequest

N_ASKED, ROUNDS = 60, 5
ROW = 50


def run(*, quick: bool = False) -> None:
    with demo_index() as path, on_one_core(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = open_index(path)
        words = _draw_words(index, 5 if quick else N_ASKED)
        rounds = [[_ask(ServedIndex("demo", index), word) for word in words] for _ in range(ROUNDS + 1)]
    best = {kind: [min(each[i][kind] for each in rounds[1:]) for i in range(len(words))] for kind in rounds[0][0]}
    rows = [
        (kind, seconds(float(np.mean(times))), seconds(float(np.median(times))), seconds(max(times)))
        for kind, times in best.items()
    ]
    title = f"CPU time of a question, {index.n_documents:,} documents, {len(words)} words, least of {ROUNDS} rounds"
    print_table(title, ("question", "mean", "median", "largest"), rows)


def _draw_words(index: TopicIndex, n: int) -> list[str]:
    """Draw words with chances in proportion to their documents, as in web_load."""
    counts = index.fitted.document_frequencies
    columns = np.random.default_rng(0).choice(len(counts), n, replace=False, p=counts / counts.sum())
    return [index.vocabulary[column] for column in columns]


def _ask(served: ServedIndex, word: str) -> dict[str, float]:
    """Return the CPU time of each question about a word, in seconds."""
    request = TopicRequest(q=word)
    questions: dict[str, Callable[[], bytes]] = {
        "a new word": lambda: encode_topic(served, request),
        "the same word": lambda: encode_topic(served, request),
        "its error bars": lambda: encode_topic(served, request.model_copy(update={"errors": True})),
        "further documents": lambda: encode_documents(served, DocumentsRequest(q=word, skip_documents=10)),
        "one document": lambda: encode_document(served, ROW),
    }
    spent = {}
    for kind, answer in questions.items():
        start = time.process_time()
        answer()
        spent[kind] = time.process_time() - start
    return spent

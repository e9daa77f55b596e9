"""Measure how much marked documents add to a word: the ranking of documents that were not looked at.

A person searches for a word, looks at the first 20 documents, and marks up to three that have the label meant and up to
three that do not. All rankings are judged by their average precision on the documents that were not looked at. Clear
words point to the label meant. Ambiguous ones are in documents of two labels, and the rarer one is meant.

The constants in use, `AGAINST` of mixsearch.topics.ranking and those of mixsearch.topics.marked, were chosen on bbc
and reuters (`--choose`); newsgroups and dbpedia were not looked at for that.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Sequence

import numpy as np
from corpora import Corpus, available, load_corpus
from measuring import print_table
from verdict import place_scores
from word_rankings import Centroid

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.metrics import average_precision
from mixsearch.topics import marked as _marked
from mixsearch.topics import ranking as _ranking

CHOSEN_ON, HELD_OUT = ("bbc", "reuters"), ("newsgroups", "dbpedia")
N_TOPICS = 100
N_LOOKED_AT, N_MARKED = 20, 3
# Weights of the documents marked in the baseline, as usual for it (Manning, Raghavan and Schütze 2008, section 9.1).
ROCCHIO_YES, ROCCHIO_NO = 0.75, 0.25
# Ambiguous words: the fewest documents, the smallest share of the rarer label, and the largest one of all others.
N_AMBIGUOUS, MIN_DOCUMENTS, MIN_SHARE, MAX_OTHERS = 25, 40, 0.25, 0.25
AGAINST = (0.5, 1.0, 2.0)
# How many documents words count as, in the signal space and in the views of words.
N_WORDS = ((3, 30), (10, 10), (10, 30), (10, 100), (30, 100))
WAYS = ("word alone", "word, yes", "word, yes, no", "yes, no", "Rocchio: word, yes, no", "Rocchio: word alone")


class Marking:
    """A fitted corpus, and how its documents are ranked before and after marking."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.search = TopicSearch(N_TOPICS).fit(corpus.counts, vocabulary=corpus.words)
        self.columns = {word: column for column, word in enumerate(corpus.words)}
        self.centroid = Centroid(corpus)

    def compare(self, label: str, word: str) -> list[float]:
        """Return the average precision of each method on the documents that were not looked at."""
        n = self.corpus.counts.shape[0]
        is_about = self.corpus.has_label(label)
        plain = self.search.search(words=word, n_components="enough")
        looked_at = np.array([row for row, _ in plain.documents(N_LOOKED_AT)])
        yes, no = (looked_at[is_about[looked_at] == wanted][:N_MARKED] for wanted in (True, False))
        unseen = np.setdiff1d(np.arange(n)[self.corpus.ranked], looked_at)
        marks = {"documents": yes if len(yes) else None, "not_documents": no if len(no) else None}
        ways = [{"words": word}, {"words": word, **marks, "not_documents": None}, {"words": word, **marks}]
        ways.append(marks if len(yes) else {"words": word, **marks})
        found = [self.search.search(**way, n_components="enough") for way in ways]
        scores = [place_scores(topic.documents(n), n) for topic in found]
        scores += [self._rocchio(word, yes, no), self.centroid.rank(self.columns[word])]
        return [average_precision(is_about[unseen], each[unseen]) for each in scores]

    def _rocchio(self, word: str, yes: Array, no: Array) -> Array:
        """Rank by tf-idf: the centroid of the word's documents, plus those marked yes, less those marked no."""
        tfidf, mean = self.centroid.tfidf, self.centroid.mean
        direction = self.centroid.direction(self.columns[word])
        direction = direction / np.linalg.norm(direction)
        for rows, weight in ((yes, ROCCHIO_YES), (no, -ROCCHIO_NO)):
            if len(rows):
                marked = np.asarray(tfidf[rows].mean(axis=0)).ravel() - mean
                direction = direction + weight * marked / np.linalg.norm(marked)
        return np.asarray(tfidf @ direction)


def find_ambiguous(corpus: Corpus) -> list[tuple[str, str]]:
    """Return words at random that two labels share, each with the rarer of them."""
    labels = sorted({label for each in corpus.labels for label in str(each).split()})
    is_of = np.column_stack([corpus.has_label(label) for label in labels]).astype(float)
    holds = (corpus.counts > 0).astype(float)
    shares = np.asarray(holds.T @ is_of) / np.maximum(np.asarray(holds.sum(axis=0)).ravel(), 1)[:, None]
    second = np.argsort(-shares, axis=1)[:, 1]
    is_shared = np.take_along_axis(shares, second[:, None], axis=1)[:, 0] >= MIN_SHARE
    is_frequent = np.asarray(holds.sum(axis=0)).ravel() >= MIN_DOCUMENTS
    candidates = np.flatnonzero(is_shared & is_frequent & (np.sort(shares, axis=1)[:, :-2].sum(axis=1) < MAX_OTHERS))
    chosen = np.random.default_rng(0).permutation(candidates)[:N_AMBIGUOUS]
    return [(labels[second[column]], corpus.words[column]) for column in chosen]


def judge(marking: Marking, questions: Sequence[tuple[str, str]]) -> Array:
    """Return the mean average precision of every way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([marking.compare(label, word) for label, word in questions], axis=0)


def choose(names: Sequence[str]) -> None:
    """Print the mean average precision of all ways for every pair of constants."""
    markings = [Marking(load_corpus(name)) for name in names]
    for kind, find in KINDS.items():
        rows = []
        for against, n_words in itertools.product(AGAINST, N_WORDS):
            _ranking.AGAINST, (_marked.WORDS_AS_DOCUMENTS, _marked.WORDS_IN_VIEWS_OF_WORDS) = against, n_words
            precisions = np.mean([judge(each, find(each.corpus)) for each in markings], axis=0)
            rows.append([f"{against}", f"{n_words[0]}, {n_words[1]}", *(f"{x:.3f}" for x in precisions)])
        print_table(f"{kind} words of {', '.join(names)}", ["against", "words", *WAYS], rows)


KINDS = {"Clear": lambda corpus: corpus.questions, "Ambiguous": find_ambiguous}


def run(*, quick: bool = False) -> None:
    known = available()
    rows = []
    for name in [name for name in (*CHOSEN_ON, *HELD_OUT) if name in known][: 1 if quick else None]:
        marking = Marking(load_corpus(name))
        for kind, find in KINDS.items():
            precisions = judge(marking, find(marking.corpus)[: 3 if quick else None])
            rows.append([name, kind.lower(), *(f"{x:.3f}" for x in precisions)])
    print_table("Mean average precision on documents that were not looked at", ["corpus", "words", *WAYS], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choose", action="store_true", help="try other constants on the corpora of the choice")
    if parser.parse_args().choose:
        choose([name for name in CHOSEN_ON if name in available()])
    else:
        run()

"""Fit the regression behind `confidence` of topics, and test it on labelled corpora.

A topic is right if the word points to a label, and the topic ranks that label's documents at least half as well as the
best of three rankings (its own, the centroid less mean, the word's count). A word points to a label if that label's
share of the documents that hold it exceeds its share of all by a quarter of what is possible. Words: those of the
corpora's questions, 120 at random, and 60 of the 600 most frequent; and 100 function words, on counts that keep them.

Each corpus is judged by a regression that was fitted to the others. The last table says whether the one in use, in
mixsearch.topics.confidence, still agrees with a fit to all.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from corpora import Corpus, available, load_corpus
from measuring import print_table
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from word_rankings import Centroid

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.metrics import average_precision
from mixsearch.topics.confidence import (
    COEFFICIENTS,
    DEVIATIONS,
    INTERCEPT,
    MEANS,
    Signals,
    collect_signals,
    pick_named,
)

N_TOPICS = 100
# Corpora whose labels are opinions: a word of a subject points to none of them.
OPINIONS = ("imdb",)
N_RANDOM, N_COMMON, N_MOST_FREQUENT, N_FUNCTION_WORDS = 120, 60, 600, 100
MIN_DOCUMENTS = 20
# Labels of fewer documents are not considered.
MIN_LABELLED = 30
MIN_PURITY, MIN_OF_BEST = 0.25, 0.5
# Strong: corpora differ in how finely they are labelled, and the regression is for others.
INVERSE_PENALTY = 0.03
CLEAR = 0.8


class Judged(NamedTuple):
    """A word, its signals, and whether its topic is right."""

    word: str
    kind: str  # "question", "random", "common" or "function"
    signals: Signals
    is_right: bool


def judge_words(corpus: Corpus, words: dict[str, str]) -> list[Judged]:
    """Search for words and judge the topics; `words` maps each to its kind."""
    search = TopicSearch(N_TOPICS).fit(corpus.counts, vocabulary=corpus.words)
    columns = {word: column for column, word in enumerate(corpus.words)}
    centroid, known = Centroid(corpus), corpus.ranked
    names, labelled = label_matrix(corpus)
    wanted = {word: label for label, word in corpus.questions}
    judged = []
    for word, kind in words.items():
        topic = search.search(words=word, n_components="enough")
        count = corpus.counts[:, [columns[word]]].toarray().ravel()
        label = names.index(wanted[word]) if wanted.get(word) in names else None
        is_about, purity = pointed_label(labelled[known], count[known] > 0, label)
        scores = [place_scores(topic.documents(len(count)), len(count)), centroid.rank(columns[word]), count]
        own, *others = (average_precision(is_about, each[known]) for each in scores)
        is_right = purity >= MIN_PURITY and own >= MIN_OF_BEST * max(own, *others)
        signals = collect_signals(topic._refined, pick_named(topic._refined), topic.share)
        judged.append(Judged(word, kind, signals, is_right))
    return judged


def label_matrix(corpus: Corpus) -> tuple[list[str], Array]:
    """Return the labels of enough documents, and which documents have each, (n, q)."""
    names = sorted({label for labels in np.unique(corpus.labels[corpus.ranked]) for label in str(labels).split()})
    each = {name: corpus.has_label(name) for name in names}
    kept = [name for name in names if each[name].sum() >= MIN_LABELLED]
    return kept, np.column_stack([each[name] for name in kept])


def pointed_label(labelled: Array, holds: Array, label: int | None) -> tuple[Array, float]:
    """Return the documents of a label, or of the one that a word points to most, and how purely it does."""
    overall, inside = labelled.mean(axis=0), labelled[holds].mean(axis=0)
    if label is None:
        error = np.sqrt(overall * (1 - overall) / max(holds.sum(), 1))
        label = int(np.argmax((inside - overall) / np.maximum(error, 1e-9)))
    return labelled[:, label], float((inside[label] - overall[label]) / (1 - overall[label]))


def place_scores(documents: list[tuple[int, float]], n: int) -> Array:
    """Return falling scores for documents in their order, (n,); those that are not listed come last."""
    scores = np.full(n, -float(n))
    scores[[row for row, _ in documents]] = -np.arange(len(documents), dtype=float)
    return scores


def choose_words(corpus: Corpus) -> dict[str, str]:
    """Return the words to ask a corpus for, with their kinds."""
    rng = np.random.default_rng(0)
    frequency = np.bincount(corpus.counts.indices, minlength=len(corpus.words))
    often = np.flatnonzero(frequency >= MIN_DOCUMENTS)
    common = np.argsort(-frequency, kind="stable")[:N_MOST_FREQUENT]
    words = {word: "question" for _, word in corpus.questions}
    for kind, columns, n in (("random", often, N_RANDOM), ("common", common, N_COMMON)):
        for column in rng.choice(columns, min(n, len(columns)), replace=False):
            words.setdefault(corpus.words[column], kind)
    return words


def choose_function_words(corpus: Corpus) -> dict[str, str]:
    """Return function words of a corpus that was counted with them, the most frequent ones."""
    frequency = np.bincount(corpus.counts.indices, minlength=len(corpus.words))
    held = [(int(frequency[i]), word) for i, word in enumerate(corpus.words) if word in ENGLISH_STOP_WORDS]
    enough = [word for n, word in sorted(held, reverse=True) if n >= MIN_DOCUMENTS]
    return dict.fromkeys(enough[:N_FUNCTION_WORDS], "function")


class Regression(NamedTuple):
    """A logistic regression on scaled signals."""

    mean: Array
    deviation: Array
    coefficients: Array
    intercept: float

    @classmethod
    def fit(cls, judged: Sequence[Sequence[Judged]]) -> Regression:
        """Fit to the words of several corpora, each with the same weight."""
        X, y = _arrays([each for corpus in judged for each in corpus])
        weights = np.concatenate([np.full(len(corpus), 1 / len(corpus)) for corpus in judged])
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        model = LogisticRegression(C=INVERSE_PENALTY)
        model.fit((X - mean) / deviation, y, sample_weight=weights * len(y) / len(judged))
        return cls(mean, deviation, model.coef_[0], float(model.intercept_[0]))

    def predict(self, judged: Sequence[Judged]) -> Array:
        """Return the probability that each topic is right."""
        X, _ = _arrays(judged)
        return np.asarray(1 / (1 + np.exp(-((X - self.mean) / self.deviation @ self.coefficients + self.intercept))))


def compare_with_used(regression: Regression, judged: list[Judged], functions: list[Judged]) -> tuple[str, ...]:
    """Return how far a regression is from the one in use, and how many function words each calls clear."""
    used = Regression(np.array(MEANS), np.array(DEVIATIONS), np.array(COEFFICIENTS), INTERCEPT)
    apart = np.abs(regression.predict(judged + functions) - used.predict(judged + functions))
    clear = [np.mean(each.predict(functions) >= CLEAR) for each in (regression, used)]
    return tuple(f"{each:.3f}" for each in (apart.mean(), apart.max())) + tuple(f"{each:.2f}" for each in clear)


def _arrays(judged: Sequence[Judged]) -> tuple[Array, Array]:
    return np.array([each.signals for each in judged]), np.array([each.is_right for each in judged])


def run(*, quick: bool = False) -> None:
    """Fit and test on every corpus that is here."""
    names = ["bbc", "dbpedia"] if quick else [name for name in available() if name not in OPINIONS]
    judged, functions = {}, {}
    for name in names:
        corpus = load_corpus(name)
        judged[name] = judge_words(corpus, choose_words(corpus))
        whole = load_corpus(name, function_words=True)
        functions[name] = judge_words(whole, choose_function_words(whole))
    said, right, rows = [], [], []
    for name in names:
        regression = Regression.fit([judged[other] + functions[other] for other in names if other != name])
        p, y = regression.predict(judged[name]), _arrays(judged[name])[1]
        said.append(p)
        right.append(y)
        common = np.array([each.kind == "common" for each in judged[name]])
        of_functions = regression.predict(functions[name])
        rows.append(
            (
                name,
                f"{len(y)}",
                f"{y.mean():.2f}",
                f"{p.mean():.2f}",
                f"{roc_auc_score(y, p):.2f}",
                f"{np.mean(p[common] >= CLEAR):.2f}",
                f"{len(of_functions)}",
                f"{np.mean(of_functions >= CLEAR):.2f}",
            )
        )
    print_table(
        "Each corpus by the regression of the others",
        ("corpus", "words", "right", "said", "AUC", "common called clear", "function words", "called clear"),
        rows,
    )
    p, y = np.concatenate(said), np.concatenate(right)
    tenth = np.minimum((10 * p).astype(int), 9)
    print_table(
        "Calibration over all corpora",
        ("said", "words", "mean said", "right"),
        [
            (
                f"{i / 10:.1f}-{(i + 1) / 10:.1f}",
                f"{np.sum(tenth == i)}",
                f"{p[tenth == i].mean():.2f}",
                f"{y[tenth == i].mean():.2f}",
            )
            for i in range(10)
            if np.any(tenth == i)
        ],
    )
    final = Regression.fit([judged[name] + functions[name] for name in names])
    print_table(
        f"Regression on all corpora, intercept {final.intercept:.3f}",
        ("signal", "mean", "deviation", "coefficient"),
        [
            (name, f"{mean:.4g}", f"{deviation:.4g}", f"{coefficient:.3f}")
            for name, mean, deviation, coefficient in zip(Signals._fields, *final[:3], strict=True)
        ],
    )
    print_table(
        "Beside the regression in use",
        ("corpus", "mean difference", "largest", "function words called clear", "by the one in use"),
        [(name, *compare_with_used(final, judged[name], functions[name])) for name in names],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two corpora")
    warnings.simplefilter("ignore")
    run(quick=parser.parse_args().quick)


if __name__ == "__main__":
    main()

"""How well documents are ranked from one word or a few documents, beside simple methods, on labelled corpora.

- AP: mean average precision of ranking all documents for a label, from one word, or from 3 or 5 documents of the label.
- first 10: the fraction of the first ten documents that have the label.
- strong: how often a strong match has the label in half of its first 50 documents, and how many of those that
  do are strong.
- within 2: how often the number of members is within a factor of two of the size of the label.
- months: error of the shape of shares over eight groups of known proportions, and that of counting the word.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp
from corpora import Corpus, available, load_corpus
from measuring import print_table
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.preprocessing import normalize

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.metrics import average_precision

N_DRAWS = 4  # of documents for each label
N_MONTHS = 8
SAMPLED = {"imdb": 15_000}  # documents of large corpora
FACTORIZED = ("bbc",)  # by non-negative matrix factorization, which is told the number of labels: others take minutes


class SimpleRankings:
    """Rankings of a few lines: of all documents, from a distribution over hint documents."""

    def __init__(self, counts: sp.csr_array) -> None:
        damped = counts.copy().astype(np.float64)
        damped.data = np.log2(1 + damped.data)
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        self.tfidf = sp.csr_array(normalize(damped * (np.log((1 + counts.shape[0]) / (1 + frequency)) + 1)))
        self.mean = np.asarray(self.tfidf.mean(axis=0)).ravel()
        self.latent = normalize(TruncatedSVD(100, random_state=0).fit_transform(self.tfidf))

    def rank(self, weights: Array) -> dict[str, Array]:
        weights = weights / weights.sum()
        return {
            "centroid less mean": self.tfidf @ (self.tfidf.T @ weights - self.mean),
            "LSI centroid": self.latent @ (self.latent.T @ weights),
            "contains the word": weights,
        }


def measure(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Return the measures of each method on a corpus."""
    rng = np.random.default_rng(7)
    rows = np.sort(rng.permutation(corpus.counts.shape[0])[: SAMPLED.get(corpus.name)])
    counts, is_ranked = sp.csr_array(corpus.counts[rows]), corpus.ranked[rows]
    truth = {label: corpus.has_label(label)[rows] for label, _ in corpus.questions}
    truth = {label: has_label for label, has_label in truth.items() if has_label.sum() >= 20}
    search, simple = TopicSearch().fit(counts, vocabulary=corpus.words), SimpleRankings(counts)
    factors = NMF(len(truth), random_state=0) if corpus.name in FACTORIZED else None
    loadings = None if factors is None else factors.fit_transform(simple.tfidf)
    columns = {word: i for i, word in enumerate(corpus.words)}
    values: dict[str, dict[str, list[float]]] = {}

    def add(method: str, measure: str, value: float) -> None:
        values.setdefault(method, {}).setdefault(measure, []).append(value)

    def judge(has_label: Array, rankings: dict[str, Array], hint: str) -> None:
        for method, scores in rankings.items():
            y, s = has_label[is_ranked], scores[is_ranked]
            add(method, f"AP {hint}", average_precision(y, s))
            if hint == "word":
                add(method, "first 10", float(y[np.argsort(-s, kind="stable")[:10]].mean()))

    months = draw_months(truth.values(), len(rows), rng)
    for label, word in corpus.questions:
        if label not in truth:
            continue
        topic = search.search(word)
        weights = simple.tfidf[:, [columns[word]]].toarray().ravel()
        rankings = {"mixsearch": topic.scores, **simple.rank(weights)}
        if loadings is not None:
            rankings["NMF, told the labels"] = loadings[:, factors.components_[:, columns[word]].argmax()]
        judge(truth[label], rankings, "word")
        is_right = truth[label][is_ranked][np.argsort(-topic.scores[is_ranked])[:50]].mean() >= 0.5
        is_strong = topic.check.match == "strong"
        if is_strong:
            add("mixsearch", "right if strong", is_right)
        if is_right:
            add("mixsearch", "strong if right", is_strong)
        add("mixsearch", "within 2", 0.5 <= topic.n_members / truth[label].sum() <= 2)
        for method, members in (("mixsearch", topic.membership()), ("contains the word", topic.contains)):
            add(method, "months", compare_shapes(members, truth[label], months))
    for n in (3, 5):
        for has_label in truth.values():
            for _ in range(N_DRAWS):
                documents = rng.choice(np.flatnonzero(has_label & is_ranked), n, replace=False)
                weights = np.bincount(documents, minlength=len(rows)).astype(np.float64)
                rankings = {"mixsearch": search.search(documents=documents).scores, **simple.rank(weights)}
                del rankings["contains the word"]
                judge(has_label, rankings, f"{n} documents")
    return {method: {name: float(np.mean(each)) for name, each in of.items()} for method, of in values.items()}


def draw_months(labels: Iterable[Array], n: int, rng: np.random.Generator) -> Array:
    """Assign documents to groups: those of each label in proportions of its own."""
    months = rng.integers(0, N_MONTHS, n)
    for has_label in labels:
        documents = np.flatnonzero(has_label)
        months[documents] = rng.choice(N_MONTHS, len(documents), p=rng.dirichlet(np.ones(N_MONTHS)))
    return months


def compare_shapes(members: Array, has_label: Array, months: Array) -> float:
    """Return the mean difference of two shares by month, each relative to its mean."""
    sizes = np.bincount(months, minlength=N_MONTHS)
    shares = [np.bincount(months, weights, N_MONTHS) / sizes for weights in (members, has_label)]
    estimate, exact = (share / max(share.mean(), 1e-12) for share in shares)
    return float(np.abs(estimate - exact).mean())


MEASURES = ("AP word", "first 10", "AP 3 documents", "AP 5 documents", "months", "within 2")
MEASURES += ("right if strong", "strong if right")


def run(*, quick: bool = False, names: Iterable[str] | None = None) -> None:
    """Print a table for each measure, with a column for each corpus."""
    warnings.simplefilter("ignore")
    chosen = list(names or (["bbc"] if quick else available()))
    measured = {name: measure(load_corpus(name)) for name in chosen}
    format_value: Callable[[float], str] = "{:.3f}".format
    for measure_name in MEASURES:
        listed = dict.fromkeys(method for of in measured.values() for method in of if measure_name in of[method])
        rows = []
        for method in listed:
            row = [measured[name].get(method, {}).get(measure_name, float("nan")) for name in chosen]
            rows.append((method, *map(format_value, row), format_value(float(np.nanmean(row)))))
        print_table(measure_name, ("method", *chosen, "mean"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", choices=available())
    run(names=parser.parse_args().corpora)

"""How well documents are ranked from one word or a few documents, beside simple methods, on labelled corpora.

    python benchmarks/quality.py                        # all measures, of all methods
    python benchmarks/quality.py --vary n_broad 15 30   # a number of Tuning: chosen without a corpus, reported on it

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
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.preprocessing import normalize

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.metrics import average_precision
from mixsearch.topics.tuning import TUNING

N_DRAWS = 4  # of documents for each label
N_MONTHS = 8
SAMPLED = {"imdb": 15_000}  # documents of large corpora
FACTORIZED = ("bbc",)  # by non-negative matrix factorization, which is told the number of labels: others take minutes


class SimpleRankings:
    """Rankings of a few lines: of all documents, from a distribution over hint documents.

    The contrast is that of words in units of their spread, of eigenvectors of pairs of different words, and of these
    scaled by their eigenvalues to the power of 1/4; it is smoothed over documents that stand for their neighbourhood.
    """

    def __init__(self, counts: sp.csr_array) -> None:
        damped = counts.copy().astype(np.float64)
        damped.data = np.log2(1 + damped.data)
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        self.tfidf = sp.csr_array(normalize(damped * (np.log((1 + counts.shape[0]) / (1 + frequency)) + 1)))
        self.mean = np.asarray(self.tfidf.mean(axis=0)).ravel()
        self.latent = normalize(TruncatedSVD(100, random_state=0).fit_transform(self.tfidf))
        square = np.asarray((self.tfidf * self.tfidf).mean(axis=0)).ravel()
        self.deviation = np.sqrt(np.maximum(square - self.mean**2, 1e-12))
        values, vectors = self._pairs(square * self.tfidf.shape[0])
        places = self.tfidf @ vectors
        self.places = [normalize(places), normalize(places * (values / values.max()) ** 0.25)]
        n = len(places)
        some = np.random.default_rng(0).permutation(n)[: min(1_000, n // 4)]
        nearness = np.maximum(self.places[1] @ self.places[1][some].T, 1e-6)
        nearness[nearness < -np.partition(-nearness, 4, axis=1)[:, 4:5]] = 0
        self.near = sp.csr_array(normalize(sp.csr_array(nearness), "l1"))

    def _pairs(self, squares: Array) -> tuple[Array, Array]:
        """Return the top eigenpairs of the sum over documents of xx', for pairs of different words."""
        d, X = len(squares), self.tfidf
        products = LinearOperator((d, d), lambda v: X.T @ (X @ v.ravel()) - squares * v.ravel(), dtype=np.float64)
        values, vectors = eigsh(products, k=min(100, d - 2), which="LA", tol=1e-2, v0=np.ones(d))
        return np.maximum(values, 1e-9), vectors

    def _contrast(self, weights: Array) -> Array:
        total = standardize(self.tfidf @ ((self.tfidf.T @ weights - self.mean) / self.deviation))
        for places in self.places:
            total += standardize(places @ (places.T @ weights - places.mean(axis=0)))
        smooth = self.near @ ((self.near.T @ total) / np.maximum(self.near.sum(axis=0), 1e-9))
        return standardize(total) + standardize(smooth) / 2

    def rank(self, weights: Array) -> dict[str, Array]:
        weights = weights / weights.sum()
        return {
            "contrast, smoothed": self._contrast(weights),
            "centroid less mean": self.tfidf @ (self.tfidf.T @ weights - self.mean),
            "LSI centroid": self.latent @ (self.latent.T @ weights),
            "contains the word": weights,
        }


def standardize(values: Array) -> Array:
    return np.asarray((values - values.mean()) / max(values.std(), 1e-12))


def measure(corpus: Corpus, *, simple: bool = True) -> dict[str, dict[str, float]]:
    """Return the measures of each method on a corpus, or of mixsearch alone."""
    rng = np.random.default_rng(7)
    rows = np.sort(rng.permutation(corpus.counts.shape[0])[: SAMPLED.get(corpus.name)])
    counts, is_ranked = sp.csr_array(corpus.counts[rows]), corpus.ranked[rows]
    truth = {label: corpus.has_label(label)[rows] for label, _ in corpus.questions}
    truth = {label: has_label for label, has_label in truth.items() if has_label.sum() >= 20}
    # The number of eigenvectors is read here: a default is what it was when the class was made.
    search = TopicSearch(TUNING.n_components).fit(counts, vocabulary=corpus.words)
    others = SimpleRankings(counts) if simple else None
    factors = NMF(len(truth), random_state=0) if others and corpus.name in FACTORIZED else None
    loadings = None if factors is None else factors.fit_transform(others.tfidf)
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
        rankings = {"mixsearch": topic.scores}
        if others:
            rankings |= others.rank(others.tfidf[:, [columns[word]]].toarray().ravel())
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
                rankings = {"mixsearch": search.search(documents=documents).scores}
                if others:
                    rankings |= others.rank(weights)
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


RANKINGS = ("AP word", "first 10", "AP 3 documents", "AP 5 documents")
MEASURES = (*RANKINGS, "months", "within 2")
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


def vary(field: str, values: Iterable[float], names: Iterable[str] | None = None) -> None:
    """Print AP for values of a number of Tuning, and for the value that is best on all corpora but one, on that one."""
    warnings.simplefilter("ignore")
    chosen, usual = list(names or available()), getattr(TUNING, field)
    tried = [type(usual)(value) for value in values]
    ap = np.zeros((len(tried), len(chosen), len(RANKINGS)))
    for i, value in enumerate(tried):
        object.__setattr__(TUNING, field, value)  # a frozen field that every module reads
        for j, name in enumerate(chosen):
            ap[i, j] = [measure(load_corpus(name), simple=False)["mixsearch"][each] for each in RANKINGS]
    object.__setattr__(TUNING, field, usual)
    mean = ap.mean(axis=2)
    held_out = (
        []
        if len(chosen) < 2
        else [mean[np.delete(mean, j, axis=1).mean(axis=1).argmax(), j] for j in range(len(chosen))]
    )
    rows = [(str(value), *map("{:.3f}".format, [*row, row.mean()])) for value, row in zip(tried, mean, strict=True)]
    if held_out:
        rows.append(("chosen on the others", *map("{:.3f}".format, [*held_out, np.mean(held_out)])))
    print_table(f"{field}: mean of {', '.join(RANKINGS)}", (field, *chosen, "mean"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", choices=available())
    parser.add_argument("--vary", nargs="+", metavar=("FIELD", "VALUE"))
    options = parser.parse_args()
    if options.vary:
        vary(options.vary[0], map(float, options.vary[1:]), options.corpora)
    else:
        run(names=options.corpora)

"""What stands behind the defaults: each choice beside the one not made, on the same data."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from measuring import N_THREADS, print_table
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, TopicSearch
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression
from mixsearch.estimators import Topic
from mixsearch.types import Array

# One word for each group, chosen before any result was seen.
SEED_WORDS = {
    "20news_bydate": {
        "alt.atheism": "atheism",
        "comp.graphics": "graphics",
        "comp.os.ms-windows.misc": "windows",
        "comp.sys.ibm.pc.hardware": "ide",
        "comp.sys.mac.hardware": "mac",
        "comp.windows.x": "motif",
        "misc.forsale": "sale",
        "rec.autos": "car",
        "rec.motorcycles": "bike",
        "rec.sport.baseball": "baseball",
        "rec.sport.hockey": "hockey",
        "sci.crypt": "encryption",
        "sci.electronics": "circuit",
        "sci.med": "disease",
        "sci.space": "orbit",
        "soc.religion.christian": "christ",
        "talk.politics.guns": "gun",
        "talk.politics.mideast": "israel",
    },
    "bbc": {
        "business": "economy",
        "entertainment": "film",
        "politics": "election",
        "sport": "match",
        "tech": "software",
    },
}
TOPICS = {"20news_bydate": (50, 100), "bbc": (5, 10, 20)}


def run(*, quick: bool = False) -> None:
    with threadpool_limits(N_THREADS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _print_regressions(range(2 if quick else 10))
        _print_examples(range(1 if quick else 3))
        _print_regression_examples(range(1 if quick else 3))
        _print_topics(quick=quick)


def _print_regressions(seeds: range) -> None:
    """The moments of regressions, one change at a time."""
    plain = {"design": "standard", "fit_intercept": False}
    methods: dict[str, dict[str, Any]] = {
        "the paper's": {"noise": "paper", **plain},
        "average noise and Hermite polynomial": plain,
        "and X standardised by its own moments (default)": {},
    }
    errors: dict[str, list[float]] = {name: [] for name in methods}
    for seed in seeds:
        data = make_mixed_regression(100_000, 50, 3, deviation=0.1, random_state=seed)
        for name, options in methods.items():
            search = RegressionSearch(3, **options).fit(data.X, data.y)
            for i, center in enumerate(data.centers):
                errors[name].append(float(np.linalg.norm(search.search(make_hint(data.centers, i)).center - center)))
    rows = [(name, f"{np.mean(found):.3f}") for name, found in errors.items()]
    print_table(f"Regressions, n=100,000, d=50, k=3, σ=.1, {len(seeds)} seeds", ("moments", "mean error"), rows)


def _print_examples(seeds: range) -> None:
    """One example as a hint, by its own direction or seen from the mean of all samples, at growing distance from 0."""
    rows = []
    for shift in (0, 10, 40):
        results = np.array([outcome for seed in seeds for outcome in _one_example(seed, shift)])
        for column, name in enumerate(("the sample itself", "seen from the mean (default)")):
            ratios = results[:, column]
            rows.append(
                (f"{shift}, {name}", f"{ratios.mean():.2f}", f"{np.count_nonzero(ratios > 3)} of {len(ratios)}")
            )
    title = f"One example as a hint: 10 Gaussians of norm 10, n=8,000, d=300, σ=2, {len(seeds)} seeds"
    print_table(title, ("distance of the origin, hint", "error / oracle's", "wrong component"), rows)


def _one_example(seed: int, shift: float) -> Iterator[tuple[float, float]]:
    data = make_gaussian_mixture(8000, 300, 10, deviation=2.0, random_state=seed)
    rng = np.random.default_rng(seed)
    away = rng.standard_normal(300)
    X = data.X + shift * away / np.linalg.norm(away)
    search = GaussianSearch(10).fit(X)
    for i in range(10):
        members = X[data.labels == i]
        truth = data.centers[i] + X[0] - data.X[0]
        oracle = np.linalg.norm(members.mean(axis=0) - truth)
        example = members[rng.integers(len(members))]
        found = search.search(example), search.search(examples=example[None, :])
        one, other = (float(np.linalg.norm(part.center - truth) / oracle) for part in found)
        yield one, other


def _print_regression_examples(seeds: range) -> None:
    """A few members of a regression as a hint: the mean of y x, or least squares in the frame."""
    rows = []
    for n_examples in (5, 20, 100):
        wrong = np.array([outcome for seed in seeds for outcome in _few_members(seed, n_examples)])
        for name, column in zip(("mean of y x", "least squares (default)"), wrong.T, strict=True):
            rows.append((f"{n_examples}, {name}", f"{column.sum()} of {len(column)}"))
    title = f"Members of a regression as a hint: n=100,000, d=10, k=3, intercepts, {len(seeds)} seeds"
    print_table(title, ("members, hint", "wrong component"), rows)


def _few_members(seed: int, n_examples: int) -> Iterator[tuple[bool, bool]]:
    data = make_mixed_regression(100_000, 10, 3, intercept=1.0, random_state=seed)
    search, rng = RegressionSearch(3).fit(data.X, data.y), np.random.default_rng(seed)
    for target in range(3):
        members = np.flatnonzero(data.labels == target)
        for _ in range(20):
            few = rng.choice(members, n_examples, replace=False)
            X, y = data.X[few], data.y[few]
            found = search.search((X - data.X.mean(axis=0)).T @ (y - data.y.mean())), search.search(examples=(X, y))
            one, other = (np.argmin(np.linalg.norm(data.centers - part.center, axis=1)) != target for part in found)
            yield bool(one), bool(other)


class Corpus(NamedTuple):
    """Counts of labelled documents."""

    counts: sp.csr_array
    words: list[str]
    labels: Array


def _print_topics(*, quick: bool) -> None:
    folder = Path(os.environ.get("MIXSEARCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "text"
    for name, seed_words in SEED_WORDS.items():
        path = folder / f"{name}.jsonl.gz"
        if not path.exists():
            print(f"\n- {name}: skipped, since {path.name} is not in the folder text of MIXSEARCH_DATA")
            continue
        corpus = _read(path)
        for k in TOPICS[name][:1] if quick else TOPICS[name]:
            _print_corpus(f"{name}, {corpus.counts.shape[1]:,} words, k={k}", corpus, seed_words, k)


def _read(path: Path) -> Corpus:
    """Documents without their headers, which give away the group; some files have tabs where the post had new lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    headed = "20news" in path.name
    texts = [row["text"].replace("\t", "\n").partition("\n\n")[2] if headed else row["text"] for row in rows]
    vectorizer = CountVectorizer(stop_words="english", min_df=10, max_df=0.3, token_pattern=r"\b[a-z][a-z]+\b")
    counts = sp.csr_array(vectorizer.fit_transform(texts))
    return Corpus(counts, vectorizer.get_feature_names_out().tolist(), np.array([row["label"] for row in rows]))


def _print_corpus(title: str, corpus: Corpus, seed_words: dict[str, str], k: int) -> None:
    searches = {
        "default": {},
        "damping=False": {"damping": False},
        "metric=0": {"metric": 0.0},
        "metric=0.5": {"metric": 0.5},
        'weights="uniform"': {"weights": "uniform"},
        'moments="plugin"': {"moments": "plugin"},
    }
    rows = []
    for name, options in searches.items():
        search = TopicSearch(k, **options).fit(corpus.counts, vocabulary=corpus.words)
        rows.append((name, f"{_mean_precision(search, corpus, seed_words, _ranked):.3f}"))
        if name == "default":
            for how in ({"choose": "largest"}, {"project": True}):
                precision = _mean_precision(search, corpus, seed_words, _ranked, **how)
                rows.append(
                    (f"search(..., {', '.join(f'{key}={value!r}' for key, value in how.items())})", f"{precision:.3f}")
                )
            rows.append(("documents by share alone", f"{_mean_precision(search, corpus, seed_words, _by_share):.3f}"))
    print_table(f"Topics: {title}; one word for each group", ("choice", "mean average precision"), rows)


def _mean_precision(
    search: TopicSearch, corpus: Corpus, seed_words: dict[str, str], rank: Callable[[Topic, int], Array], **how: Any
) -> float:
    topics = {group: search.search(words=word, **how) for group, word in seed_words.items()}
    n = len(corpus.labels)
    return float(np.mean([average_precision_score(corpus.labels == g, rank(topic, n)) for g, topic in topics.items()]))


def _ranked(topic: Topic, n: int) -> Array:
    """Scores that fall in the order of `topic.documents`."""
    scores = np.full(n, -1.0)
    for place, (row, _) in enumerate(topic.documents(n)):
        scores[row] = n - place
    return scores


def _by_share(topic: Topic, n: int) -> Array:
    scores = np.full(n, -np.inf)
    scores[topic.kept_rows] = topic.model.projected @ topic.point / topic.model.lengths
    return np.where(np.isinf(scores), scores[topic.kept_rows].min() - 1, scores)


if __name__ == "__main__":
    run()

"""Compare each default with the alternatives, on the same data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from corpora import Corpus, available, load_corpus
from measuring import N_THREADS, print_table
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, TopicSearch
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_mixed_regression
from mixsearch.metrics import average_precision
from mixsearch.topics import evidence as _evidence
from mixsearch.topics import local_em as _local_em
from mixsearch.topics.component import Topic

# Corpora and numbers of topics that the choices for topics are tried on.
TOPICS = (("newsgroups", 50), ("newsgroups", 100), ("bbc", 5), ("bbc", 10), ("bbc", 20), ("bbc", 40), ("debian", 50))


FITS: tuple[dict[str, Any], ...] = (
    {"damping": False},
    {"metric": 0.0},
    {"metric": 0.5},
    {"weights": "uniform"},
    {"moments": "plugin"},
)
LOCAL_EM: dict[str, dict[str, Any]] = {
    "no neighbours": {"N_NEIGHBOURS": 0},
    "no steps": {"MAX_LOCAL_ITER": 0},
    "ten steps": {"MAX_LOCAL_ITER": 10},
    "half as many documents": {"NEAR_PER_SEED": 1},
    "twice as many documents": {"NEAR_PER_SEED": 4, "MAX_NEAR": 2000},
    "words of any lift": {"MIN_LIFT": 0.0},
    "words of three times the lift": {"MIN_LIFT": 4.5},
}


def run(*, quick: bool = False) -> None:
    with threadpool_limits(N_THREADS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _print_regressions(range(2 if quick else 10))
        _print_examples(range(1 if quick else 3))
        _print_regression_examples(range(1 if quick else 3))
        _print_topics(quick=quick)


def _print_regressions(seeds: range) -> None:
    """The moments of regressions, one change at a time."""
    methods: dict[str, dict[str, Any]] = {
        "the paper's": {"preset": "paper"},
        "average noise, Hermite polynomial, X standardised by its own moments (default)": {},
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


def _print_topics(*, quick: bool) -> None:
    plan = [(name, k) for name, k in TOPICS if name in available() and (not quick or (name, k) == ("bbc", 5))]
    if not plan:
        print("\n- topics: skipped, since MIXSEARCH_DATA names no folder with labelled corpora")
        return
    columns = [dict(_precisions(load_corpus(name), k)) for name, k in plan]
    rows = [(choice, *(f"{column[choice]:.3f}" for column in columns)) for choice in columns[0]]
    heads = ("mean average precision, one word for each group", *(f"{name}, k={k}" for name, k in plan))
    print_table("Topics: each choice beside the one not made", heads, rows)


def _precisions(corpus: Corpus, k: int) -> Iterator[tuple[str, float]]:
    """The precision that each choice reaches."""
    search = TopicSearch(k).fit(corpus.counts, vocabulary=corpus.words)
    yield "default, with local EM", precision(search, corpus)
    for name, changed in LOCAL_EM.items():
        module = _evidence if "MIN_LIFT" in changed else _local_em
        with patch.multiple(module, **changed):
            yield f"local EM: {name}", precision(search, corpus)
    yield "moments alone, refine=False", precision(search, corpus, refine=False)
    for how in ({"choose": "largest"}, {"project": True}):
        name = ", ".join(f"{key}={value!r}" for key, value in how.items())
        yield f"moments alone, {name}", precision(search, corpus, refine=False, **how)
    for options in FITS:
        other = TopicSearch(k, **options).fit(corpus.counts, vocabulary=corpus.words)
        name = ", ".join(f"{key}={value!r}" for key, value in options.items())
        yield f"moments alone, {name}", precision(other, corpus, refine=False)


def precision(search: TopicSearch, corpus: Corpus, **how: Any) -> float:
    n = len(corpus.labels)
    topics = {group: search.search(words=word, **how) for group, word in corpus.groups.items()}
    return float(np.mean([average_precision(corpus.has_label(g), _ranked(topic, n)) for g, topic in topics.items()]))


def _ranked(topic: Topic, n: int) -> Array:
    """Scores that fall in the order of `topic.documents`."""
    scores = np.full(n, -1.0)
    for place, (row, _) in enumerate(topic.documents(n)):
        scores[row] = n - place
    return scores


if __name__ == "__main__":
    run()

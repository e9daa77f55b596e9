"""The cost of a corpus the size of the 20 newsgroups: the fit in passes over the counts, the search in milliseconds."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import quality
import scipy.sparse as sp
from measuring import N_THREADS, Measured, measure, measure_together, megabytes, print_table, ratio, seconds, verdict
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from threadpoolctl import threadpool_limits
from workloads import newsgroups_workload, words_of_all_frequencies

from mixsearch import TopicSearch
from mixsearch._typing import Array
from mixsearch.core.eigen import OVERSAMPLING
from mixsearch.errors import WeakHintWarning
from mixsearch.lda import TUNING

BLOCK = TUNING.block

K = 50
LDA_ITERATIONS = 3
FIT_LIMIT = 2.0
SEARCH_LIMIT = 15.0


def run(*, quick: bool = False) -> None:
    counts = newsgroups_workload(quick=quick)
    floats, rng = counts.astype(np.float64), np.random.default_rng(0)
    Q, wide = (rng.standard_normal((counts.shape[1], width)) for width in (BLOCK, K + OVERSAMPLING))
    with threadpool_limits(N_THREADS):
        fit, pair, wide_pair = measure_together(
            {
                "fit": lambda: TopicSearch(K).fit(counts),
                "pair": lambda: floats.T @ (floats @ Q),
                "wide pair": lambda: floats.T @ (floats @ wide),
            },
            2 if quick else 7,
        ).values()
        words = words_of_all_frequencies(counts, 200)
        times, closer_times = (_search_times(fit.result, words, closer) for closer in (False, True))
        svd = measure(lambda: TruncatedSVD(K, random_state=0).fit(floats), 1)
        lda = measure(lambda: LatentDirichletAllocation(K, max_iter=LDA_ITERATIONS, random_state=0).fit(counts), 0)
    products = {
        f"X.T @ (X @ Q), Q of {BLOCK} columns": pair,
        f"X.T @ (X @ Q), Q of {K + OVERSAMPLING} columns": wide_pair,
    }
    peers = {"TruncatedSVD.fit": svd, f"LDA.fit, {LDA_ITERATIONS} iterations, one core": lda}
    _print_fit(counts, fit, products | peers)
    figures = _print_search(times, "by moments alone")
    _print_search(closer_times, "with the closer look")
    if quick:
        return
    print()
    passes = fit.result._family.n_applications
    for width, each in ((K + OVERSAMPLING, wide_pair), (BLOCK, pair)):
        cost = fit.seconds / (passes * each.seconds)
        print(verdict(f"fit / (applications x pair of {width} columns)", cost, FIT_LIMIT))
    for name in ("median", "95th percentile", "the most frequent word"):
        print(verdict(f"search, {name}", figures[name], SEARCH_LIMIT, " ms"))


def _print_fit(counts: sp.csr_array, fit: Measured, others: dict[str, Measured]) -> None:
    passes = fit.result._family.n_applications
    work = {"TopicSearch.fit": fit, **others}
    n, d = counts.shape
    print_table(
        f"Topics, {n:,} documents, {d:,} words, {counts.nnz:,} non-zeros, k={K}",
        ("work", "time", "ratio to the search's fit", "peak memory"),
        [
            (name, seconds(cost.seconds), ratio(cost.seconds / fit.seconds), megabytes(cost.peak))
            for name, cost in work.items()
        ],
    )
    print(f"\n- operator applications of the fit: {passes}, {BLOCK} columns each; topics: {fit.result.n_components_}")


def _search_times(search: TopicSearch, words: Array, closer: bool) -> Array:
    """Milliseconds of a search for each word with the words of the topic found, best of three."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        search.search(words=int(words[-1]))
        return np.array([min(_one_search(search, int(word), closer) for _ in range(3)) for word in words])


def _one_search(search: TopicSearch, word: int, closer: bool) -> float:
    start = time.perf_counter()
    search.search(words=word, refine=closer).top_words(10)
    return 1000 * (time.perf_counter() - start)


def _print_search(times: Array, how: str) -> dict[str, float]:
    figures = {
        "median": np.median(times),
        "95th percentile": np.quantile(times, 0.95),
        "the most frequent word": times[0],
        "slowest": times.max(),
    }
    print_table(
        f"Search {how} and top ten words, {len(times)} words at even steps of log rank",
        ("words", "time"),
        [(name, f"{value:.2f} ms") for name, value in figures.items()],
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    about = "quality and cost beside other packages, on real text; --peers --help tells more"
    parser.add_argument("--peers", nargs=argparse.REMAINDER, metavar="option", help=about)
    options = parser.parse_args()
    if options.peers is None:
        run()
    else:
        quality.main(options.peers)


if __name__ == "__main__":
    main()

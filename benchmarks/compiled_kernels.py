"""The loops of a search and of a fit, with NumPy and SciPy and compiled by numba, which the package does not need.

    pip install numba
    python benchmarks/compiled_kernels.py

Each loop gets other documents or words every time, as a search does: what it reads is not in the cache.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from measuring import print_table
from mixsearch.topics.local_em import N_NEIGHBOURS, ratios_to_expected
from scale import BLOCK, MEAN_LENGTH, N_DOCUMENTS, N_TOPICS, N_WORDS
from threadpoolctl import threadpool_limits
from workloads import draw_corpus

# What a word of medium frequency takes: documents with it, documents in local EM, words with evidence.
N_WITH_WORD, N_NEAR, N_EVIDENCE = 2000, 320, 7000
ROUNDS = 15


class Loop(NamedTuple):
    """Two implementations of one loop."""

    name: str
    draw: Callable[[], tuple[Any, ...]]  # the arguments of both
    usual: Callable[..., Any]
    compiled: Callable[..., Any]


def run(*, quick: bool = False) -> None:
    try:
        import numba
    except ImportError:
        sys.exit("This needs numba: pip install numba")
    whole = draw_corpus(
        N_DOCUMENTS // (20 if quick else 2), N_WORDS // (10 if quick else 1), n_topics=N_TOPICS, mean_length=MEAN_LENGTH
    )
    # 32-bit indices, as an index has them.
    damped, indices, indptr = np.log1p(whole.data).astype(np.float32), *map(np.int32, (whole.indices, whole.indptr))
    counts = sp.csr_array((damped, indices, indptr), shape=whole.shape)
    rows = []
    with threadpool_limits(1):
        for loop in make_loops(counts, numba.njit(nogil=True, fastmath=True), np.random.default_rng(0)):
            arguments = loop.draw()
            one, other = loop.usual(*arguments), loop.compiled(*arguments)
            difference = float(np.abs(one - other).max() / np.abs(one).max())
            usual, compiled = (_median_ms(work, loop.draw) for work in (loop.usual, loop.compiled))
            rows.append((loop.name, f"{usual:.2f}", f"{compiled:.2f}", f"{usual / compiled:.2f}", f"{difference:.0e}"))
    title = f"{counts.shape[0]:,} documents, {counts.shape[1]:,} words, {counts.nnz:,} non-zeros; milliseconds"
    print_table(title, ("loop", "NumPy, SciPy", "compiled", "times", "difference"), rows)


def make_loops(counts: sp.csr_array, compile_loop: Any, rng: np.random.Generator) -> list[Loop]:
    """Return the loops that take most of the time."""
    n, d = counts.shape
    by_word = counts.tocsc()
    few = np.flatnonzero((np.diff(by_word.indptr) > 0) & (np.diff(by_word.indptr) < n // 500))

    @compile_loop
    def add_lists(indptr, indices, data, chosen, weights, out):  # type: ignore[no-untyped-def]
        for i in range(len(chosen)):
            for j in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
                out[indices[j]] += data[j] * weights[i]
        return out

    @compile_loop
    def multiply(indptr, indices, data, chosen, columns, out):  # type: ignore[no-untyped-def]
        for i in range(len(chosen)):
            for j in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
                for k in range(columns.shape[1]):
                    out[i, k] += data[j] * columns[indices[j], k]
        return out

    @compile_loop
    def divide(indptr, indices, data, topics, shares, out):  # type: ignore[no-untyped-def]
        for i in range(len(shares)):
            for j in range(indptr[i], indptr[i + 1]):
                expected = np.float32(0)
                for k in range(shares.shape[1]):
                    expected += shares[i, k] * topics[indices[j], k]
                ratio = data[j] / expected
                for k in range(shares.shape[1]):
                    out[indices[j], k] += ratio * shares[i, k]
        return out

    def draw_documents(size: int) -> Any:
        return np.sort(rng.choice(n, min(size, n), replace=False))

    def draw_near() -> tuple[Any, ...]:
        near = counts[draw_documents(N_NEAR)]
        topics = rng.random((d, N_NEIGHBOURS + 2), dtype=np.float32)
        return near, topics / topics.sum(axis=0), rng.dirichlet(np.ones(N_NEIGHBOURS + 2), N_NEAR).astype(np.float32)

    def draw_lists() -> tuple[Any, ...]:
        words = np.sort(rng.choice(few, min(N_EVIDENCE, len(few)), replace=False))
        return words, rng.random(len(words), dtype=np.float32)

    pair = rng.random((d, 2), dtype=np.float32)
    block, everything = rng.standard_normal((d, BLOCK), dtype=np.float32), np.arange(n)
    rows, columns = ((each.indptr, each.indices, each.data) for each in (counts, by_word))
    return [
        Loop(
            "sum the words of documents",
            lambda: (draw_documents(N_WITH_WORD), rng.random(N_WITH_WORD, dtype=np.float32)),
            lambda chosen, weights: counts[chosen].T @ weights,
            lambda chosen, weights: add_lists(*rows, chosen, weights, np.zeros(d, np.float32)),
        ),
        Loop(
            "score all documents",
            draw_lists,
            lambda words, weights: by_word[:, words] @ weights,
            lambda words, weights: add_lists(*columns, words, weights, np.zeros(n, np.float32)),
        ),
        Loop(
            "rank documents",
            lambda: (draw_documents(N_WITH_WORD),),
            lambda chosen: counts[chosen] @ pair,
            lambda chosen: multiply(*rows, chosen, pair, np.zeros((len(chosen), 2), np.float32)),
        ),
        Loop(
            "half an iteration of local EM",
            draw_near,
            lambda near, topics, shares: ratios_to_expected(near, topics, shares)[0].T @ shares,
            lambda near, topics, shares: divide(
                near.indptr, near.indices, near.data, topics, shares, np.zeros_like(topics)
            ),
        ),
        Loop(
            "half a pass of the eigensolver",
            lambda: (block,),
            lambda vectors: counts @ vectors,
            lambda vectors: multiply(*rows, everything, vectors, np.zeros((n, BLOCK), np.float32)),
        ),
    ]


def _median_ms(work: Callable[..., Any], draw: Callable[[], tuple[Any, ...]]) -> float:
    times = []
    for _ in range(ROUNDS):
        arguments = draw()
        start = time.perf_counter()
        work(*arguments)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times))


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)

"""Topics on a Dask cluster: the cost compared with memory, the gain of a second worker, and the network traffic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import psutil
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from measuring import print_table, seconds, verdict
from workloads import draw_corpus

from mixsearch import TopicSearch
from mixsearch.core.dask import sample_chunks
from mixsearch.core.eigen import OVERSAMPLING
from mixsearch.core.rows import SampleChunk
from mixsearch.lda import TUNING

BLOCK = TUNING.block

N_DOCUMENTS, N_WORDS, N_TOPICS, MEAN_LENGTH = 240_000, 10_000, 100, 100.0
N_BLOCKS = 8
REPEATS = 3
N_PRODUCTS = 10
MIB = 2**20
# By default workers return arrays of a megabyte to the system at once, and pay for the next one in page faults.
KEEP_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}


def run(*, quick: bool = False) -> None:
    smaller = 10 if quick else 1
    counts = draw_corpus(N_DOCUMENTS // smaller, N_WORDS // smaller, n_topics=N_TOPICS, mean_length=MEAN_LENGTH)
    counts = sp.csr_array(counts, dtype=np.float64)
    part = counts[: counts.shape[0] // 2]
    memory, threads = _in_turns(
        lambda: TopicSearch(N_TOPICS).fit(counts),
        lambda: TopicSearch(N_TOPICS).fit(_blocks_here(counts)),
    )
    spent, moved = {}, {}
    for n_workers in (1, 2):
        with _workers(n_workers) as client:
            fit = _fit_there(client, counts)
            spent[n_workers] = min(_timed(fit) for _ in range(REPEATS))
            moved[n_workers, "all"] = _traffic(client, fit)
            if n_workers == 2:
                moved[2, "half"] = _traffic(client, _fit_there(client, part))
                alone, together = _bare_products(client, counts)
                empty = [_empty_pass(client, size) for size in (1, N_WORDS // smaller * BLOCK)]
    d, nnz = counts.shape[1], counts.nnz
    title = f"TopicSearch({N_TOPICS}) of {counts.shape[0]:,} documents, {d:,} words, {nnz:,} non-zeros"
    rows = [
        ("in memory, 2 threads", seconds(memory), "1.00"),
        ("Dask, 2 threads of this process", seconds(threads), f"{threads / memory:.2f}"),
        ("Dask, 1 worker with 1 thread", seconds(spent[1]), f"{spent[1] / memory:.2f}"),
        ("Dask, 2 workers with 1 thread each", seconds(spent[2]), f"{spent[2] / memory:.2f}"),
    ]
    print_table(title, ("where", "fit", "of memory"), rows)
    rows = [
        (
            f"{n_workers} worker{'s' * (n_workers > 1)}, {which} of the documents",
            str(traffic.n_passes),
            f"{traffic.by_workers / MIB:,.0f} MiB",
            f"{traffic.on_loopback / MIB:,.0f} MiB",
            f"{traffic.allowed(d, n_workers) / MIB:,.0f} MiB",
        )
        for (n_workers, which), traffic in moved.items()
    ]
    print_table(
        "Traffic of a fit",
        ("cluster", "passes", "sent by workers (Dask's counters)", "all bytes on loopback", "allowed"),
        rows,
    )
    print()
    print(f"- a pass that computes nothing: {seconds(empty[0])}; with vectors there and back {seconds(empty[1])}")
    print(f"- two workers over one, for products with {BLOCK} vectors alone: {2 * alone / together:.2f} x at most")
    print(f"- one pass: {1e6 * N_BLOCKS * alone / nnz:.3f} s for a million non-zeros, on one core")
    print(verdict("Dask over memory, the same 2 threads", threads / memory, 1.3, " x"))
    print(verdict("1 worker over 2 workers", spent[1] / spent[2], 1.6, " x", at_least=True))
    for (n_workers, which), traffic in moved.items():
        part_of = traffic.on_loopback / traffic.allowed(d, n_workers)
        print(verdict(f"traffic of what is allowed, {n_workers} workers, {which}", part_of, 1.0, ""))


def _in_turns(in_memory: Callable[[], Any], on_dask: Callable[[], Any]) -> tuple[float, float]:
    """Return the best times of both, measured alternately."""
    with dask.config.set(scheduler="threads", num_workers=2):
        both = [(_timed(in_memory), _timed(on_dask)) for _ in range(REPEATS)]
    return min(one for one, _ in both), min(other for _, other in both)


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _bare_products(client: Client, counts: sp.csr_array) -> tuple[float, float]:
    """Seconds for the products of one pass with an eighth of the counts: on one worker alone, and on both at once."""
    start, stop = _cuts(counts)[0]
    block = client.scatter(sp.csr_array(counts[start:stop], dtype=np.float32), broadcast=True)
    workers = list(client.nthreads())

    def ask(some: list[str]) -> float:
        asked = [client.submit(_products, block, workers=[worker], pure=False) for worker in some]
        return max(client.gather(asked))

    ask(workers)  # both warm
    return min(ask(workers[:1]) for _ in range(3)), min(ask(workers) for _ in range(3))


def _products(X: sp.csr_array) -> float:
    Q = np.ones((X.shape[1], BLOCK), dtype=X.dtype)
    start = time.perf_counter()
    for _ in range(N_PRODUCTS):
        _ = X.T @ (X @ Q)
    return (time.perf_counter() - start) / N_PRODUCTS


def _empty_pass(client: Client, size: int) -> float:
    """Seconds that a fold takes whose function returns the numbers that it was sent."""
    chunks = sample_chunks(da.ones((N_BLOCKS, 1), chunks=(1, 1)))
    numbers = np.ones(size, dtype=np.float32)
    return min(_timed(lambda: chunks.sum(_sent_back, numbers)) for _ in range(5))


def _sent_back(_: SampleChunk, numbers: np.ndarray) -> Any:
    return numbers


@contextmanager
def _workers(n_workers: int) -> Iterator[Client]:
    with (
        dask.config.set(KEEP_MEMORY),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def _cuts(counts: sp.csr_array) -> list[tuple[int, int]]:
    bounds = np.linspace(0, counts.shape[0], N_BLOCKS + 1).astype(int)
    return list(pairwise(bounds))


def _blocks_here(counts: sp.csr_array) -> da.Array:
    blocks = [(dask.delayed(counts[a:b]), (b - a, counts.shape[1])) for a, b in _cuts(counts)]
    return da.concatenate([da.from_delayed(block, shape, counts.dtype) for block, shape in blocks])


def _fit_there(client: Client, counts: sp.csr_array) -> Callable[[], Any]:
    """A fit of documents that are on the workers already."""
    cuts = _cuts(counts)
    blocks = client.scatter([counts[a:b] for a, b in cuts])  # to each worker in turn
    shapes = [(b - a, counts.shape[1]) for a, b in cuts]
    arrays = [da.from_delayed(block, shape, counts.dtype) for block, shape in zip(blocks, shapes, strict=True)]
    X = da.concatenate(arrays).persist()
    wait(X)
    return lambda: TopicSearch(N_TOPICS).fit(X)


class Traffic(NamedTuple):
    """The network traffic of one fit, in bytes."""

    n_passes: int
    by_workers: int  # that the workers sent, to each other and to this process
    on_loopback: int  # all that went over that device

    def allowed(self, n_words: int, n_workers: int) -> int:
        """The block of vectors down and its product up, for each pass and one more."""
        return 2 * (self.n_passes + 1) * n_words * (N_TOPICS + OVERSAMPLING) * 8 * n_workers


def _traffic(client: Client, fit: Callable[[], Any]) -> Traffic:
    sent, network = _sent(client), _loopback()
    n_passes = fit()._family.n_applications
    return Traffic(n_passes, _sent(client) - sent, _loopback() - network)


def _sent(client: Client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def _loopback() -> int:
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)

"""Topics on a Dask cluster: what Dask costs beside memory, what a second worker gains, what goes over the network."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from measuring import print_table, seconds, verdict
from workloads import draw_corpus

from mixsearch import TopicSearch
from mixsearch.linalg import OVERSAMPLING

N_DOCUMENTS, N_WORDS, N_TOPICS, MEAN_LENGTH = 160_000, 30_000, 100, 100.0
N_BLOCKS = 8
REPEATS = 2
MIB = 2**20


def run(*, quick: bool = False) -> None:
    smaller = 10 if quick else 1
    counts = draw_corpus(N_DOCUMENTS // smaller, N_WORDS // smaller, n_topics=N_TOPICS, mean_length=MEAN_LENGTH)
    counts = sp.csr_array(counts, dtype=np.float64)
    part = counts[: counts.shape[0] // 2]
    memory, search = _timed(lambda: TopicSearch(N_TOPICS).fit(counts))
    with dask.config.set(scheduler="threads", num_workers=2):
        threads, _ = _timed(lambda: TopicSearch(N_TOPICS).fit(_blocks_here(counts)))
    spent, moved = {}, {}
    for n_workers in (1, 2):
        with _workers(n_workers) as client:
            spent[n_workers], _ = _timed(_fit_there(client, counts))
            moved[n_workers, "all"] = _traffic(client, _fit_there(client, counts))
            if n_workers == 2:
                moved[2, "half"] = _traffic(client, _fit_there(client, part))
    d, nnz = counts.shape[1], counts.nnz
    title = f"TopicSearch({N_TOPICS}) of {counts.shape[0]:,} documents, {d:,} words, {nnz:,} non-zeros"
    rows = [
        ("in memory, 2 threads", seconds(memory), "1.00"),
        ("Dask, 2 threads of this process", seconds(threads), f"{threads / memory:.2f}"),
        ("Dask, 1 worker with 1 thread", seconds(spent[1]), f"{spent[1] / memory:.2f}"),
        ("Dask, 2 workers with 1 thread each", seconds(spent[2]), f"{spent[2] / memory:.2f}"),
    ]
    print_table(title, ("where", "fit", "of memory"), rows)
    n_passes = search.model_.n_applications
    allowed = 2 * (n_passes + 1) * d * (N_TOPICS + OVERSAMPLING) * 8
    rows = [
        (
            f"{n_workers} worker{'s' * (n_workers > 1)}, {which} of the documents",
            f"{traffic['workers'] / MIB:,.0f} MiB",
            f"{traffic['network'] / MIB:,.0f} MiB",
            f"{allowed * n_workers / MIB:,.0f} MiB",
        )
        for (n_workers, which), traffic in moved.items()
    ]
    print_table(
        f"Traffic of a fit, {n_passes} passes",
        ("cluster", "sent by workers (Dask's counters)", "all bytes on loopback", "allowed"),
        rows,
    )
    print()
    print(verdict("Dask over memory, the same 2 threads", threads / memory, 1.3, " x"))
    print(verdict("2 workers over memory with 2 threads", spent[2] / memory, 1.3, " x"))
    print(verdict("1 worker over 2 workers", spent[1] / spent[2], 1.6, " x", at_least=True))
    for (n_workers, which), traffic in moved.items():
        part_of = max(traffic.values()) / (allowed * n_workers)
        print(verdict(f"traffic of what is allowed, {n_workers} workers, {which}", part_of, 1.0, ""))


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


@contextmanager
def _workers(n_workers: int) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def _cuts(counts: sp.csr_array) -> list[tuple[int, int]]:
    bounds = np.linspace(0, counts.shape[0], N_BLOCKS + 1).astype(int)
    return list(zip(bounds[:-1], bounds[1:], strict=True))


def _blocks_here(counts: sp.csr_array) -> da.Array:
    blocks = [(dask.delayed(counts[a:b]), (b - a, counts.shape[1])) for a, b in _cuts(counts)]
    return da.concatenate([da.from_delayed(block, shape, counts.dtype) for block, shape in blocks])


def _fit_there(client: Client, counts: sp.csr_array) -> Callable[[], Any]:
    """A fit of documents that are on the workers already."""
    blocks = [(client.scatter(counts[a:b]), (b - a, counts.shape[1])) for a, b in _cuts(counts)]
    X = da.concatenate([da.from_delayed(block, shape, counts.dtype) for block, shape in blocks]).persist()
    wait(X)
    return lambda: TopicSearch(N_TOPICS).fit(X)


def _traffic(client: Client, fit: Callable[[], Any]) -> dict[str, int]:
    """Bytes that the workers sent, to each other and to this process, and all that went over the loopback device."""
    sent, network = _sent(client), _loopback()
    fit()
    return {"workers": _sent(client) - sent, "network": _loopback() - network}


def _sent(client: Client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def _loopback() -> int:
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)

"""Chunks on any Dask scheduler: they stay on their workers, which receive small arrays and return sums."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain as chain_iterables
from typing import Any, NamedTuple, Self, cast

import cloudpickle
import dask
from dask.delayed import Delayed
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from distributed import Client

from mixsearch.core.dask.cluster import count_threads, current_client
from mixsearch.core.dask.tasks import (
    LARGE_GRAPHS,
    PickledCall,
    broadcast,
    collect_results,
    compute_tasks,
    get_future,
    item,
    persist_tasks,
    task,
    tree_reduce,
)
from mixsearch.core.rows import Chunk, Chunks, DetachedChunks, LocalChunks, S, Sums, T, add_all
from mixsearch.machine import on_one_core

# Chunks per task: more of them need fewer tasks, fewer of them less memory at a time.
PARTITIONS_PER_TASK = 8
# Largest number of sums that this process adds: another round on the workers takes as long as receiving a few sums.
MAX_SUMS = 4


class Change(NamedTuple):
    """A function of a chunk, with its further arguments."""

    function: Callable[..., Any]
    shared: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class DaskChunks(Chunks[S]):
    """Chunks that a Dask scheduler stores."""

    parts: tuple[Delayed, ...]  # one chunk each
    changes: tuple[Change, ...] = ()  # pending: applied first in every reduction

    def sum(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """Sum over all chunks. Each thread of a worker adds the sums of its own ones, a few at a time."""
        call, chains = _pickle((*self.changes, Change(summarize, shared))), make_chains(self.parts)
        client = current_client()
        if client is None:
            shared_call = broadcast(call)
            return cast(
                Sums, add_all(compute_tasks([_reduce_chain(task, shared_call, chain.parts) for chain in chains]))
            )
        with dask.config.set(LARGE_GRAPHS):
            sums = _reduce_on_workers(client, call, chains)
        return cast(Sums, add_all(collect_results(client, sums)))

    def map(self, change: Callable[..., T], *shared: Any) -> DaskChunks[T]:
        """Add a function that every reduction applies first."""
        return cast(DaskChunks[T], replace(self, changes=(*self.changes, Change(change, shared))))

    def map_sum(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[DaskChunks[T], Sums]:
        """Apply a function to every chunk on its worker, and sum its second return value."""
        call = broadcast(_pickle((*self.changes, Change(step, shared))))
        order, moved, sums = [], [], []
        for chain in make_chains(self.parts):
            with chain.annotate():
                results = [task(_apply, call, part) for part in chain.parts]
                moved += [item(result, 0) for result in results]
                sums.append(task(add_all, [item(result, 1) for result in results]))
            order += chain.parts
        done = persist_tasks([*moved, *tree_reduce(add_all, sums)])
        chunks = replace(self, parts=_restore_order(self.parts, order, done), changes=())
        return cast(DaskChunks[T], chunks), cast(Sums, compute_tasks(done[-1:])[0])

    def persist(self) -> Self:
        """Apply all pending functions, and store the results on the workers."""
        if not self.changes:
            return self
        call, order, changed = broadcast(_pickle(self.changes)), [], []
        for chain in make_chains(self.parts):
            with chain.annotate():
                changed += [task(_apply, call, part) for part in chain.parts]
            order += chain.parts
        return replace(self, parts=_restore_order(self.parts, order, persist_tasks(changed)), changes=())

    def collect(self) -> LocalChunks[S]:
        """Bring all rows into this process. They must be few."""
        call = broadcast(_pickle(self.changes))
        chunks = compute_tasks([task(_apply, call, part) for part in self.parts])
        return LocalChunks(self.layout, type(chunks[0]).joined(chunks))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the samples, which stay on the cluster."""
        return DetachedChunks, (self.layout,)


def _restore_order(parts: Sequence[Delayed], order: Sequence[Delayed], done: Sequence[Delayed]) -> tuple[Delayed, ...]:
    """Return results in the order of the chunks, which were processed in another order."""
    by_part = dict(zip(map(id, order), done, strict=False))
    return tuple(by_part[id(part)] for part in parts)


def _pickle(changes: tuple[Change, ...]) -> PickledCall:
    return PickledCall(cloudpickle.dumps(changes))


def _apply(call: PickledCall, chunk: Any) -> Any:
    with on_one_core():
        for function, shared in call.unpickled:
            chunk = function(chunk, *shared)
    return chunk


def _reduce_some(call: PickledCall, chunks: Sequence[Any], total: Any) -> Any:
    sums = (_apply(call, chunk) for chunk in chunks)
    return add_all(sums if total is None else chain_iterables([total], sums))


def _reduce_chain(submit: Callable[..., Any], call: Any, parts: Sequence[Any]) -> Any:
    """Sum over a few chunks after the other, so that only those and one sum are in memory at a time."""
    total: Any = None
    for start in range(0, len(parts), PARTITIONS_PER_TASK):
        total = submit(_reduce_some, call, list(parts[start : start + PARTITIONS_PER_TASK]), total)
    return total


def _reduce_on_workers(client: Client, call: PickledCall, chains: Sequence[Chain]) -> list[Any]:
    """Sum on the workers that store the chunks; many sums are first added on the workers.

    Tasks are submitted one by one: a graph takes more than twice as long.
    """

    def submit_to(worker: str) -> Callable[..., Any]:
        target = {"workers": [worker], "allow_other_workers": True} if worker else {}
        return partial(client.submit, pure=False, **target)

    n_tasks = Counter({chain.worker: 0 for chain in chains})
    for chain in chains:
        n_tasks[chain.worker] += -(-len(chain.parts) // PARTITIONS_PER_TASK)
    # If a worker has several tasks, one task receives the call for all of them.
    calls = {worker: call if n == 1 else submit_to(worker)(_receive, call) for worker, n in n_tasks.items()}
    sums = [
        _reduce_chain(submit_to(chain.worker), calls[chain.worker], [get_future(part) for part in chain.parts])
        for chain in chains
    ]
    return tree_reduce(add_all, sums, call=submit_to(""), max_results=MAX_SUMS)


def _receive(call: PickledCall) -> PickledCall:
    return call


class Chain(NamedTuple):
    """Chunks that one thread processes, one after the other."""

    parts: list[Delayed]
    worker: str  # address; empty for any worker

    def annotate(self) -> AbstractContextManager[Any]:
        """Return a context in which tasks are sent to the worker, as long as it lives."""
        return dask.annotate(workers=[self.worker], allow_other_workers=True) if self.worker else nullcontext()


def make_chains(parts: Sequence[Delayed]) -> list[Chain]:
    """Assign chunks to threads of the workers that store them, so that none moves."""
    client = current_client()
    if client is None:
        return _distribute(parts, dask.config.get("num_workers", None) or CPU_COUNT, "")
    threads = count_threads(client)
    by_worker = _group_by_worker(client, parts).items()
    return [chain for worker, own in by_worker for chain in _distribute(own, threads.get(worker, 1), worker)]


def _distribute(parts: Sequence[Delayed], n_threads: int, worker: str) -> list[Chain]:
    return [Chain(list(parts[i::n_threads]), worker) for i in range(min(n_threads, len(parts)))]


def _group_by_worker(client: Client, parts: Sequence[Delayed]) -> dict[str, list[Delayed]]:
    """Return the chunks that each worker stores; those that no worker stores under an empty address."""
    keys = [get_future(part).key for part in parts]
    owners = client.who_has([get_future(part) for part in parts])
    by_worker: dict[str, list[Delayed]] = defaultdict(list)
    for part, key in zip(parts, keys, strict=True):
        by_worker[min(owners.get(key, ()), default="")].append(part)
    return by_worker


@sizeof.register(Chunk)
def _count_bytes(chunk: Chunk) -> int:
    """Return the size of a chunk, which Dask needs to decide where it is stored."""
    return sum(_count_column_bytes(getattr(chunk, field.name)) for field in fields(chunk))


def _count_column_bytes(column: Any) -> int:
    if hasattr(column, "indptr"):
        return int(column.data.nbytes + column.indices.nbytes + column.indptr.nbytes)
    return int(getattr(column, "nbytes", 0))

"""Shards on a Dask scheduler of any kind: they stay where they are, small arrays go there and sums come back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain as follow
from typing import Any, NamedTuple, Self, cast

import cloudpickle
import dask
from dask.delayed import Delayed
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from distributed import Client

from mixsearch.data.chunks import Sums, add_all
from mixsearch.data.dask.cluster import count_threads, current_client
from mixsearch.data.dask.tasks import (
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
from mixsearch.data.partitions import DetachedPartitions, LocalPartitions, Partition, Partitions, S, T
from mixsearch.data.threads import on_one_core

# Shards that one task looks at: with more, fewer tasks wait for their turn; with fewer, less is in memory at a time.
PARTITIONS_PER_TASK = 8


# Sums that come here from as many threads of workers: a further round among the workers takes as long as a few of them.
SUMS_AT_ONCE = 4


class Change(NamedTuple):
    """A function of a shard, and the small arrays that it takes beside."""

    function: Callable[..., Any]
    shared: tuple[Any, ...]


@dataclass(frozen=True)
class DaskPartitions(Partitions[S]):
    """Shards that a Dask scheduler keeps."""

    parts: tuple[Delayed, ...]  # one shard each
    changes: tuple[Change, ...] = ()  # that every fold does first

    def reduce(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """The sum over all shards: each thread of a worker adds up its own ones, a few at a time."""
        parcel, chained = _packed((*self.changes, Change(summarize, shared))), chains(self.parts)
        client = current_client()
        if client is None:
            work = broadcast(parcel)
            return cast(Sums, add_all(compute_tasks([_folded(task, work, chain.parts) for chain in chained])))
        with dask.config.set(LARGE_GRAPHS):
            sums = _folded_there(client, parcel, chained)
        return cast(Sums, add_all(collect_results(client, sums)))

    def map(self, change: Callable[..., T], *shared: Any) -> DaskPartitions[T]:
        """The same with one more change to do in every fold."""
        return cast(DaskPartitions[T], replace(self, changes=(*self.changes, Change(change, shared))))

    def map_reduce(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[DaskPartitions[T], Sums]:
        """Shards as the function changes them, which stay where they are, and the sum of what it returns beside."""
        work = broadcast(_packed((*self.changes, Change(step, shared))))
        order, moved, sums = [], [], []
        for chain in chains(self.parts):
            with chain.place():
                results = [task(_changed, work, part) for part in chain.parts]
                moved += [item(result, 0) for result in results]
                sums.append(task(add_all, [item(result, 1) for result in results]))
            order += chain.parts
        done = persist_tasks([*moved, *tree_reduce(add_all, sums)])
        partitions = replace(self, parts=_in_order_of(self.parts, order, done), changes=())
        return cast(DaskPartitions[T], partitions), cast(Sums, compute_tasks(done[-1:])[0])

    def persist(self) -> Self:
        """All changes done, and what comes of them kept where it is."""
        if not self.changes:
            return self
        work, order, changed = broadcast(_packed(self.changes)), [], []
        for chain in chains(self.parts):
            with chain.place():
                changed += [task(_changed, work, part) for part in chain.parts]
            order += chain.parts
        return replace(self, parts=_in_order_of(self.parts, order, persist_tasks(changed)), changes=())

    def collect(self) -> LocalPartitions[S]:
        """All rows here, where they are few."""
        work = broadcast(_packed(self.changes))
        partitions = compute_tasks([task(_changed, work, part) for part in self.parts])
        return LocalPartitions(self.layout, type(partitions[0]).joined(partitions))

    def __reduce__(self) -> tuple[Any, ...]:
        """Samples stay on the cluster: what is pickled knows that there were some."""
        return DetachedPartitions, (self.layout,)


def _in_order_of(parts: Sequence[Delayed], order: Sequence[Delayed], done: Sequence[Delayed]) -> tuple[Delayed, ...]:
    """What came of the parts, which were worked on in another order."""
    by_part = dict(zip(map(id, order), done, strict=False))
    return tuple(by_part[id(part)] for part in parts)


def _packed(changes: tuple[Change, ...]) -> PickledCall:
    return PickledCall(cloudpickle.dumps(changes))


def _changed(parcel: PickledCall, partition: Any) -> Any:
    with on_one_core():
        for function, shared in parcel.opened:
            partition = function(partition, *shared)
    return partition


def _fold(parcel: PickledCall, partitions: Sequence[Any], so_far: Any) -> Any:
    each = (_changed(parcel, partition) for partition in partitions)
    return add_all(each if so_far is None else follow([so_far], each))


def _folded(call: Callable[..., Any], work: Any, parts: Sequence[Any]) -> Any:
    """A few shards after the other, so that no more need to be in memory at a time, nor more than one sum."""
    so_far: Any = None
    for start in range(0, len(parts), PARTITIONS_PER_TASK):
        so_far = call(_fold, work, list(parts[start : start + PARTITIONS_PER_TASK]), so_far)
    return so_far


def _folded_there(client: Client, parcel: PickledCall, chained: Sequence[Chain]) -> list[Any]:
    """The same on the workers that have the shards; where those are many, their sums are added up among them.

    Tasks are submitted one by one: a graph takes more than twice as long.
    """

    def call_at(worker: str) -> Callable[..., Any]:
        place = {"workers": [worker], "allow_other_workers": True} if worker else {}
        return partial(client.submit, pure=False, **place)

    n_tasks = Counter({chain.worker: 0 for chain in chained})
    for chain in chained:
        n_tasks[chain.worker] += -(-len(chain.parts) // PARTITIONS_PER_TASK)
    # Of several tasks of a worker, the first one brings what all of them need.
    work = {worker: parcel if n == 1 else call_at(worker)(_received, parcel) for worker, n in n_tasks.items()}
    sums = [
        _folded(call_at(chain.worker), work[chain.worker], [get_future(part) for part in chain.parts])
        for chain in chained
    ]
    return tree_reduce(add_all, sums, call=call_at(""), most=SUMS_AT_ONCE)


def _received(parcel: PickledCall) -> PickledCall:
    return parcel


class Chain(NamedTuple):
    """Shards that one thread should look at, one after the other."""

    parts: list[Delayed]
    worker: str  # whose thread; empty where nobody in particular

    def place(self) -> AbstractContextManager[Any]:
        """A context that sends tasks there, as long as the worker lives."""
        return dask.annotate(workers=[self.worker], allow_other_workers=True) if self.worker else nullcontext()


def chains(parts: Sequence[Delayed]) -> list[Chain]:
    """The shards of every thread: those that are there already, so that none moves."""
    client = current_client()
    if client is None:
        return _dealt(parts, dask.config.get("num_workers", None) or CPU_COUNT, "")
    threads = count_threads(client)
    by_worker = _by_worker(client, parts).items()
    return [chain for worker, own in by_worker for chain in _dealt(own, threads.get(worker, 1), worker)]


def _dealt(parts: Sequence[Delayed], n_threads: int, worker: str) -> list[Chain]:
    return [Chain(list(parts[i::n_threads]), worker) for i in range(min(n_threads, len(parts)))]


def _by_worker(client: Client, parts: Sequence[Delayed]) -> dict[str, list[Delayed]]:
    """The shards that each worker has; those that none has under an empty name."""
    keys = [get_future(part).key for part in parts]
    where = client.who_has([get_future(part) for part in parts])
    by_worker: dict[str, list[Delayed]] = defaultdict(list)
    for part, key in zip(parts, keys, strict=True):
        by_worker[min(where.get(key, ()), default="")].append(part)
    return by_worker


@sizeof.register(Partition)
def _size_of(partition: Partition) -> int:
    """So that Dask knows what it would take to move a shard, or to keep it."""
    return sum(_bytes_of(getattr(partition, field.name)) for field in fields(partition))


def _bytes_of(column: Any) -> int:
    if hasattr(column, "indptr"):
        return int(column.data.nbytes + column.indices.nbytes + column.indptr.nbytes)
    return int(getattr(column, "nbytes", 0))

"""Shards on a Dask scheduler of any kind: they stay where they are, small arrays go there and sums come back."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple, Self, cast

import cloudpickle
import dask
from dask.delayed import Delayed
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from distributed import Client, futures_of

from mixsearch.blocks import Sums, add_sums, on_one_core
from mixsearch.scale.cluster import current_client, threads_of
from mixsearch.scale.tasks import item, kept, merged, shared, task, values_of
from mixsearch.shards import AwayShards, LocalShards, S, Shard, Shards, T


class Change(NamedTuple):
    """A function of a shard, and the small arrays that it takes beside."""

    function: Callable[..., Any]
    shared: tuple[Any, ...]


@dataclass(frozen=True)
class DaskShards(Shards[S]):
    """Shards that a Dask scheduler keeps."""

    parts: tuple[Delayed, ...]  # one shard each
    changes: tuple[Change, ...] = ()  # that every fold does first

    def fold(self, summarize: Callable[..., Sums], *shared: Any) -> Sums:
        """The sum over all shards: each thread of a worker adds up its own ones, block by block."""
        work = _sent((*self.changes, Change(summarize, shared)))
        sums = []
        for chain in chains(self.parts):
            with chain.place():
                sums.append(_folded(work, chain.parts))
        return cast(Sums, values_of([merged(_added, sums)])[0])

    def map(self, change: Callable[..., T], *shared: Any) -> DaskShards[T]:
        """The same with one more change to do in every fold."""
        return cast(DaskShards[T], replace(self, changes=(*self.changes, Change(change, shared))))

    def advance(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[DaskShards[T], Sums]:
        """Shards as the function changes them, which stay where they are, and the sum of what it returns beside."""
        work = _sent((*self.changes, Change(step, shared)))
        order, moved, sums = [], [], []
        for chain in chains(self.parts):
            with chain.place():
                results = [task(_changed, work, part) for part in chain.parts]
                moved += [item(result, 0) for result in results]
                sums.append(task(_added, [item(result, 1) for result in results]))
            order += chain.parts
        done = kept([*moved, merged(_added, sums)])
        by_part = dict(zip(map(id, order), done, strict=False))
        shards = replace(self, parts=tuple(by_part[id(part)] for part in self.parts), changes=())
        return cast(DaskShards[T], shards), cast(Sums, values_of(done[-1:])[0])

    def keep(self) -> Self:
        """All changes done, and what comes of them kept where it is."""
        return self if not self.changes else replace(self, parts=tuple(kept(self._changed())), changes=())

    def gather(self) -> LocalShards[S]:
        """All rows here, where they are few."""
        shards = values_of(self._changed())
        return LocalShards(self.layout, type(shards[0]).joined(shards))

    def _changed(self) -> list[Delayed]:
        work = _sent(self.changes)
        return [task(_changed, work, part) for part in self.parts]

    def __reduce__(self) -> tuple[Any, ...]:
        """Samples stay on the cluster: what is pickled knows that there were some."""
        return AwayShards, (self.layout,)


class Parcel:
    """A function and its arrays on the way, packed until the first task opens it.

    What a worker cannot unpack is then an error of the task, not one of the connection, over which Dask would try for
    ever.
    """

    def __init__(self, packed: bytes) -> None:
        self.packed = packed

    @cached_property
    def opened(self) -> Any:
        """What was sent."""
        return pickle.loads(self.packed)

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (self.packed,)

    def __sizeof__(self) -> int:
        return len(self.packed)


def _sent(changes: tuple[Change, ...]) -> Delayed:
    """One parcel that all tasks share."""
    return shared(Parcel(cloudpickle.dumps(changes)))


def _changed(parcel: Parcel, shard: Any) -> Any:
    with on_one_core():
        for function, shared in parcel.opened:
            shard = function(shard, *shared)
    return shard


def _fold(parcel: Parcel, shard: Any, so_far: Any) -> Any:
    sums = _changed(parcel, shard)
    return sums if so_far is None else add_sums(so_far, sums)


def _added(sums: Sequence[Any]) -> Any:
    return reduce(add_sums, sums)


def _folded(work: Delayed, parts: Iterable[Delayed]) -> Delayed:
    """One shard after the other, so that no more than one sum is kept at a time."""
    so_far: Any = None
    for part in parts:
        so_far = task(_fold, work, part, so_far)
    return so_far


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
    threads = threads_of(client)
    by_worker = _by_worker(client, parts).items()
    return [chain for worker, own in by_worker for chain in _dealt(own, threads.get(worker, 1), worker)]


def _dealt(parts: Sequence[Delayed], n_threads: int, worker: str) -> list[Chain]:
    return [Chain(list(parts[i::n_threads]), worker) for i in range(min(n_threads, len(parts)))]


def _by_worker(client: Client, parts: Sequence[Delayed]) -> dict[str, list[Delayed]]:
    """The shards that each worker has; those that none has under an empty name."""
    futures = [next(iter(futures_of(part)), None) for part in parts]
    where = client.who_has([future for future in futures if future is not None])
    by_worker: dict[str, list[Delayed]] = defaultdict(list)
    for part, future in zip(parts, futures, strict=True):
        workers = where.get(future.key, ()) if future is not None else ()
        by_worker[min(workers, default="")].append(part)
    return by_worker


@sizeof.register(Shard)
def _size_of(shard: Shard) -> int:
    """So that Dask knows what it would take to move a shard, or to keep it."""
    return sum(_bytes_of(getattr(shard, field.name)) for field in fields(shard))


def _bytes_of(column: Any) -> int:
    if hasattr(column, "indptr"):
        return int(column.data.nbytes + column.indices.nbytes + column.indptr.nbytes)
    return int(getattr(column, "nbytes", 0))

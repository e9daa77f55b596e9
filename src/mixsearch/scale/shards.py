"""Shards on a Dask scheduler of any kind: they stay where they are, small arrays go there and sums come back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn, Self, cast
from uuid import uuid4

import dask
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from dask.system import CPU_COUNT
from distributed import Client, futures_of

from mixsearch.blocks import Sums, add_sums, on_one_core
from mixsearch.errors import SearchError
from mixsearch.scale.cluster import current_client, failure, wait_for
from mixsearch.shards import LocalShards, S, Shard, Shards, T

# The arrays that go to the shards travel with the graph: they are small, but not as small as Dask likes a graph to be.
GRAPHS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}


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
        return cast(Sums, reduce(add_sums, values_of(sums)))

    def map(self, change: Callable[..., T], *shared: Any) -> DaskShards[T]:
        """The same with one more change to do in every fold."""
        return cast(DaskShards[T], replace(self, changes=(*self.changes, Change(change, shared))))

    def advance(self, step: Callable[..., tuple[T, Sums]], *shared: Any) -> tuple[DaskShards[T], Sums]:
        """Shards as the function changes them, which stay where they are, and the sum of what it returns beside."""
        work = _sent((*self.changes, Change(step, shared)))
        order, moved, sums = [], [], []
        for chain in chains(self.parts):
            with chain.place():
                results = [_changed_later(work, part) for part in chain.parts]
                moved += [_first_of(result) for result in results]
                sums.append(_added([_second_of(result) for result in results]))
            order += chain.parts
        kept = held([*moved, *sums])
        by_part = dict(zip(map(id, order), kept, strict=False))
        shards = replace(self, parts=tuple(by_part[id(part)] for part in self.parts), changes=())
        return cast(DaskShards[T], shards), cast(Sums, reduce(add_sums, values_of(kept[len(moved) :])))

    def keep(self) -> Self:
        """All changes done, and what comes of them kept where it is."""
        return self if not self.changes else replace(self, parts=tuple(held(self._changed())), changes=())

    def gather(self) -> LocalShards[S]:
        """All rows here, where they are few."""
        shards = values_of(self._changed())
        return LocalShards(self.layout, type(shards[0]).joined(shards))

    def _changed(self) -> list[Delayed]:
        work = _sent(self.changes)
        return [_changed_later(work, part) for part in self.parts]

    def __getstate__(self) -> NoReturn:
        raise SearchError(
            "A search that was fitted to Dask arrays cannot be pickled: its samples are on the cluster. Pickle what "
            "was found (center, weight), or fit again in the other process."
        )


def _sent(changes: tuple[Change, ...]) -> Delayed:
    """Functions and their arrays, as one thing that all tasks share."""
    return delayed(changes, name=f"mixsearch-{uuid4().hex}", traverse=False)


def _changed(changes: tuple[Change, ...], shard: Any) -> Any:
    with on_one_core():
        for function, shared in changes:
            shard = function(shard, *shared)
    return shard


def _fold(changes: tuple[Change, ...], shard: Any, so_far: Any) -> Any:
    sums = _changed(changes, shard)
    return sums if so_far is None else add_sums(so_far, sums)


_changed_later, _fold_later = delayed(_changed, pure=False), delayed(_fold, pure=False)
_first_of, _second_of = delayed(itemgetter(0), pure=False), delayed(itemgetter(1), pure=False)


@delayed(pure=False)
def _added(sums: Sequence[Any]) -> Any:
    return reduce(add_sums, sums)


def _folded(work: Delayed, parts: Iterable[Delayed]) -> Delayed:
    """One shard after the other, so that no more than one sum is kept at a time."""
    so_far = None
    for part in parts:
        so_far = _fold_later(work, part, so_far)
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
    threads = client.nthreads()
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


def held(nodes: Sequence[Delayed]) -> list[Delayed]:
    """Results that the scheduler keeps where they are computed."""
    client = current_client()
    with dask.config.set(GRAPHS):
        kept = list(dask.persist(*nodes, optimize_graph=False))
    if client is not None:
        wait_for(client, futures_of(kept))
    return kept


def values_of(nodes: Sequence[Delayed]) -> list[Any]:
    """Results here, which are small."""
    client = current_client()
    if client is None:
        return list(dask.compute(*nodes, optimize_graph=False))
    with dask.config.set(GRAPHS):
        futures = client.compute(list(nodes), optimize_graph=False)
    wait_for(client, futures)
    try:
        return list(client.gather(futures))
    except Exception as error:
        raise failure(error) or error from error


@sizeof.register(Shard)
def _size_of(shard: Shard) -> int:
    """So that Dask knows what it would take to move a shard, or to keep it."""
    return sum(_bytes_of(getattr(shard, field.name)) for field in fields(shard))


def _bytes_of(column: Any) -> int:
    if hasattr(column, "indptr"):
        return int(column.data.nbytes + column.indices.nbytes + column.indptr.nbytes)
    return int(getattr(column, "nbytes", 0))

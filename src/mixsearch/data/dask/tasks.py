"""Work as tasks of Dask: on a cluster, where results stay with the worker that made them, or in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import getitem
from typing import Any, cast
from uuid import uuid4

import dask
from dask.delayed import Delayed, delayed
from distributed import Client, futures_of

from mixsearch.data.dask.cluster import count_threads, current_client, failure, wait_for
from mixsearch.errors import ClusterError

# The arrays that tasks share travel with the graph: they are small, but not as small as Dask likes a graph to be.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}


# Results that one task puts together: more would fill the memory of the worker that does it.
_MERGED_AT_ONCE = 8


class PickledCall:
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
        return PickledCall, (self.packed,)

    def __sizeof__(self) -> int:
        return len(self.packed)


def task(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """A function to be called on some worker; arguments may be other tasks, or lists of them."""
    return delayed(function, pure=False)(*arguments)


def broadcast(value: Any) -> Delayed:
    """Something that many tasks take, sent once."""
    return delayed(value, name=f"mixsearch-{uuid4().hex}", traverse=False)


def item(node: Delayed, number: int) -> Delayed:
    """One entry of what a task returns."""
    return delayed(getitem, pure=False)(node, number)


def tree_reduce(
    merge: Callable[[list[Any]], Any], nodes: Sequence[Any], *, call: Callable[..., Any] = task, most: int = 1
) -> list[Any]:
    """What comes of merging the results of tasks, a few at a time and in order, until `most` are left, or fewer."""
    level = list(nodes)
    while len(level) > most:
        starts = range(0, len(level), _MERGED_AT_ONCE)
        level = [call(merge, level[start : start + _MERGED_AT_ONCE]) for start in starts]
    return level


def get_future(node: Delayed) -> Any:
    """Where the cluster has the result of a task that it keeps."""
    return futures_of(node)[0]


def persist_tasks(nodes: Sequence[Delayed], on_done: Callable[[list[int]], None] | None = None) -> list[Delayed]:
    """Tasks, done now, whose results stay where they are; told every second which of them are done.

    The first one that fails ends the waiting: what it raised is raised here.
    """
    if not nodes:
        return []
    client = current_client()
    with dask.config.set(LARGE_GRAPHS):
        held = list(dask.persist(*nodes, optimize_graph=False))
    if client is not None:
        futures = [get_future(node) for node in held]
        wait_for(client, futures, lambda: _look(futures, on_done))
        _look(futures)
    if on_done is not None:
        on_done(list(range(len(held))))
    return held


def compute_tasks(nodes: Sequence[Delayed]) -> list[Any]:
    """What tasks return, here: it is small."""
    client = current_client()
    if client is None:
        return list(dask.compute(*nodes, optimize_graph=False))
    with dask.config.set(LARGE_GRAPHS):
        futures = client.compute(list(nodes), optimize_graph=False)
    return collect_results(client, futures)


def collect_results(client: Client, futures: Sequence[Any]) -> list[Any]:
    """What the cluster has made of some futures, here: it is small."""
    wait_for(client, futures, lambda: _look(futures))
    _look(futures)
    return list(client.gather(futures))


def _look(futures: Sequence[Any], on_done: Callable[[list[int]], None] | None = None) -> None:
    failed = next((future for future in futures if future.status == "error"), None)
    if failed is not None:
        error = failed.exception()
        raise failure(error) or error
    if on_done is not None:
        on_done([number for number, future in enumerate(futures) if future.done()])


def on_every_worker(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """What a function returns on each worker, by the worker's address."""
    return cast(dict[str, Any], cluster().run(function, *arguments))


def n_threads() -> int:
    """Threads of all workers."""
    return max(sum(count_threads(cluster()).values()), 1)


def cluster() -> Client:
    """The client of the current cluster."""
    client = current_client()
    if client is None:
        raise ClusterError("No Dask cluster is connected, and this work needs one: name it with scheduler=.")
    return client

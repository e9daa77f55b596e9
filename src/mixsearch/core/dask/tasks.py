"""Work as Dask tasks, on a cluster, where results stay on their worker, or in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import getitem
from typing import Any
from uuid import uuid4

import dask
from dask.delayed import Delayed, delayed
from distributed import Client, futures_of

from mixsearch.core.dask.cluster import current_client, explain_failure, wait_for

# Arrays shared by tasks are sent with the graph. They are small, but larger than the size at which Dask warns.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}
# Results that one task merges: more would fill the memory of its worker.
_MERGE_FANOUT = 8


class PickledCall:
    """A function and its arrays, as bytes that the first task unpickles.

    If a worker cannot unpickle them, the task fails. Otherwise the connection would fail, and Dask would retry forever.
    """

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled

    @cached_property
    def unpickled(self) -> Any:
        """The object that was pickled."""
        return pickle.loads(self.pickled)

    def __reduce__(self) -> tuple[Any, ...]:
        return PickledCall, (self.pickled,)

    def __sizeof__(self) -> int:
        return len(self.pickled)


def task(function: Callable[..., Any], *arguments: Any) -> Delayed:
    """Make a task that calls a function on some worker."""
    return delayed(function, pure=False)(*arguments)


def broadcast(value: Any) -> Delayed:
    """Wrap a value that many tasks take, so that it is sent once."""
    return delayed(value, name=f"mixsearch-{uuid4().hex}", traverse=False)


def item(node: Delayed, index: int) -> Delayed:
    """Make a task that takes one item of the result of another."""
    return delayed(getitem, pure=False)(node, index)


def tree_reduce(
    merge: Callable[[list[Any]], Any], nodes: Sequence[Any], *, call: Callable[..., Any] = task, max_results: int = 1
) -> list[Any]:
    """Merge results of tasks, a few at a time and in order, until at most `max_results` are left."""
    level = list(nodes)
    while len(level) > max_results:
        starts = range(0, len(level), _MERGE_FANOUT)
        level = [call(merge, level[start : start + _MERGE_FANOUT]) for start in starts]
    return level


def get_future(node: Delayed) -> Any:
    """Return the future of a persisted task."""
    return futures_of(node)[0]


def persist_tasks(nodes: Sequence[Delayed], on_done: Callable[[list[int]], None] | None = None) -> list[Delayed]:
    """Run tasks now, and leave their results on the workers."""
    if not nodes:
        return []
    client = current_client()
    with dask.config.set(LARGE_GRAPHS):
        held = list(dask.persist(*nodes, optimize_graph=False))
    if client is not None:
        futures = [get_future(node) for node in held]
        wait_for(client, futures, lambda: _check_futures(futures, on_done))
        _check_futures(futures)
    if on_done is not None:
        on_done(list(range(len(held))))
    return held


def compute_tasks(nodes: Sequence[Delayed]) -> list[Any]:
    """Run tasks and bring their results, which are small, into this process."""
    client = current_client()
    if client is None:
        return list(dask.compute(*nodes, optimize_graph=False))
    with dask.config.set(LARGE_GRAPHS):
        futures = client.compute(list(nodes), optimize_graph=False)
    return collect_results(client, futures)


def collect_results(client: Client, futures: Sequence[Any]) -> list[Any]:
    """Wait for futures and bring their results, which are small, into this process."""
    wait_for(client, futures, lambda: _check_futures(futures))
    _check_futures(futures)
    return list(client.gather(futures))


def _check_futures(futures: Sequence[Any], on_done: Callable[[list[int]], None] | None = None) -> None:
    failed = next((future for future in futures if future.status == "error"), None)
    if failed is not None:
        error = failed.exception()
        raise explain_failure(error) or error
    if on_done is not None:
        on_done([index for index, future in enumerate(futures) if future.done()])

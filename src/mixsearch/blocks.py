"""Sums over samples, block by block: every moment is one, and memory, files or clusters only yield the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cached_property, reduce
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from threadpoolctl import ThreadpoolController

# Rows per block: large enough for BLAS, small enough that a block of a few hundred features stays in cache.
BLOCK_ROWS = 8192
# Rows that stay in cache while they are read twice.
CACHED_ROWS = 512


class _OneBlasThread:
    """The limit of BLAS to one thread, which belongs to the process: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    @cached_property
    def _pools(self) -> ThreadpoolController:
        """The thread pools of this process; looking for them takes longer than a search."""
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._limit is None:
                self._limit = self._pools.limit(limits=1, user_api="blas")
                self._limit.__enter__()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None


# Keeps BLAS to one thread, where the cores are shared out at a higher level.
one_blas_thread = _OneBlasThread()


def row_slices(n_rows: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    """Slices that cover the rows, in order."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def even_slices(n_rows: int, n_slices: int) -> Iterator[slice]:
    """The rows in so many slices of the same size."""
    return row_slices(n_rows, max(-(-n_rows // n_slices), 1))


Block = TypeVar("Block")
Sums = TypeVar("Sums", bound=tuple[Any, ...])


class Product(NamedTuple):
    """Sums that are one array."""

    total: Any


def add_sums(one: Sums, other: Sums) -> Sums:
    """The sums over two disjoint blocks together; sums are named tuples of arrays."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))


def sum_blocks(summarize: Callable[[Block], Sums], blocks: Iterable[Block], n_threads: int = 1) -> Sums:
    """Fold blocks into sums; with several threads where the work releases the interpreter, as sparse products do."""
    if n_threads == 1:
        return reduce(add_sums, map(summarize, blocks))
    with ThreadPoolExecutor(n_threads) as pool:
        return reduce(add_sums, pool.map(summarize, blocks))

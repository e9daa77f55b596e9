"""Sums over samples, block by block: every moment is one, and memory, files or clusters only yield the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, reduce
from typing import Any, NamedTuple, TypeVar

from threadpoolctl import ThreadpoolController

# Rows per block: large enough for BLAS, small enough that a block of a few hundred features stays in cache.
BLOCK_ROWS = 8192


@cache
def _thread_pools() -> ThreadpoolController:
    """The thread pools of this process; looking for them takes longer than a search."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread, where the cores are shared out at a higher level."""
    return _thread_pools().limit(limits=1, user_api="blas")


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

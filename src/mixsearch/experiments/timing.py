"""Seconds on the clock, of one core."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Done = TypeVar("Done")


def timed(work: Callable[..., Done], *arguments: Any) -> tuple[Done, float]:
    """What a piece of work gives, and the seconds that it takes."""
    start = perf_counter()
    done = work(*arguments)
    return done, perf_counter() - start


def one_core() -> AbstractContextManager[Any]:
    """Leave BLAS and OpenMP one thread: of several, how many are free would decide who is faster."""
    return threadpool_limits(limits=1)

"""Measure the wall-clock time of calls on one core."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

T = TypeVar("T")


def time_call(work: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """Return the result of a call and the seconds it took."""
    start = perf_counter()
    result = work(*arguments)
    return result, perf_counter() - start


def limit_threads() -> AbstractContextManager[Any]:
    """Limit BLAS and OpenMP to one thread, so that times do not depend on the number of free cores."""
    return threadpool_limits(limits=1)

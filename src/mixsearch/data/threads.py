"""Number of threads that a computation uses, and limits of BLAS threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """Process-wide limit of BLAS to one thread. Reentrant and shared: the first user sets it, the last one lifts it."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: AbstractContextManager[Any] | None = None

    @cached_property
    def _pools(self) -> ThreadpoolController:
        """Thread pools of this process. Detecting them takes longer than a search."""
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


# Limits BLAS to one thread where cores are shared out at a higher level.
one_blas_thread = _OneBlasThread()

_cores: ContextVar[int | None] = ContextVar("cores", default=None)


def n_cores() -> int:
    """Return the number of threads for work outside BLAS.

    Returns
    -------
    int
        Number of cores of the machine, or 1 inside `on_one_core`.
    """
    return _cores.get() or os.cpu_count() or 1


def is_on_one_core() -> bool:
    """Return whether work is limited to one core by `on_one_core`.

    Returns
    -------
    bool
    """
    return _cores.get() == 1


@contextmanager
def on_one_core() -> Iterator[None]:
    """Limit work in this context to one core, because the caller distributes work over the cores itself."""
    token = _cores.set(1)
    try:
        with one_blas_thread:
            yield
    finally:
        _cores.reset(token)

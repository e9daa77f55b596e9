"""Seconds on the clock, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

Done = TypeVar("Done")


def timed(work: Callable[..., Done], *arguments: Any) -> tuple[Done, float]:
    """What a piece of work gives, and the seconds that it takes."""
    start = perf_counter()
    done = work(*arguments)
    return done, perf_counter() - start

"""Time, peak memory, and the tables that show them."""

from __future__ import annotations

import os
import platform
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

import mixsearch

# Benchmarks run as scripts: the paper's baselines stand beside this folder.
sys.path.append(str(Path(__file__).parents[1]))

# Of BLAS and OpenMP, for both sides of every comparison.
N_THREADS = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a piece of work, and its cost."""

    result: Any
    seconds: float  # best of the repeats
    peak: float  # MB beyond what was there before; NaN where it was not measured


def measure(work: Callable[[], Any], repeats: int = 3) -> Measured:
    """Run once to warm up and to trace memory, then time the repeats; with no repeats, time a single cold run."""
    return measure_together({"work": work}, repeats)["work"]


def measure_together(works: Mapping[str, Callable[[], Any]], repeats: int = 3) -> dict[str, Measured]:
    """Measure several pieces of work alternately, so that other load on the machine affects all of them equally."""
    if repeats == 0:
        cold = {name: _timed(work) for name, work in works.items()}
        return {name: Measured(result, spent, float("nan")) for name, (result, spent) in cold.items()}
    traced = {name: _traced(work) for name, work in works.items()}
    rounds = [{name: _timed(work)[1] for name, work in works.items()} for _ in range(repeats)]
    return {
        name: Measured(result, min(times[name] for times in rounds), peak) for name, (result, peak) in traced.items()
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def _traced(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the peak of memory in MB."""
    tracemalloc.start()
    result = work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return result, peak / 1e6


def run_seeds(work: Callable[[int], T], n_runs: int) -> list[T]:
    """Run the work for every seed from 0, in processes with one thread each, without its warnings."""
    with Parallel(n_jobs=N_THREADS) as parallel:
        results: list[T] = parallel(delayed(_run_quietly)(work, seed) for seed in range(n_runs))
    return results


def _run_quietly(work: Callable[[int], T], seed: int) -> T:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return work(seed)


def machine() -> str:
    """The processor and the versions that the numbers belong to."""
    blas = {f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info() if lib["user_api"] == "blas"}
    threads = sorted({lib["num_threads"] for lib in threadpool_info()})
    return "\n".join(
        [
            f"- machine: {os.cpu_count()} cores, {platform.machine()}, {platform.system()}; "
            f"BLAS {', '.join(sorted(blas))}; threads of BLAS and OpenMP: {', '.join(map(str, threads))}",
            f"- versions: Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
            f"scikit-learn {sklearn.__version__}, mixsearch {mixsearch.__version__}",
            "- times: best of the repeats after a warm-up; peak memory: beyond the data, of the warm-up run",
        ]
    )


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A markdown table, first column to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "| " + " | ".join([first, *others]) + " |"

    rules = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    print(f"\n### {title}\n")
    print("\n".join([line(columns), line(rules), *map(line, rows)]), flush=True)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes; `resource` would count its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def seconds(value: float) -> str:
    """A time, in ms below one second."""
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.2f} s"


def megabytes(value: float) -> str:
    """A size, or nothing where it was not measured."""
    return "" if np.isnan(value) else f"{value:.0f} MB" if value >= 10 else f"{value:.1f} MB"


def ratio(value: float) -> str:
    """A ratio, short."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def verdict(name: str, value: float, limit: float, unit: str = "", *, at_least: bool = False) -> str:
    """Return whether a required limit is met."""
    holds = value >= limit if at_least else value <= limit
    bound = "at least" if at_least else "at most"
    return f"- {name}: {value:.3g}{unit}, required {bound} {limit:g}{unit}: {'holds' if holds else 'FAILS'}"

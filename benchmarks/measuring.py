"""Times, runs of many seeds, and the tables that show them."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

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


def seconds(value: float) -> str:
    """A time, in ms below one second."""
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.2f} s"


def ratio(value: float) -> str:
    """A ratio, short."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"

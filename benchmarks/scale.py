"""Time against size on a cluster of four worker processes with limited memory: a fit of Gaussians and one search.

Blocks are drawn on the workers, as if read from files. Each has 100,000 rows; what does not fit is spilled to disk.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from measuring import print_table, seconds

from mixsearch import GaussianSearch
from mixsearch._typing import Array

N_FEATURES, K, BLOCK = 10, 5, 100_000
SIZES = (100_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)


def draw_block(centers: Array, seed: int) -> Array:
    """The rows of one block, in single precision."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(K, size=BLOCK)
    return (centers[labels] + rng.standard_normal((BLOCK, N_FEATURES))).astype(np.float32)


def draw(centers: Array, n: int) -> da.Array:
    """Rows of the mixture, in blocks that workers draw."""
    blocks = [
        da.from_delayed(dask.delayed(draw_block)(centers, seed), (BLOCK, N_FEATURES), np.float32)
        for seed in range(n // BLOCK)
    ]
    return da.concatenate(blocks)


def run(*, quick: bool = False, memory: str = "1GiB", plot: Path | None = None) -> None:
    centers = 6 * np.linalg.qr(np.random.default_rng(0).standard_normal((N_FEATURES, K)))[0].T
    sizes = SIZES[:2] if quick else SIZES
    times, rows = [], []
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, memory_limit=memory, dashboard_address=None) as cluster,
        Client(cluster),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for n in sizes:
            start = time.perf_counter()
            search = GaussianSearch(n_components=K).fit(draw(centers, n))
            fitted = time.perf_counter()
            component = search.search(centers[0])
            error = float(np.linalg.norm(component.center - centers[0]))
            times.append((fitted - start, time.perf_counter() - fitted))
            rows.append((f"{n:,}", *(seconds(value) for value in times[-1]), f"{error:.5f}"))
            del search, component
    print_table(
        f"Dask, 4 workers with {memory} each, {N_FEATURES} features, {K} Gaussians",
        ("rows", "fit", "one search", "error of the center"),
        rows,
    )
    if plot:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 4), layout="constrained")
        ax = figure.add_subplot()
        for name, values in zip(("fit", "one search"), zip(*times, strict=True), strict=True):
            ax.loglog(sizes, values, marker="o", label=name)
        ax.set(xlabel="rows", ylabel="seconds", title=f"Four workers with {memory} each")
        ax.legend()
        figure.savefig(plot, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a million rows at most")
    parser.add_argument("--memory", default="1GiB", help="of each worker")
    parser.add_argument("--plot", type=Path, help="where the plot of time against size is written")
    options = parser.parse_args()
    run(quick=options.quick, memory=options.memory, plot=options.plot)
